// The SQL of charge status checks. `next_check_at` is on the bank's clock, as due dates are.
import type { Db, Tx, Reader } from '../../platform/postgres/database.service.js';
import { recordDueDateChange } from '../../statement/expected-payments/due-dates.queries.js';
import { metadataOfRow } from '../../statement/expected-payments/metadata.queries.js';
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import { Prisma, type Charge } from '../../generated/service/client.js';
import { recordPaymentTasks } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { chargeStatusEventTypes } from './charge-status.js';

/** Whether a line pays the charge (c). */
const isPaid = Prisma.sql`EXISTS (
  SELECT FROM expected_payment_total total
  WHERE total.account_id = c.account_id AND total.expected_payment_id = c.expected_payment_id
    AND total.paid_cents > 0)`;

export interface DueCharge extends Pick<
  Charge,
  'correlationId' | 'type' | 'amountCents' | 'checks'
> {
  dueDate: string | null;
  metadata: Metadata | null;
  isPaid: boolean;
  /** PostgreSQL's time before the check: webhooks received from then on trigger another check. */
  checkedAt: Date;
}

/**
 * Ends the checks of charges that are paid and have not been checked since they became due. One
 * that is paid in part may have another due date at the bank.
 */
export async function endChecksOfPaidCharges(db: Db, accountId: number, now: Date): Promise<void> {
  await db.$executeRaw`
    UPDATE charge c SET next_check_at = NULL
    WHERE c.account_id = ${accountId} AND c.next_check_at <= ${now} AND c.checks = 0
      AND EXISTS (
        SELECT FROM expected_payment_total total
        WHERE total.account_id = c.account_id
          AND total.expected_payment_id = c.expected_payment_id
          AND total.paid_cents > 0 AND total.settlement <> 'partially_settled')`;
}

/** Makes a charge due if a pending webhook references it and was received after its last check. */
export async function requestChecksByWebhooks(db: Db, accountId: number, now: Date): Promise<void> {
  await db.$executeRaw`
    UPDATE charge c SET next_check_at = ${now}, checks = 0
    FROM webhook_event w
    WHERE w.account_id = ${accountId} AND w.state = 'pending'
      AND w.event_type = ANY (${[...chargeStatusEventTypes]}::text[])
      AND w.reference_kind = 'correlation_id' AND c.account_id = w.account_id
      AND c.correlation_id = w.reference AND c.cancelled_at IS NULL
      AND (c.checked_at IS NULL OR c.checked_at <= w.received_at)`;
}

/** Charges due for a check. Only charges that the bank has accepted have a status to read. */
export async function listDueCharges(
  db: Db,
  accountId: number,
  now: Date,
  limit: number,
): Promise<DueCharge[]> {
  return db.$queryRaw<DueCharge[]>`
    SELECT c.correlation_id, c.type, c.amount_cents,
           e.due_date, c.checks,
           ${isPaid} AS "isPaid",
           ${metadataOfRow('c')} AS metadata,
           clock_timestamp() AS "checkedAt"
    FROM charge c
    JOIN operation o ON o.account_id = c.account_id AND o.id = c.operation_id
      AND o.state = 'succeeded'
    JOIN expected_payment e ON e.account_id = c.account_id AND e.id = c.expected_payment_id
    WHERE c.account_id = ${accountId} AND c.next_check_at <= ${now}
    ORDER BY c.next_check_at LIMIT ${limit}`;
}

/** How a charge ended without a payment; `at` is on the bank's clock. */
export interface ChargeEnd {
  kind: 'cancelled' | 'expired';
  at: Date;
}

export interface ChargeStatusCheck {
  correlationId: string;
  checkedAt: Date;
  /** The due date with which the check began. */
  knownDueDate: string | null;
  /** Null when the bank's status was not read. */
  bankStatus: string | null;
  bankDueDate: string | null;
  /** Null when no further check is needed. */
  nextCheckAt: Date | null;
  end: ChargeEnd | null;
}

/**
 * Returns whether this check is the first to find this end, so that each end is reported once. A
 * check during which the due date was changed is void: the bank may have responded before that. The
 * change has scheduled the next check.
 */
export async function recordChargeStatusCheck(
  tx: Tx,
  accountId: number,
  check: ChargeStatusCheck,
): Promise<boolean> {
  const { correlationId, checkedAt, knownDueDate, bankStatus, bankDueDate, nextCheckAt, end } =
    check;
  const [before] = await tx.$queryRaw<
    Pick<Charge, 'expectedPaymentId' | 'cancelledAt' | 'expiredAt' | 'checkedAt'>[]
  >`
    SELECT c.expected_payment_id, c.cancelled_at, c.expired_at, c.checked_at
    FROM charge c
    JOIN expected_payment e ON e.account_id = c.account_id AND e.id = c.expected_payment_id
    WHERE c.account_id = ${accountId} AND c.correlation_id = ${correlationId}
      AND e.due_date IS NOT DISTINCT FROM ${knownDueDate}
    FOR NO KEY UPDATE OF c`;
  if (!before) return false;
  const isMoved = bankDueDate !== null && bankDueDate !== knownDueDate;
  const expiredAt = end?.kind === 'expired' ? end.at : null;
  await tx.charge.update({
    where: { accountId_correlationId: { accountId, correlationId } },
    data: {
      ...{ checks: { increment: 1 }, checkedAt, nextCheckAt, bankStatus: bankStatus ?? undefined },
      cancelledAt: before.cancelledAt ?? (end?.kind === 'cancelled' ? end.at : null),
      expiredAt: (isMoved ? null : before.expiredAt) ?? expiredAt,
    },
  });
  const { expectedPaymentId } = before;
  if (isMoved)
    // The bank may have changed it at any time since it last showed another one.
    await recordDueDateChange(tx, accountId, {
      ...{ expectedPaymentId, dueDate: bankDueDate, operationId: null },
      possibleSince: before.checkedAt,
    });
  if (end !== null || isMoved) await recordPaymentTasks(tx, accountId, [expectedPaymentId]);
  if (end === null || before.cancelledAt) return false;
  return end.kind === 'cancelled' || !before.expiredAt;
}

/** Accounts with charges due for a check, or with pending webhooks that trigger one. */
export async function listAccountsWithDueCharges(db: Reader): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId"
    FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id
    WHERE EXISTS (
        SELECT 1 FROM charge c
        JOIN operation o ON o.account_id = c.account_id AND o.id = c.operation_id
          AND o.state = 'succeeded'
        WHERE c.account_id = a.id
          AND c.next_check_at <= clock_timestamp()
            + COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond')
      OR EXISTS (
        SELECT 1 FROM webhook_event w WHERE w.account_id = a.id AND w.state = 'pending'
          AND w.event_type = ANY (${[...chargeStatusEventTypes]}::text[]))`;
}
