// Loads the lines to decide, and inserts their outcomes set-based. A match updates neither its line
// nor its expected payment.
import { v7 as uuidv7 } from 'uuid';
import { opaqueAccountId, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { lineBreakKinds, type Classified, type LineFacts, type Matched } from './line-outcome.js';
import type { BankTransfer } from './movement-events.js';
import { incomingTypes } from './reversals.js';

/** A line with the fields that its events report, and why it is to be decided. */
export interface ArrivedLine extends LineFacts {
  arrival: bigint;
  correlationId: string | null;
  /** `open`: it is in an open break, and a new fact references it. */
  source: 'new' | 'pending' | 'open';
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

/**
 * Whether the original credit of a debit (t) was matched after the debit's break (b) was opened, or
 * by a rule in the same batch.
 */
const refundsMatchedCredit = Prisma.sql`EXISTS (
  SELECT FROM (
    SELECT nsu, is_credit FROM statement_line
    WHERE account_id = t.account_id AND end_to_end_id = t.original_end_to_end_id OFFSET 0
  ) credit
  CROSS JOIN LATERAL (
    SELECT role, created_at FROM match
    WHERE account_id = t.account_id AND nsu = credit.nsu AND unlinked_at IS NULL OFFSET 0
  ) m
  WHERE credit.is_credit AND m.role = 'payment' AND m.created_at >= b.opened_at)`;

/**
 * Lines in breaks of this age or younger are rechecked in each pass: references rarely arrive
 * later.
 */
const recheckedFor = '7 days';
/** Older breaks are rechecked in rotation, this many per pass. */
const olderPerPass = 200;

/** The next older breaks in the rotation. */
const nextOlderBreaks = (accountId: number) => Prisma.sql`
  SELECT nsu FROM break
  WHERE account_id = ${opaqueAccountId(accountId)} AND state = 'open'
    AND kind = ANY (${[...lineBreakKinds]}::text[])
    AND opened_at <= now() - ${recheckedFor}::interval
    AND nsu > (SELECT looked_nsu FROM reconciliation_state
      WHERE account_id = ${opaqueAccountId(accountId)})
  ORDER BY nsu LIMIT ${olderPerPass}`;

/** Advances the rotation; after the last break it starts again at the first. */
export async function recordRecheckedBreaks(tx: Tx, accountId: number): Promise<void> {
  await tx.$executeRaw`
    UPDATE reconciliation_state s SET looked_nsu = next.nsu
    FROM (SELECT CASE WHEN count(*) = ${olderPerPass} THEN max(nsu) ELSE 0 END AS nsu
          FROM (${nextOlderBreaks(accountId)}) old) next
    WHERE s.account_id = ${opaqueAccountId(accountId)} AND s.looked_nsu <> next.nsu`;
}

/**
 * Pending lines that can be decided again. Undecided lines are left out, because they are decided
 * as new. Explained lines are left out, because the next pass releases them. Neither uses up the
 * limit.
 */
const pendingLines = (accountId: number, afterArrival: bigint) => Prisma.sql`
  SELECT w.nsu, w.deferred_at, CASE WHEN EXISTS (
    SELECT FROM break b WHERE b.account_id = w.account_id AND b.nsu = w.nsu AND b.state = 'open'
      AND b.kind = ANY (${[...lineBreakKinds]}::text[])) THEN 'open' ELSE 'pending' END AS source
  FROM deferred_line w JOIN statement_line t ON t.account_id = w.account_id AND t.nsu = w.nsu
  WHERE w.account_id = ${opaqueAccountId(accountId)} AND t.arrival <= ${afterArrival}
    AND NOT EXISTS (SELECT FROM match m WHERE m.account_id = t.account_id AND m.nsu = t.nsu
      AND m.unlinked_at IS NULL)
    AND NOT EXISTS (SELECT FROM classification c WHERE c.account_id = t.account_id
      AND c.nsu = t.nsu)`;

/**
 * Whether a new fact references a line (t) in a break (b): an operation, or a match of its payment.
 */
const hasNewReference = (accountId: number) => Prisma.sql`
  (NOT t.is_credit AND ${refundsMatchedCredit}
  OR t.type_name <> ALL (${incomingTypes}) AND (EXISTS (
    SELECT FROM (VALUES ('idempotency_key', t.idempotency_key), ('nsu', t.nsu::text),
                        ('movement_id', t.movement_id), ('end_to_end_id', t.end_to_end_id),
                        ('external_id', t.external_id), ('bill_code', t.bill_code))
                          AS id(kind, value)
    JOIN expected_payment_reference r
      ON r.account_id = ${opaqueAccountId(accountId)} AND r.kind = id.kind
        AND r.value = id.value
    JOIN expected_payment e ON e.account_id = r.account_id AND e.id = r.expected_payment_id
    JOIN operation o ON o.account_id = e.account_id AND o.id = e.operation_id
    WHERE NOT t.is_credit AND o.updated_at > b.opened_at
  ) OR EXISTS (
    SELECT FROM (VALUES (t.end_to_end_id), (t.original_end_to_end_id)) AS id(value)
    CROSS JOIN LATERAL (
      SELECT nsu, is_credit FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND end_to_end_id = id.value OFFSET 0
    ) paid
    CROSS JOIN LATERAL (
      SELECT created_at FROM match
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = paid.nsu
        AND unlinked_at IS NULL OFFSET 0
    ) m
    WHERE t.is_credit AND NOT paid.is_credit AND m.created_at > b.opened_at
  ) OR EXISTS (
    SELECT FROM (VALUES ('movement_id', t.movement_id), ('bill_code', t.bill_code))
      AS id(kind, value)
    CROSS JOIN LATERAL (
      SELECT expected_payment_id AS id FROM expected_payment_reference
      WHERE account_id = ${opaqueAccountId(accountId)} AND kind = id.kind
        AND value = id.value OFFSET 0
    ) e
    CROSS JOIN LATERAL (
      SELECT created_at, unlinked_at FROM match
      WHERE account_id = ${opaqueAccountId(accountId)}
        AND expected_payment_id = e.id OFFSET 0
    ) m
    WHERE t.is_credit AND m.unlinked_at IS NULL AND m.created_at > b.opened_at
  )))`;

/**
 * Undecided lines in the order of arrival, pending lines, and lines in a break that a new fact
 * references. `freshMs`: how long after a line the payment that it returns may still arrive.
 */
export async function listLinesToDecide(
  tx: Tx,
  accountId: number,
  { afterArrival, limit, freshMs }: { afterArrival: bigint; limit: number; freshMs: number },
): Promise<ArrivedLine[]> {
  return tx.$queryRaw<ArrivedLine[]>`
    WITH fresh AS MATERIALIZED (
      SELECT nsu, 'new' AS source FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND arrival > ${afterArrival}
        ORDER BY arrival LIMIT ${limit}
    ), old AS MATERIALIZED (${nextOlderBreaks(accountId)}), due AS (
      SELECT * FROM fresh
      UNION ALL
      (SELECT w.nsu, w.source FROM (${pendingLines(accountId, afterArrival)}) w
        ORDER BY w.deferred_at LIMIT ${limit})
      UNION ALL
      (SELECT t.nsu, 'open' FROM break b
       JOIN statement_line t ON t.account_id = b.account_id AND t.nsu = b.nsu
       -- Only after the last new line: otherwise each batch of a long import would scan all breaks.
       WHERE (SELECT count(*) FROM fresh) < ${limit}
         AND b.account_id = ${opaqueAccountId(accountId)} AND b.state = 'open'
           AND b.kind = ANY (${[...lineBreakKinds]}::text[])
         AND (b.opened_at > now() - ${recheckedFor}::interval OR b.nsu IN (SELECT nsu FROM old))
         AND NOT EXISTS (SELECT FROM match m WHERE m.account_id = t.account_id AND m.nsu = t.nsu
           AND m.unlinked_at IS NULL)
         AND ${hasNewReference(accountId)}
       ORDER BY b.opened_at DESC LIMIT ${limit})
    )
    SELECT t.nsu, t.arrival, t.is_credit AS "isCredit", t.amount_cents AS "amountCents",
           t.type_name AS "typeName", t.correlation_id AS "correlationId",
           t.end_to_end_id AS "endToEndId", t.original_end_to_end_id AS "originalEndToEndId",
           t.occurred_at AS "occurredAt", due.source,
           t.recorded_at > now() - ${freshMs} * interval '1 millisecond' AS "isFresh"
    FROM (
      -- A pending line may be in a break too.
      SELECT DISTINCT ON (nsu) nsu, source FROM due ORDER BY nsu, source = 'pending', source
    ) due JOIN statement_line t ON t.account_id = ${opaqueAccountId(accountId)} AND t.nsu = due.nsu
    ORDER BY t.arrival`;
}

export async function insertMatches(tx: Tx, accountId: number, matches: Matched[]): Promise<void> {
  if (matches.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, owed_cents, role,
      rule, rule_id, rule_version, evidence)
    SELECT ${accountId}, * FROM unnest(
      ${matches.map(() => uuidv7())}::uuid[], ${matches.map(({ nsu }) => nsu)}::bigint[],
      ${matches.map(({ expectedPaymentId }) => expectedPaymentId)}::uuid[],
      ${matches.map(({ amountCents }) => amountCents)}::bigint[],
      ${matches.map(({ owedCents }) => owedCents)}::bigint[],
      ${matches.map(({ role }) => role)}::text[],
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

/**
 * Stores which of the decided lines are pending; the others are no longer pending, unless another
 * account's reconciliation made them pending after this one began.
 */
export async function recordPendingLines(
  tx: Tx,
  accountId: number,
  decided: bigint[],
  pending: bigint[],
): Promise<void> {
  if (decided.length > 0)
    await tx.$executeRaw`
    DELETE FROM deferred_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${decided}::bigint[])
      AND nsu <> ALL (${pending}::bigint[])
      AND deferred_at < now()`;
  if (pending.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO deferred_line (account_id, nsu, deferred_at)
    SELECT ${accountId}, nsu, clock_timestamp() FROM unnest(${pending}::bigint[]) AS pending(nsu)
    ON CONFLICT (account_id, nsu) DO UPDATE SET deferred_at = clock_timestamp()`;
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

/** The charges of these expected payments. */
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
    WHERE account_id = ${opaqueAccountId(accountId)}
      AND expected_payment_id = ANY (${expectedPaymentIds}::uuid[])`;
}

/** The transfers of these expected payments. */
export async function listTransfersOf(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<(BankTransfer & { expectedPaymentId: string })[]> {
  return tx.$queryRaw`
    SELECT expected_payment_id AS "expectedPaymentId", id, external_id AS "externalId", state
    FROM transfer
    WHERE account_id = ${opaqueAccountId(accountId)}
      AND expected_payment_id = ANY (${expectedPaymentIds}::uuid[])`;
}
