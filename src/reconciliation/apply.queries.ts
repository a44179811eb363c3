// Reads what is stored about the lines of a component, and writes the differences, set-based. It is
// the only writer of matches, classifications and pending lines.
import { v7 as uuidv7 } from 'uuid';
import { opaqueAccountId, type Tx } from '../database.service.js';

export interface StoredMatch {
  id: string;
  nsu: bigint;
  expectedPaymentId: string;
  amountCents: bigint;
  role: string;
  rule: string;
  owedCents: bigint | null;
  ruleId: string | null;
  ruleVersion: number | null;
}

/** The live matches of these lines. */
export async function listStoredMatches(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<StoredMatch[]> {
  return tx.$queryRaw`
    SELECT m.id, m.nsu, m.expected_payment_id AS "expectedPaymentId",
           m.amount_cents AS "amountCents", m.role, m.rule, m.owed_cents AS "owedCents",
           m.rule_id AS "ruleId", m.rule_version AS "ruleVersion"
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM match
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu
        AND unlinked_at IS NULL OFFSET 0
    ) m`;
}

/** Ends all matches of these lines: the matches of a line sum to it, at every moment. */
export async function unlinkMatches(
  tx: Tx,
  accountId: number,
  lines: { nsu: bigint; actor: string | null; reason: string | null }[],
): Promise<void> {
  if (lines.length === 0) return;
  await tx.$executeRaw`
    UPDATE match SET unlinked_at = now(), unlinked_by = ended.actor, unlink_reason = ended.reason
    FROM unnest(
      ${lines.map(({ nsu }) => nsu)}::bigint[], ${lines.map(({ actor }) => actor)}::text[],
      ${lines.map(({ reason }) => reason)}::text[]) AS ended(nsu, actor, reason)
    WHERE match.account_id = ${opaqueAccountId(accountId)} AND match.nsu = ended.nsu
      AND match.unlinked_at IS NULL`;
}

export interface NewMatch {
  nsu: bigint;
  expectedPaymentId: string;
  amountCents: bigint;
  owedCents: bigint | null;
  role: string;
  rule: string;
  declared: { ruleId: string; version: number } | null;
  linkedBy: { actor: string; reason: string } | null;
  evidence: object;
}

export async function insertMatches(tx: Tx, accountId: number, matches: NewMatch[]): Promise<void> {
  if (matches.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, owed_cents, role,
      rule, rule_id, rule_version, made_by, reason, evidence)
    SELECT ${accountId}, * FROM unnest(
      ${matches.map(() => uuidv7())}::uuid[], ${matches.map(({ nsu }) => nsu)}::bigint[],
      ${matches.map(({ expectedPaymentId }) => expectedPaymentId)}::uuid[],
      ${matches.map(({ amountCents }) => amountCents)}::bigint[],
      ${matches.map(({ owedCents }) => owedCents)}::bigint[],
      ${matches.map(({ role }) => role)}::text[],
      ${matches.map(({ rule }) => rule)}::text[],
      ${matches.map(({ declared }) => declared?.ruleId ?? null)}::uuid[],
      ${matches.map(({ declared }) => declared?.version ?? null)}::int[],
      ${matches.map(({ linkedBy }) => linkedBy?.actor ?? null)}::text[],
      ${matches.map(({ linkedBy }) => linkedBy?.reason ?? null)}::text[],
      ${matches.map(({ evidence }) => JSON.stringify(evidence))}::jsonb[])`;
}

/** The amount owed changes when an earlier payment becomes known. */
export async function updateOwedCents(
  tx: Tx,
  accountId: number,
  matches: { id: string; owedCents: bigint | null }[],
): Promise<void> {
  if (matches.length === 0) return;
  await tx.$executeRaw`
    UPDATE match SET owed_cents = owed.cents
    FROM unnest(
      ${matches.map(({ id }) => id)}::uuid[],
      ${matches.map(({ owedCents }) => owedCents)}::bigint[]) AS owed(id, cents)
    WHERE match.account_id = ${opaqueAccountId(accountId)} AND match.id = owed.id`;
}

export interface StoredClassification {
  nsu: bigint;
  category: string;
  rule: string;
  ruleId: string | null;
  ruleVersion: number | null;
}

export async function listStoredClassifications(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<StoredClassification[]> {
  return tx.$queryRaw`
    SELECT c.nsu, c.category, c.rule, c.rule_id AS "ruleId", c.rule_version AS "ruleVersion"
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM classification
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu OFFSET 0
    ) c`;
}

export async function deleteClassifications(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<void> {
  if (nsus.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM classification
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[])`;
}

export interface NewClassification {
  nsu: bigint;
  category: string;
  rule: string;
  reason: string | null;
  evidence: object;
  declared: { ruleId: string; version: number } | null;
}

export async function insertClassifications(
  tx: Tx,
  accountId: number,
  classified: NewClassification[],
): Promise<void> {
  if (classified.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO classification (account_id, nsu, rule, category, reason, evidence, rule_id,
      rule_version)
    SELECT ${accountId}, * FROM unnest(
      ${classified.map(({ nsu }) => nsu)}::bigint[], ${classified.map(({ rule }) => rule)}::text[],
      ${classified.map(({ category }) => category)}::text[],
      ${classified.map(({ reason }) => reason)}::text[],
      ${classified.map(({ evidence }) => JSON.stringify(evidence))}::jsonb[],
      ${classified.map(({ declared }) => declared?.ruleId ?? null)}::uuid[],
      ${classified.map(({ declared }) => declared?.version ?? null)}::int[])`;
}

/** Stores which of these lines are pending. */
export async function recordPendingLines(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
  pending: bigint[],
): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM deferred_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[])
      AND nsu <> ALL (${pending}::bigint[])`;
  if (pending.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO deferred_line (account_id, nsu)
    SELECT ${accountId}, nsu FROM unnest(${pending}::bigint[]) AS pending(nsu)
    ON CONFLICT DO NOTHING`;
}

/**
 * The credits in other accounts whose money these debits sent: they are decided again there. Of
 * each account, the sender stores ids alone.
 */
export async function listCreditsElsewhere(
  tx: Tx,
  accountId: number,
  debits: bigint[],
): Promise<{ accountId: number; nsu: bigint }[]> {
  if (debits.length === 0) return [];
  return tx.$queryRaw`
    SELECT DISTINCT t.account_id AS "accountId", t.nsu
    FROM unnest(${debits}::bigint[]) AS decided(nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = decided.nsu OFFSET 0
    ) d
    JOIN bank_account other ON other.id <> ${accountId}
    CROSS JOIN LATERAL (
      SELECT account_id, nsu, is_credit, amount_cents FROM statement_line
      WHERE account_id = other.id AND end_to_end_id = d.end_to_end_id
      UNION
      SELECT account_id, nsu, is_credit, amount_cents FROM statement_line
      WHERE account_id = other.id AND movement_id = d.movement_id
    ) t
    WHERE t.is_credit AND NOT d.is_credit AND t.amount_cents = d.amount_cents`;
}

/**
 * Locks the account's reconciliation until the end of the transaction. Returns the decided arrival.
 */
export async function lockReconciliation(tx: Tx, accountId: number): Promise<bigint> {
  await tx.$executeRaw`
    INSERT INTO reconciliation_state (account_id) VALUES (${accountId})
      ON CONFLICT (account_id) DO NOTHING`;
  const [state] = await tx.$queryRaw<{ decided: bigint }[]>`
    SELECT decided_arrival AS decided FROM reconciliation_state
      WHERE account_id = ${opaqueAccountId(accountId)} FOR UPDATE`;
  return state?.decided ?? 0n;
}

/** The next lines that were never decided, in the order of their arrival. */
export async function listNewLines(
  tx: Tx,
  accountId: number,
  { afterArrival, limit }: { afterArrival: bigint; limit: number },
): Promise<{ nsu: bigint; arrival: bigint }[]> {
  return tx.$queryRaw`
    SELECT nsu, arrival FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND arrival > ${afterArrival}
    ORDER BY arrival LIMIT ${limit}`;
}

export async function recordDecidedArrival(
  tx: Tx,
  accountId: number,
  arrival: bigint,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE reconciliation_state SET decided_arrival = ${arrival}, decided_at = now()
    WHERE account_id = ${opaqueAccountId(accountId)}`;
}
