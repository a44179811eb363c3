// SQL of bill payments. A state changes under the lock of its row, or only from a state that may
// precede it.
import type { Db, Tx, Reader } from '../../platform/postgres/database.service.js';
import {
  isAmountDue,
  recordPaymentTasks,
} from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { metadataOfRow } from '../../statement/expected-payments/metadata.queries.js';
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import { isProvisional } from '../../statement/expected-payments/provisional.queries.js';
import { Prisma, type BillPayment } from '../../generated/service/client.js';
import type { OperationRef } from '../operations/operations.queries.js';

export type NewBillPayment = OperationRef &
  Pick<BillPayment, 'barCode' | 'amountCents' | 'expectedPaymentId'> &
  Partial<Pick<BillPayment, 'minimumCents' | 'maximumCents'>>;

/**
 * False when the bill has another live payment. Waits for a concurrent request for the same bill.
 */
export async function insertRequestedBillPayment(
  tx: Tx,
  payment: NewBillPayment,
): Promise<boolean> {
  const { count } = await tx.billPayment.createMany({
    data: { ...payment, state: 'requested' },
    skipDuplicates: true,
  });
  if (count === 1) await recordBillTasks(tx, payment.accountId, payment.id);
  return count === 1;
}

/** Decides all payments of the bill again: a second one depends on the state of the others. */
async function recordBillTasks(tx: Tx, accountId: number, id: string): Promise<void> {
  const payments = await tx.$queryRaw<{ id: string }[]>`
    SELECT other.expected_payment_id AS id FROM bill_payment p
    JOIN bill_payment other ON other.account_id = p.account_id AND other.bar_code = p.bar_code
    WHERE p.account_id = ${accountId} AND p.id = ${id}::uuid`;
  const ids = payments.map((payment) => payment.id);
  await recordPaymentTasks(tx, accountId, ids);
}

/**
 * Frees a bill whose payment was fully reversed, so that the bill can be paid again. False if no
 * payment of the bill was fully reversed.
 */
export async function freeReversedBill(
  tx: Tx,
  accountId: number,
  barCode: string,
): Promise<boolean> {
  const freed = await tx.$executeRaw`
    UPDATE bill_payment p SET freed_at = clock_timestamp()
    FROM expected_payment_total total
    WHERE p.account_id = ${accountId} AND p.bar_code = ${barCode}
      AND p.state = 'paid' AND p.freed_at IS NULL
      AND total.account_id = p.account_id AND total.expected_payment_id = p.expected_payment_id
      AND p.amount_cents <= total.reversed_cents`;
  return freed === 1;
}

export interface LockedBillPayment extends Pick<
  BillPayment,
  'state' | 'barCode' | 'amountCents' | 'bankId' | 'scheduledFor' | 'expectedPaymentId'
> {
  /** The live payment of the bill, when that is another payment. */
  otherLiveId: string | null;
  metadata: Metadata | null;
}

/** The live payment of the bill of a payment (p), when that is another payment. */
const otherLivePayment = Prisma.sql`
  SELECT other.id FROM bill_payment other
  WHERE other.account_id = p.account_id AND other.bar_code = p.bar_code AND other.id <> p.id
    AND other.state NOT IN ('failed', 'rejected') AND other.freed_at IS NULL`;

export async function findBillPaymentForUpdate(
  tx: Tx,
  { accountId, id }: OperationRef,
): Promise<LockedBillPayment | null> {
  const [payment] = await tx.$queryRaw<LockedBillPayment[]>`
    SELECT p.state, p.bar_code, p.amount_cents, p.bank_id, p.scheduled_for, p.expected_payment_id,
           (${otherLivePayment}) AS "otherLiveId", ${metadataOfRow('p')} AS metadata
    FROM bill_payment p
    WHERE p.account_id = ${accountId} AND p.id = ${id}::uuid
    FOR NO KEY UPDATE OF p`;
  return payment ?? null;
}

export interface BillPaymentUpdate extends Pick<
  BillPayment,
  'state' | 'bankId' | 'bankStatus' | 'scheduledFor'
> {
  /** Null when `scheduledFor` is null. */
  latestExecutionAt: Date | null;
  /** Whether another payment of the bill is live. */
  isBillFreed: boolean;
}

/** Updates a locked payment. A null field leaves the stored value unchanged. */
export async function recordBillPaymentAcceptance(
  tx: Tx,
  { accountId, id }: OperationRef,
  { state, bankId, bankStatus, scheduledFor, latestExecutionAt, isBillFreed }: BillPaymentUpdate,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE bill_payment
    SET state = ${state}, bank_id = COALESCE(${bankId}, bank_id),
        bank_status = COALESCE(${bankStatus}, bank_status),
        scheduled_for = COALESCE(${scheduledFor}, scheduled_for),
        may_go_until = COALESCE(${latestExecutionAt}, may_go_until),
        freed_at = CASE WHEN ${isBillFreed} THEN COALESCE(freed_at, clock_timestamp())
                        ELSE freed_at END,
        next_check_at = CASE WHEN ${state} = 'scheduled' THEN clock_timestamp() END
    WHERE account_id = ${accountId} AND id = ${id}::uuid`;
  await recordBillTasks(tx, accountId, id);
}

/** Rejects a requested payment: rejected by the bank, or proven not executed. */
export async function markBillPaymentRejected(
  tx: Tx,
  { accountId, id }: OperationRef,
): Promise<void> {
  await tx.billPayment.updateMany({
    where: { accountId, id, state: 'requested' },
    data: { state: 'rejected', nextCheckAt: null },
  });
  await recordBillTasks(tx, accountId, id);
}

export type DueBillPayment = Pick<BillPayment, 'id' | 'barCode' | 'checks'> & {
  isMatched: boolean;
};

/** Accounts with a payment that `listDueBillPayments` returns. */
export async function listAccountsWithDueBillPayments(
  db: Reader,
  boundMs: number,
): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    WHERE EXISTS (
      SELECT 1 FROM bill_payment p LEFT JOIN statement_state s ON s.account_id = p.account_id
      WHERE p.account_id = a.id AND p.next_check_at IS NOT NULL
        AND (${isMatched} OR (p.next_check_at <= clock_timestamp() AND ${isOverdue(boundMs)}))
    ) OR EXISTS (
      SELECT 1 FROM bill_payment p
      WHERE p.account_id = a.id AND p.state = 'failed' AND ${isMatched}
    )`;
}

/**
 * Payments due for a status check: failed payments with a matched debit; scheduled payments with a
 * matched debit; and scheduled payments whose debit should be on the statement by now, by the
 * bank's clock. The payments that have been due longest come first.
 */
export async function listDueBillPayments(
  db: Db,
  accountId: number,
  boundMs: number,
  limit: number,
): Promise<DueBillPayment[]> {
  return db.$queryRaw<DueBillPayment[]>`
    (SELECT p.id, p.bar_code, p.checks, true AS "isMatched"
     FROM bill_payment p
     WHERE p.account_id = ${accountId} AND p.state = 'failed' AND ${isMatched} LIMIT ${limit})
    UNION ALL
    (SELECT p.id, p.bar_code, p.checks, ${isMatched}
     FROM bill_payment p LEFT JOIN statement_state s ON s.account_id = p.account_id
     WHERE p.account_id = ${accountId} AND p.next_check_at IS NOT NULL
       AND (${isMatched} OR (p.next_check_at <= clock_timestamp() AND ${isOverdue(boundMs)}))
     ORDER BY p.next_check_at LIMIT ${limit})`;
}

// Conditions on a payment (p) and its account's statement (s).
const isMatched = Prisma.sql`EXISTS (
  SELECT FROM expected_payment_total total
  WHERE total.account_id = p.account_id AND total.expected_payment_id = p.expected_payment_id
    AND total.paid_cents > 0)`;
const isOverdue = (boundMs: number) => Prisma.sql`
  p.scheduled_for + ${boundMs} * interval '1 millisecond'
    <= clock_timestamp() + COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond'`;

/**
 * Marks a payment as paid: its debit is on the statement, or the bank reports it and the statement
 * can prove nothing. A failed payment becomes paid too. If its bill has another live payment, the
 * bill is marked as freed from this payment.
 */
export async function markBillPaymentPaid(
  tx: Tx,
  { accountId, id }: OperationRef,
  bankStatus: string | null,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE bill_payment p
    SET state = 'paid', bank_status = COALESCE(${bankStatus}, p.bank_status),
        freed_at = CASE WHEN p.freed_at IS NULL AND EXISTS (${otherLivePayment})
          THEN clock_timestamp() ELSE p.freed_at END,
        next_check_at = NULL
    WHERE p.account_id = ${accountId} AND p.id = ${id}::uuid
      AND p.state IN ('scheduled', 'failed')`;
  await recordBillTasks(tx, accountId, id);
}

/** Schedules the next status check. `bankStatus` is null when the bank reported none. */
export async function postponeBillPaymentCheck(
  db: Db,
  { accountId, id }: OperationRef,
  { bankStatus, pauseMs }: { bankStatus: string | null; pauseMs: number },
): Promise<void> {
  await db.$executeRaw`
    UPDATE bill_payment
    SET checks = checks + 1,
        bank_status = COALESCE(${bankStatus}, bank_status),
        next_check_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'scheduled'`;
}

export type FailedBillPayment = Pick<
  BillPayment,
  'bankId' | 'amountCents' | 'scheduledFor' | 'barCode'
> & { metadata: Metadata | null };

/**
 * Ends a scheduled payment as failed. Null unless the statement proves it:
 * - It is closed from before the scheduled time until `closedForMs` after the latest possible
 *   execution.
 * - All lines of that period are decided, and none is unreadable.
 * - No line is matched to the payment, and no unexplained debit of its amount could be the payment.
 */
export async function failUnpaidBillPayment(
  tx: Tx,
  { accountId, id }: OperationRef,
  { bankStatus, closedForMs }: { bankStatus: string; closedForMs: number },
): Promise<FailedBillPayment | null> {
  const [failed] = await tx.$queryRaw<FailedBillPayment[]>`
    UPDATE bill_payment p
    SET state = 'failed', bank_status = ${bankStatus},
        next_check_at = NULL
    FROM statement_state s
    CROSS JOIN LATERAL (SELECT ${closedForMs} * interval '1 millisecond' AS late) closed
    WHERE p.account_id = ${accountId} AND p.id = ${id}::uuid AND p.state = 'scheduled'
      AND s.account_id = p.account_id
      AND s.closed_from <= p.scheduled_for - interval '1 minute'
      AND s.closed_until >= p.may_go_until + closed.late
      AND NOT ${isMatched}
      AND NOT EXISTS (
        SELECT 1 FROM statement_line t
        WHERE t.account_id = p.account_id AND NOT t.is_credit
          AND t.occurred_at >= p.scheduled_for - interval '1 minute'
          AND t.occurred_at < p.may_go_until + closed.late
          AND (${isUndecided} OR (t.amount_cents = p.amount_cents
            AND (t.bill_code IS NULL OR t.bill_code = p.bar_code) AND NOT ${isExplained})))
      AND NOT ${hasUnreadableLine}
      AND NOT ${isAmountDue(accountId, Prisma.sql`SELECT p.amount_cents`)}
    RETURNING p.bank_id, p.amount_cents,
              p.scheduled_for, p.bar_code, ${metadataOfRow('p')} AS metadata`;
  if (failed) await recordBillTasks(tx, accountId, id);
  return failed ?? null;
}

/** Since the request of the payment (p), an unreadable line arrived whose break is not resolved. */
const hasUnreadableLine = Prisma.sql`EXISTS (
  SELECT 1 FROM unreadable_line u
  WHERE u.account_id = p.account_id AND u.recorded_at >= p.created_at AND NOT EXISTS (
    SELECT 1 FROM break b WHERE b.account_id = u.account_id AND b.kind = 'unreadable_line'
      AND b.subject = 'line:' || u.content_hash AND b.state = 'resolved'))`;
// Conditions on a statement line (t).
const isUndecided = Prisma.sql`(
  t.arrival > COALESCE(
    (SELECT r.decided_arrival FROM reconciliation_state r WHERE r.account_id = t.account_id), 0)
  OR EXISTS (
    SELECT FROM line_outcome o
    WHERE o.account_id = t.account_id AND o.nsu = t.nsu AND o.state = 'pending'))`;
/** The line is matched, or classified, as by a person who accepts its break. */
const isExplained = Prisma.sql`(
  EXISTS (
    SELECT 1 FROM match m
    WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL
      AND NOT ${isProvisional('m')})
  OR EXISTS (
    SELECT 1 FROM classification c WHERE c.account_id = t.account_id AND c.nsu = t.nsu
      AND NOT ${isProvisional('c')}))`;
