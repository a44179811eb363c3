// The SQL of refunds: the Pix that is given back is found and locked in the mirror, and what has gone back of it is
// counted from lines and from refunds that have none yet.
import type { RefundFilter } from '../contract/refunds.js';
import type { Db, Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import type { OriginalPix, ReferencedLine } from './original-pix.js';
import type { RefundFacts } from './refundable-amount.js';

const referenced = (filterBy: RefundFilter, id: string): Prisma.Sql => {
  switch (filterBy) {
    case 'CORRELATION_ID':
      return Prisma.sql`correlation_id = ${id}`;
    case 'END_TO_END_ID':
      return Prisma.sql`end_to_end_id = ${id}`;
    case 'NSU':
      return Prisma.sql`nsu = ${BigInt(id)}`;
  }
};

/**
 * Lines that a reference names, those that look like a received Pix first: a QR code may have been paid a thousand
 * times. The id of NSU is a number.
 */
export async function listReferenced(
  db: Db,
  accountId: number,
  { filterBy, id }: { filterBy: RefundFilter; id: string },
): Promise<ReferencedLine[]> {
  return db.$queryRaw<ReferencedLine[]>`
    SELECT nsu, is_credit AS "isCredit", amount_cents AS "amountCents", type_name AS "typeName",
           end_to_end_id AS "endToEndId", original_end_to_end_id AS "originalEndToEndId", counterparty,
           occurred_at AS "occurredAt"
    FROM statement_line WHERE account_id = ${accountId} AND ${referenced(filterBy, id)}
    ORDER BY (is_credit AND end_to_end_id LIKE 'E%' AND original_end_to_end_id IS NULL) IS TRUE DESC, nsu
    LIMIT 20`;
}

/** The database's time. */
export async function readTime(db: Db): Promise<Date> {
  const [row] = await db.$queryRaw<{ now: Date }[]>`SELECT clock_timestamp() AS now`;
  return row!.now;
}

/** Whether a poll that began after this instant of the database's time has completed. */
export async function isSyncedSince(db: Db, accountId: number, instant: Date): Promise<boolean> {
  const polled = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM statement_state WHERE account_id = ${accountId} AND last_sync_started_at >= ${instant}`;
  return polled.length === 1;
}

/** Holds the Pix for the rest of the transaction: one refund of it is judged at a time. */
export async function lockOriginal(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.$queryRaw`
    SELECT 1 FROM statement_line WHERE account_id = ${accountId} AND nsu = ${nsu} FOR NO KEY UPDATE`;
}

/** What is known of a Pix that is locked: counted by its line, or by our record where there is no line yet. */
export async function readFacts(
  tx: Tx,
  accountId: number,
  original: OriginalPix,
): Promise<RefundFacts> {
  const { nsu, endToEndId, counterparty, occurredAt, amountCents } = original;
  const [facts] = await tx.$queryRaw<Omit<RefundFacts, 'originalCents'>[]>`
    WITH ours AS (
      SELECT id, state, amount_cents, nsu, end_to_end_id, expected_payment_id FROM refund
      WHERE account_id = ${accountId} AND original_nsu = ${nsu}
    ), named AS (
      SELECT t.nsu, t.amount_cents, t.end_to_end_id, o.id AS refund_id
      FROM statement_line t LEFT JOIN ours o
        ON o.id::text = t.idempotency_key OR o.nsu = t.nsu OR o.end_to_end_id = t.end_to_end_id
      WHERE t.account_id = ${accountId} AND NOT t.is_credit AND t.original_end_to_end_id = ${endToEndId}
      UNION
      SELECT t.nsu, t.amount_cents, t.end_to_end_id, o.id
      FROM ours o JOIN match m ON m.account_id = ${accountId} AND m.expected_payment_id = o.expected_payment_id
        AND m.role = 'payment' AND m.unlinked_at IS NULL
      JOIN statement_line t ON t.account_id = ${accountId} AND t.nsu = m.nsu
      UNION
      SELECT t.nsu, t.amount_cents, t.end_to_end_id, o.id
      FROM ours o JOIN statement_line t ON t.account_id = ${accountId} AND t.nsu = o.nsu AND NOT t.is_credit
      UNION
      SELECT t.nsu, t.amount_cents, t.end_to_end_id, o.id
      FROM ours o JOIN statement_line t ON t.account_id = ${accountId} AND t.end_to_end_id = o.end_to_end_id
        AND NOT t.is_credit
    ), refunded AS (
      SELECT DISTINCT nsu, amount_cents, end_to_end_id FROM named
    ), reversed AS (
      SELECT t.nsu, t.amount_cents FROM statement_line t
      WHERE t.account_id = ${accountId} AND t.is_credit AND t.type_name ILIKE '%REVERSAL%'
        AND t.original_end_to_end_id = ${endToEndId} AND t.end_to_end_id IS DISTINCT FROM ${endToEndId}
      UNION
      SELECT t.nsu, t.amount_cents FROM refunded r
      JOIN statement_line t ON t.account_id = ${accountId} AND t.end_to_end_id = r.end_to_end_id
        AND t.is_credit AND t.type_name ILIKE '%REVERSAL%'
      UNION
      SELECT m.nsu, m.amount_cents
      FROM ours o JOIN match m ON m.account_id = ${accountId} AND m.expected_payment_id = o.expected_payment_id
        AND m.role = 'reversal' AND m.unlinked_at IS NULL
    )
    SELECT (SELECT COALESCE(sum(amount_cents), 0)::bigint FROM refunded) AS "refundedCents",
           (SELECT COALESCE(sum(amount_cents), 0)::bigint FROM reversed) AS "reversedCents",
           (SELECT COALESCE(sum(amount_cents), 0)::bigint FROM ours
            WHERE state <> 'rejected' AND id NOT IN (
              SELECT refund_id FROM named WHERE refund_id IS NOT NULL)
              AND NOT EXISTS (SELECT 1 FROM expected_payment e WHERE e.account_id = ${accountId}
                AND e.id = ours.expected_payment_id AND e.withdrawn_at IS NOT NULL)) AS "pendingCents",
           ${hasUntiedRefund(accountId, counterparty, occurredAt)} AS "hasUntiedRefund"`;
  return { originalCents: amountCents, ...facts! };
}

/** A refund to that payer since then that names no Pix, that no refund of ours is, and that did not come back. */
const hasUntiedRefund = (accountId: number, counterparty: string | null, since: Date) => Prisma.sql`
  EXISTS (
    SELECT 1 FROM statement_line t
    WHERE t.account_id = ${accountId} AND t.counterparty = ${counterparty} AND t.occurred_at >= ${since}
      AND t.original_end_to_end_id IS NULL AND t.is_credit = false AND t.type_name ILIKE '%REFUND%'
      AND NOT EXISTS (SELECT 1 FROM match m
        WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM refund r WHERE r.account_id = t.account_id AND r.nsu = t.nsu)
      AND NOT EXISTS (SELECT 1 FROM refund r
        WHERE r.account_id = t.account_id AND r.end_to_end_id = t.end_to_end_id)
      AND NOT EXISTS (SELECT 1 FROM statement_line back
        WHERE back.account_id = t.account_id AND back.end_to_end_id = t.end_to_end_id AND back.is_credit
          AND back.amount_cents = t.amount_cents AND back.type_name ILIKE '%REVERSAL%'))`;

export interface RefundKey {
  accountId: number;
  id: string;
}

export async function insertRefund(
  tx: Tx,
  refund: RefundKey & { originalNsu: bigint; amountCents: bigint; expectedPaymentId: string },
): Promise<void> {
  const { accountId, id, originalNsu, amountCents, expectedPaymentId } = refund;
  await tx.$executeRaw`
    INSERT INTO refund (account_id, id, original_nsu, amount_cents, state, expected_payment_id)
    VALUES (${accountId}, ${id}::uuid, ${originalNsu}, ${amountCents}, 'requested', ${expectedPaymentId}::uuid)`;
}

/** The bank accepted it, or the statement shows it; ids that are told again stay. */
export async function markAccepted(
  tx: Tx,
  { accountId, id }: RefundKey,
  { nsu, endToEndId }: { nsu: bigint | null; endToEndId: string | null },
): Promise<{ expectedPaymentId: string } | null> {
  const [refund] = await tx.$queryRaw<{ expectedPaymentId: string }[]>`
    UPDATE refund
    SET state = 'accepted', nsu = COALESCE(${nsu}, nsu), end_to_end_id = COALESCE(${endToEndId}, end_to_end_id),
        updated_at = now()
    WHERE account_id = ${accountId} AND id = ${id}::uuid
    RETURNING expected_payment_id AS "expectedPaymentId"`;
  return refund ?? null;
}

export async function markRejected(tx: Tx, { accountId, id }: RefundKey): Promise<void> {
  await tx.$executeRaw`
    UPDATE refund SET state = 'rejected', updated_at = now()
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'requested'`;
}

/** The line that was matched to a refund, by its ids. */
export async function findMatchedLine(
  tx: Tx,
  { accountId, id }: RefundKey,
): Promise<{ nsu: bigint; endToEndId: string | null } | null> {
  const [line] = await tx.$queryRaw<{ nsu: bigint; endToEndId: string | null }[]>`
    SELECT t.nsu, t.end_to_end_id AS "endToEndId" FROM refund r
    JOIN match m ON m.account_id = r.account_id AND m.expected_payment_id = r.expected_payment_id
      AND m.role = 'payment' AND m.unlinked_at IS NULL
    JOIN statement_line t ON t.account_id = m.account_id AND t.nsu = m.nsu
    WHERE r.account_id = ${accountId} AND r.id = ${id}::uuid ORDER BY t.nsu LIMIT 1`;
  return line ?? null;
}

export interface RefundRow {
  id: string;
  operationState: string;
  originalNsu: bigint;
  amountCents: bigint;
  state: string;
  endToEndId: string | null;
  nsu: bigint | null;
  createdAt: Date;
  /** The bank's answer; null while there is none. */
  answer: string | null;
  isWithdrawn: boolean;
  paidCents: bigint;
  returnedCents: bigint;
}

export interface RefundFilters {
  id?: string | undefined;
  endToEndId?: string | undefined;
  nsu?: bigint | undefined;
  originalNsu?: bigint | undefined;
  state?: string | undefined;
  /** Refunds asked for before this one: the list's cursor. */
  before: string | null;
  limit: number;
}

export async function listRefunds(
  db: Db,
  accountId: number,
  { id, endToEndId, nsu, originalNsu, state, before, limit }: RefundFilters,
): Promise<RefundRow[]> {
  return db.$queryRaw<RefundRow[]>`
    SELECT r.id, o.state AS "operationState", r.original_nsu AS "originalNsu", r.amount_cents AS "amountCents",
           r.state, r.end_to_end_id AS "endToEndId", r.nsu, r.created_at AS "createdAt",
           CASE WHEN o.state = 'succeeded' THEN o.response_body END AS answer,
           e.withdrawn_at IS NOT NULL AS "isWithdrawn", seen."paidCents", seen."returnedCents"
    FROM refund r
    JOIN operation o ON o.account_id = r.account_id AND o.id = r.id
    JOIN expected_payment e ON e.account_id = r.account_id AND e.id = r.expected_payment_id
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'payment'), 0)::bigint AS "paidCents",
             COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'reversal'), 0)::bigint AS "returnedCents"
      FROM match m WHERE m.account_id = r.account_id AND m.expected_payment_id = r.expected_payment_id
        AND m.unlinked_at IS NULL
    ) seen
    WHERE r.account_id = ${accountId}
      AND (${id ?? null}::uuid IS NULL OR r.id = ${id ?? null}::uuid)
      AND (${endToEndId ?? null}::text IS NULL OR r.end_to_end_id = ${endToEndId ?? null})
      AND (${nsu ?? null}::bigint IS NULL OR r.nsu = ${nsu ?? null})
      AND (${originalNsu ?? null}::bigint IS NULL OR r.original_nsu = ${originalNsu ?? null})
      AND (${state ?? null}::text IS NULL OR r.state = ${state ?? null})
      AND (${before}::uuid IS NULL OR r.id < ${before}::uuid)
    ORDER BY r.id DESC LIMIT ${limit}`;
}
