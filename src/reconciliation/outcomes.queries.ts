// The lines to judge, and their verdicts: inserted in one statement each. Neither side of a match is updated.
import { v7 as uuidv7 } from 'uuid';
import { ofAccount, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { lineBreakKinds, type Classified, type LineFacts, type Matched } from './line-outcome.js';
import type { BankTransfer } from './movement-events.js';
import { receipts } from './returns.js';

/** A line with what its events tell, and how it came before the judge. */
export interface ArrivedLine extends LineFacts {
  arrival: bigint;
  correlationId: string | null;
  /** `open`: it stands in a break, and something new names it. */
  cameAs: 'new' | 'deferred' | 'open';
}

/** Takes the account's judgement for the rest of the transaction: one judges at a time. */
export async function lockReconciliation(tx: Tx, accountId: number): Promise<bigint> {
  await tx.$executeRaw`
    INSERT INTO reconciliation_state (account_id) VALUES (${accountId}) ON CONFLICT (account_id) DO NOTHING`;
  const [state] = await tx.$queryRaw<{ decided: bigint }[]>`
    SELECT decided_arrival AS decided FROM reconciliation_state WHERE account_id = ${ofAccount(accountId)} FOR UPDATE`;
  return state?.decided ?? 0n;
}

/** Of a line (t) that stands in a break (b): the credit that it gives back was matched since, or in the same batch by a rule. */
const givesBackWhatWasMatched = Prisma.sql`EXISTS (
  SELECT FROM (
    SELECT nsu, is_credit FROM statement_line
    WHERE account_id = t.account_id AND end_to_end_id = t.original_end_to_end_id OFFSET 0
  ) credit
  CROSS JOIN LATERAL (
    SELECT role, created_at FROM match
    WHERE account_id = t.account_id AND nsu = credit.nsu AND unlinked_at IS NULL OFFSET 0
  ) m
  WHERE credit.is_credit AND m.role = 'payment' AND m.created_at >= b.opened_at)`;

/** Lines in breaks are looked at each time for so long: what names them comes within a day, or hardly ever. */
const lookedAtFor = '7 days';
/** Of older ones so many at a time, one after another. */
const oldAtOnce = 200;

/** The next of the open breaks of lines that are no longer looked at each time. */
const nextOld = (accountId: number) => Prisma.sql`
  SELECT nsu FROM break
  WHERE account_id = ${ofAccount(accountId)} AND state = 'open' AND kind = ANY (${[...lineBreakKinds]}::text[])
    AND opened_at <= now() - ${lookedAtFor}::interval
    AND nsu > (SELECT looked_nsu FROM reconciliation_state WHERE account_id = ${ofAccount(accountId)})
  ORDER BY nsu LIMIT ${oldAtOnce}`;

/** The next look goes on after them, and from the first again behind the last. */
export async function recordLooked(tx: Tx, accountId: number): Promise<void> {
  await tx.$executeRaw`
    UPDATE reconciliation_state s SET looked_nsu = next.nsu
    FROM (SELECT CASE WHEN count(*) = ${oldAtOnce} THEN max(nsu) ELSE 0 END AS nsu FROM (${nextOld(accountId)}) old) next
    WHERE s.account_id = ${ofAccount(accountId)} AND s.looked_nsu <> next.nsu`;
}

/**
 * Lines that wait and can be judged again. What is not judged yet has its turn, and what is explained since is released at the
 * next pass: neither may take the place of another.
 */
const waiting = (accountId: number, afterArrival: bigint) => Prisma.sql`
  SELECT w.nsu, w.deferred_at, CASE WHEN EXISTS (
    SELECT FROM break b WHERE b.account_id = w.account_id AND b.nsu = w.nsu AND b.state = 'open'
      AND b.kind = ANY (${[...lineBreakKinds]}::text[])) THEN 'open' ELSE 'deferred' END AS came_as
  FROM deferred_line w JOIN statement_line t ON t.account_id = w.account_id AND t.nsu = w.nsu
  WHERE w.account_id = ${ofAccount(accountId)} AND t.arrival <= ${afterArrival}
    AND NOT EXISTS (SELECT FROM match m WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL)
    AND NOT EXISTS (SELECT FROM classification c WHERE c.account_id = t.account_id AND c.nsu = t.nsu)`;

/**
 * Lines that nobody has judged, in the order of their arrival, with those that wait and those in a break that
 * something has come to name since. `freshMs`: how long what a line gives back may still be on its way.
 */
export async function listLinesToDecide(
  tx: Tx,
  accountId: number,
  { afterArrival, limit, freshMs }: { afterArrival: bigint; limit: number; freshMs: number },
): Promise<ArrivedLine[]> {
  return tx.$queryRaw<ArrivedLine[]>`
    WITH fresh AS MATERIALIZED (
      SELECT nsu, 'new' AS came_as FROM statement_line
      WHERE account_id = ${ofAccount(accountId)} AND arrival > ${afterArrival} ORDER BY arrival LIMIT ${limit}
    ), old AS MATERIALIZED (${nextOld(accountId)}), due AS (
      SELECT * FROM fresh
      UNION ALL
      (SELECT w.nsu, w.came_as FROM (${waiting(accountId, afterArrival)}) w ORDER BY w.deferred_at LIMIT ${limit})
      UNION ALL
      (SELECT t.nsu, 'open' FROM break b
       JOIN statement_line t ON t.account_id = b.account_id AND t.nsu = b.nsu
       -- Once all that is new is judged: until then each batch would go over them all.
       WHERE (SELECT count(*) FROM fresh) < ${limit}
         AND b.account_id = ${ofAccount(accountId)} AND b.state = 'open' AND b.kind = ANY (${[...lineBreakKinds]}::text[])
         AND (b.opened_at > now() - ${lookedAtFor}::interval OR b.nsu IN (SELECT nsu FROM old))
         AND NOT EXISTS (SELECT FROM match m WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL)
         AND (NOT t.is_credit AND ${givesBackWhatWasMatched} OR t.type_name <> ALL (${receipts}) AND (EXISTS (
           SELECT FROM (VALUES ('idempotency_key', t.idempotency_key), ('nsu', t.nsu::text),
                               ('movement_id', t.movement_id), ('end_to_end_id', t.end_to_end_id),
                               ('external_id', t.external_id), ('bill_code', t.bill_code)) AS told(kind, value)
           JOIN expected_payment_reference r
             ON r.account_id = ${ofAccount(accountId)} AND r.kind = told.kind AND r.value = told.value
           JOIN expected_payment e ON e.account_id = r.account_id AND e.id = r.expected_payment_id
           JOIN operation o ON o.account_id = e.account_id AND o.id = e.operation_id
           WHERE NOT t.is_credit AND o.updated_at > b.opened_at
         ) OR EXISTS (
           SELECT FROM (VALUES (t.end_to_end_id), (t.original_end_to_end_id)) AS told(value)
           CROSS JOIN LATERAL (
             SELECT nsu, is_credit FROM statement_line
             WHERE account_id = ${ofAccount(accountId)} AND end_to_end_id = told.value OFFSET 0
           ) paid
           CROSS JOIN LATERAL (
             SELECT created_at FROM match
             WHERE account_id = ${ofAccount(accountId)} AND nsu = paid.nsu AND unlinked_at IS NULL OFFSET 0
           ) m
           WHERE t.is_credit AND NOT paid.is_credit AND m.created_at > b.opened_at
         ) OR EXISTS (
           SELECT FROM (VALUES ('movement_id', t.movement_id), ('bill_code', t.bill_code)) AS told(kind, value)
           CROSS JOIN LATERAL (
             SELECT expected_payment_id AS id FROM expected_payment_reference
             WHERE account_id = ${ofAccount(accountId)} AND kind = told.kind AND value = told.value OFFSET 0
           ) e
           CROSS JOIN LATERAL (
             SELECT created_at, unlinked_at FROM match
             WHERE account_id = ${ofAccount(accountId)} AND expected_payment_id = e.id OFFSET 0
           ) m
           WHERE t.is_credit AND m.unlinked_at IS NULL AND m.created_at > b.opened_at
         )))
       ORDER BY b.opened_at DESC LIMIT ${limit})
    )
    SELECT t.nsu, t.arrival, t.is_credit AS "isCredit", t.amount_cents AS "amountCents", t.type_name AS "typeName",
           t.correlation_id AS "correlationId", t.end_to_end_id AS "endToEndId",
           t.original_end_to_end_id AS "originalEndToEndId", t.occurred_at AS "occurredAt", due.came_as AS "cameAs",
           t.recorded_at > now() - ${freshMs} * interval '1 millisecond' AS "isFresh"
    FROM (
      -- What waits may stand in a break besides.
      SELECT DISTINCT ON (nsu) nsu, came_as FROM due ORDER BY nsu, came_as = 'deferred', came_as
    ) due JOIN statement_line t ON t.account_id = ${ofAccount(accountId)} AND t.nsu = due.nsu
    ORDER BY t.arrival`;
}

export async function insertMatches(tx: Tx, accountId: number, matches: Matched[]): Promise<void> {
  if (matches.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, owed_cents, role, rule, rule_id,
      rule_version, evidence)
    SELECT ${accountId}, * FROM unnest(
      ${matches.map(() => uuidv7())}::uuid[], ${matches.map(({ nsu }) => nsu)}::bigint[],
      ${matches.map(({ expectedPaymentId }) => expectedPaymentId)}::uuid[],
      ${matches.map(({ amountCents }) => amountCents)}::bigint[],
      ${matches.map(({ owedCents }) => owedCents)}::bigint[], ${matches.map(({ role }) => role)}::text[],
      ${matches.map(({ rule }) => rule)}::text[],
      ${matches.map(({ declared }) => declared?.ruleId ?? null)}::uuid[],
      ${matches.map(({ declared }) => declared?.version ?? null)}::int[],
      ${matches.map(({ evidence }) => JSON.stringify(evidence))}::jsonb[])`;
}

export async function insertClassifications(
  tx: Tx,
  accountId: number,
  classified: Classified[],
): Promise<void> {
  if (classified.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO classification (account_id, nsu, rule, category, reason, evidence, rule_id, rule_version)
    SELECT ${accountId}, * FROM unnest(
      ${classified.map(({ nsu }) => nsu)}::bigint[], ${classified.map(({ rule }) => rule)}::text[],
      ${classified.map(({ category }) => category)}::text[], ${classified.map(({ reason }) => reason)}::text[],
      ${classified.map(({ evidence }) => JSON.stringify(evidence))}::jsonb[],
      ${classified.map(({ declared }) => declared?.ruleId ?? null)}::uuid[],
      ${classified.map(({ declared }) => declared?.version ?? null)}::int[])`;
}

/**
 * Of the lines that were judged, those that wait; the others wait no longer, unless another account's judgement has asked
 * for them since this one began.
 */
export async function recordDeferred(
  tx: Tx,
  accountId: number,
  decided: bigint[],
  deferred: bigint[],
): Promise<void> {
  if (decided.length > 0)
    await tx.$executeRaw`
    DELETE FROM deferred_line
    WHERE account_id = ${ofAccount(accountId)} AND nsu = ANY (${decided}::bigint[]) AND nsu <> ALL (${deferred}::bigint[])
      AND deferred_at < now()`;
  if (deferred.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO deferred_line (account_id, nsu, deferred_at)
    SELECT ${accountId}, nsu, clock_timestamp() FROM unnest(${deferred}::bigint[]) AS waits(nsu)
    ON CONFLICT (account_id, nsu) DO UPDATE SET deferred_at = clock_timestamp()`;
}

export async function recordDecided(tx: Tx, accountId: number, arrival: bigint): Promise<void> {
  await tx.$executeRaw`
    UPDATE reconciliation_state SET decided_arrival = ${arrival}, decided_at = now()
    WHERE account_id = ${ofAccount(accountId)}`;
}

/** The charge that an expected payment is of, where it is one. */
export async function listChargesOf(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<
  { expectedPaymentId: string; correlationId: string; type: string; amountCents: bigint | null }[]
> {
  return tx.$queryRaw`
    SELECT expected_payment_id AS "expectedPaymentId", correlation_id AS "correlationId", type,
           amount_cents AS "amountCents"
    FROM charge
    WHERE account_id = ${ofAccount(accountId)} AND expected_payment_id = ANY (${expectedPaymentIds}::uuid[])`;
}

/** The transfer that an expected payment is of, where it is one. */
export async function listTransfersOf(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<(BankTransfer & { expectedPaymentId: string })[]> {
  return tx.$queryRaw`
    SELECT expected_payment_id AS "expectedPaymentId", id, external_id AS "externalId", state
    FROM transfer
    WHERE account_id = ${ofAccount(accountId)} AND expected_payment_id = ANY (${expectedPaymentIds}::uuid[])`;
}
