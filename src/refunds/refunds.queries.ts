// The SQL of refunds. The refundable amount counts refund debits on the statement, and our refunds
// that have no line yet. The original Pix is locked while a refund of it is recorded.
import type { RefundFilter } from '../contract/refunds.js';
import type { Db, Tx } from '../database.service.js';
import { Prisma, type Refund } from '../generated/service/client.js';
import type { OperationRef } from '../operations/operations.queries.js';
import type { RefundOriginal, ReferencedStatementLine } from './received-pix.js';
import type { RefundableFacts } from './refundable-amount.js';

const matchesReference = (filterBy: RefundFilter, id: string): Prisma.Sql => {
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
 * Up to 20 lines of a reference. Lines that may be a received Pix come first, because a QR code may
 * have been paid a thousand times. With `NSU` the id must be a whole number.
 */
export async function listRefundReferenceLines(
  db: Db,
  accountId: number,
  { filterBy, id }: { filterBy: RefundFilter; id: string },
): Promise<ReferencedStatementLine[]> {
  return db.$queryRaw<ReferencedStatementLine[]>`
    SELECT nsu, is_credit, amount_cents, type_name, end_to_end_id, original_end_to_end_id,
           counterparty, occurred_at
    FROM statement_line WHERE account_id = ${accountId} AND ${matchesReference(filterBy, id)}
    ORDER BY
      (is_credit AND end_to_end_id LIKE 'E%' AND original_end_to_end_id IS NULL) IS TRUE DESC, nsu
    LIMIT 20`;
}

/**
 * Locks the Pix for the rest of the transaction, so that only one refund of it is checked at a
 * time.
 */
export async function lockRefundOriginal(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.$queryRaw`
    SELECT 1 FROM statement_line WHERE account_id = ${accountId} AND nsu = ${nsu}
    FOR NO KEY UPDATE`;
}

/**
 * Reads the refunds of a Pix that the caller has locked. Each refund counts once: by its line, or
 * by our record while it has no line.
 */
export async function readRefundableFacts(
  tx: Tx,
  accountId: number,
  original: RefundOriginal,
): Promise<RefundableFacts> {
  const { nsu, endToEndId, counterparty, occurredAt, amountCents } = original;
  const [facts] = await tx.$queryRaw<Omit<RefundableFacts, 'originalCents'>[]>`
    WITH own_refund AS (
      SELECT id, state, amount_cents, nsu, end_to_end_id, expected_payment_id FROM refund
      WHERE account_id = ${accountId} AND original_nsu = ${nsu}
    ), refund_line AS (
      SELECT l.nsu, l.amount_cents, l.end_to_end_id, o.id AS refund_id
      FROM statement_line l LEFT JOIN own_refund o
        ON o.id::text = l.idempotency_key OR o.nsu = l.nsu OR o.end_to_end_id = l.end_to_end_id
      WHERE l.account_id = ${accountId} AND NOT l.is_credit
        AND l.original_end_to_end_id = ${endToEndId}
      UNION
      SELECT l.nsu, l.amount_cents, l.end_to_end_id, o.id
      FROM own_refund o
      JOIN match m ON m.account_id = ${accountId}
        AND m.expected_payment_id = o.expected_payment_id
        AND m.role = 'payment' AND m.unlinked_at IS NULL
      JOIN statement_line l ON l.account_id = ${accountId} AND l.nsu = m.nsu
      UNION
      SELECT l.nsu, l.amount_cents, l.end_to_end_id, o.id
      FROM own_refund o
      JOIN statement_line l ON l.account_id = ${accountId} AND l.nsu = o.nsu AND NOT l.is_credit
      UNION
      SELECT l.nsu, l.amount_cents, l.end_to_end_id, o.id
      FROM own_refund o
      JOIN statement_line l ON l.account_id = ${accountId} AND l.end_to_end_id = o.end_to_end_id
        AND NOT l.is_credit
    ), refunded AS (
      SELECT DISTINCT nsu, amount_cents, end_to_end_id FROM refund_line
    ), reversed AS (
      SELECT l.nsu, l.amount_cents FROM statement_line l
      WHERE l.account_id = ${accountId} AND l.is_credit AND l.type_name ILIKE '%REVERSAL%'
        AND l.original_end_to_end_id = ${endToEndId}
        AND l.end_to_end_id IS DISTINCT FROM ${endToEndId}
      UNION
      SELECT l.nsu, l.amount_cents FROM refunded r
      JOIN statement_line l ON l.account_id = ${accountId} AND l.end_to_end_id = r.end_to_end_id
        AND l.is_credit AND l.type_name ILIKE '%REVERSAL%'
      UNION
      SELECT m.nsu, m.amount_cents
      FROM own_refund o
      JOIN match m ON m.account_id = ${accountId}
        AND m.expected_payment_id = o.expected_payment_id
        AND m.role = 'reversal' AND m.unlinked_at IS NULL
    )
    SELECT (SELECT COALESCE(sum(amount_cents), 0)::bigint FROM refunded) AS "refundedCents",
           (SELECT COALESCE(sum(amount_cents), 0)::bigint FROM reversed) AS "reversedCents",
           (SELECT COALESCE(sum(amount_cents), 0)::bigint FROM own_refund
            WHERE state <> 'rejected'
              AND id NOT IN (SELECT refund_id FROM refund_line WHERE refund_id IS NOT NULL)
              AND NOT EXISTS (
                SELECT 1 FROM expected_payment e
                WHERE e.account_id = ${accountId} AND e.id = own_refund.expected_payment_id
                  AND e.withdrawn_at IS NOT NULL)) AS "pendingCents",
           ${hasUnattributedRefund(accountId, counterparty, occurredAt)}
             AS "hasUnattributedRefund",
           ${isDisputed(accountId, endToEndId)} AS "isDisputed"`;
  return { originalCents: amountCents, ...facts! };
}

/**
 * The states of the breaks of a Pix for which a refund with this key was requested. They cannot
 * change for the rest of the transaction.
 */
export async function lockBreaksOfRefund(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  key: string | null,
): Promise<string[]> {
  const breaks = await tx.$queryRaw<{ state: string }[]>`
    SELECT b.state FROM break b
    WHERE b.account_id = ${accountId} AND b.nsu = ${nsu} AND EXISTS (
      SELECT FROM break_history_entry e
      WHERE e.account_id = b.account_id AND e.break_id = b.id AND e.action = 'refund'
        AND e.detail ->> 'key' = ${key})
    ORDER BY b.id FOR SHARE`;
  return breaks.map(({ state }) => state);
}

/** Whether a dispute of the Pix has neither a return by the bank nor a resolved break. */
const isDisputed = (accountId: number, endToEndId: string | null) => Prisma.sql`
  EXISTS (
    SELECT FROM dispute d
    WHERE d.account_id = ${accountId} AND d.end_to_end_id = ${endToEndId}
      AND d.returned_nsu IS NULL AND NOT EXISTS (
        SELECT FROM break b WHERE b.account_id = d.account_id AND b.kind = 'disputed'
          AND b.subject = 'dispute:' || d.id AND b.state = 'resolved'))`;

/**
 * Whether the statement shows a refund to that payer since `since` without the id of its Pix.
 * Refunds that are matched, that we made, or that were reversed do not count.
 */
const hasUnattributedRefund = (accountId: number, counterparty: string | null, since: Date) =>
  Prisma.sql`
  EXISTS (
    SELECT 1 FROM statement_line l
    WHERE l.account_id = ${accountId} AND l.counterparty = ${counterparty}
      AND l.occurred_at >= ${since} AND l.original_end_to_end_id IS NULL
      AND l.is_credit = false AND l.type_name ILIKE '%REFUND%'
      AND NOT EXISTS (SELECT 1 FROM match m
        WHERE m.account_id = l.account_id AND m.nsu = l.nsu AND m.unlinked_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM refund r WHERE r.account_id = l.account_id AND r.nsu = l.nsu)
      AND NOT EXISTS (SELECT 1 FROM refund r
        WHERE r.account_id = l.account_id AND r.end_to_end_id = l.end_to_end_id)
      AND NOT EXISTS (SELECT 1 FROM statement_line reversal
        WHERE reversal.account_id = l.account_id AND reversal.end_to_end_id = l.end_to_end_id
          AND reversal.is_credit AND reversal.amount_cents = l.amount_cents
          AND reversal.type_name ILIKE '%REVERSAL%'))`;

/**
 * Marks a refund as accepted: the bank accepted it, or the statement shows it. An id that is null
 * here keeps its stored value.
 */
export async function markRefundAccepted(
  tx: Tx,
  { accountId, id }: OperationRef,
  { nsu, endToEndId }: Pick<Refund, 'nsu' | 'endToEndId'>,
): Promise<{ expectedPaymentId: string } | null> {
  const [refund] = await tx.$queryRaw<{ expectedPaymentId: string }[]>`
    UPDATE refund
    SET state = 'accepted', nsu = COALESCE(${nsu}, nsu),
        end_to_end_id = COALESCE(${endToEndId}, end_to_end_id)
    WHERE account_id = ${accountId} AND id = ${id}::uuid
    RETURNING expected_payment_id`;
  return refund ?? null;
}

export async function markRefundRejected(tx: Tx, { accountId, id }: OperationRef): Promise<void> {
  await tx.$executeRaw`
    UPDATE refund SET state = 'rejected'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'requested'`;
}

/** The ids of the line that is matched to the refund as its payment. */
export async function findLineOfRefund(tx: Tx, { accountId, id }: OperationRef) {
  const match = await tx.match.findFirst({
    where: { accountId, expectedPayment: { refund: { id } }, role: 'payment', unlinkedAt: null },
    orderBy: { nsu: 'asc' },
    select: { line: { select: { nsu: true, endToEndId: true } } },
  });
  return match?.line ?? null;
}
