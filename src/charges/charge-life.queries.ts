// The SQL of what becomes of charges. `next_check_at` is an instant of the bank's clock, as due dates are.
import type { Db, Tx } from '../database.service.js';

/** Notices of the bank that a charge has changed; what changed is read at the bank. */
const newsTypes = ['CHARGE_VOIDED', 'CHARGE_CANCELLED', 'CHARGE_OVERDUE'];

export interface DueCharge {
  correlationId: string;
  type: string;
  amountCents: bigint | null;
  dueDate: string | null;
  looks: number;
  isPaid: boolean;
  /** By the database's clock: notices that come from now on are news again. */
  lookedAt: Date;
}

/** A charge that was paid by its day is not asked about. */
export async function releasePaid(db: Db, accountId: number, now: Date): Promise<void> {
  await db.$executeRaw`
    UPDATE charge c SET next_check_at = NULL
    WHERE c.account_id = ${accountId} AND c.next_check_at <= ${now} AND c.checks = 0 AND EXISTS (
      SELECT 1 FROM match m WHERE m.account_id = c.account_id
        AND m.expected_payment_id = c.expected_payment_id AND m.unlinked_at IS NULL)`;
}

/** Charges that a kept webhook names, and that were not looked at since it came. */
export async function markNamed(db: Db, accountId: number, now: Date): Promise<void> {
  await db.$executeRaw`
    UPDATE charge c SET next_check_at = ${now}, checks = 0
    FROM webhook_event w
    WHERE w.account_id = ${accountId} AND w.state = 'pending' AND w.event_type = ANY (${newsTypes}::text[])
      AND w.reference_kind = 'correlation_id' AND c.account_id = w.account_id
      AND c.correlation_id = w.reference AND c.cancelled_at IS NULL
      AND (c.checked_at IS NULL OR c.checked_at <= w.received_at)`;
}

export async function markForLook(
  db: Db,
  accountId: number,
  correlationId: string,
  now: Date,
): Promise<void> {
  await db.$executeRaw`
    UPDATE charge SET next_check_at = ${now}, checks = 0
    WHERE account_id = ${accountId} AND correlation_id = ${correlationId} AND cancelled_at IS NULL`;
}

/** Charges whose time has come; one that the bank has not accepted has no life yet. */
export async function listDue(
  db: Db,
  accountId: number,
  now: Date,
  limit: number,
): Promise<DueCharge[]> {
  return db.$queryRaw<DueCharge[]>`
    SELECT c.correlation_id AS "correlationId", c.type, c.amount_cents AS "amountCents",
           COALESCE(c.bank_due_date, c.due_date) AS "dueDate", c.checks AS looks,
           EXISTS (SELECT 1 FROM match m WHERE m.account_id = c.account_id
             AND m.expected_payment_id = c.expected_payment_id AND m.unlinked_at IS NULL) AS "isPaid",
           clock_timestamp() AS "lookedAt"
    FROM charge c
    JOIN operation o ON o.account_id = c.account_id AND o.id = c.operation_id AND o.state = 'succeeded'
    WHERE c.account_id = ${accountId} AND c.next_check_at <= ${now}
    ORDER BY c.next_check_at LIMIT ${limit}`;
}

/** What a charge came to without money, by the bank's clock. */
export interface End {
  kind: 'cancelled' | 'expired';
  at: Date;
}

export interface Look {
  correlationId: string;
  lookedAt: Date;
  /** Null where the bank did not say. */
  bankStatus: string | null;
  bankDueDate: string | null;
  next: Date | null;
  end: End | null;
}

/** Writes a look; whether it is the one that found the end: each end is found, and told, once. */
export async function recordLook(tx: Tx, accountId: number, look: Look): Promise<boolean> {
  const { correlationId, lookedAt, bankStatus, bankDueDate, next, end } = look;
  const cancelledAt = end?.kind === 'cancelled' ? end.at : null;
  const expiredAt = end?.kind === 'expired' ? end.at : null;
  const [before] = await tx.$queryRaw<{ isCancelled: boolean; isExpired: boolean }[]>`
    SELECT cancelled_at IS NOT NULL AS "isCancelled", expired_at IS NOT NULL AS "isExpired"
    FROM charge WHERE account_id = ${accountId} AND correlation_id = ${correlationId} FOR UPDATE`;
  if (!before) return false;
  await tx.$executeRaw`
    UPDATE charge SET checks = checks + 1, checked_at = ${lookedAt}, next_check_at = ${next},
      bank_status = COALESCE(${bankStatus}, bank_status),
      bank_due_date = COALESCE(${bankDueDate}, bank_due_date),
      cancelled_at = COALESCE(cancelled_at, ${cancelledAt}),
      expired_at = COALESCE(expired_at, ${expiredAt})
    WHERE account_id = ${accountId} AND correlation_id = ${correlationId}`;
  if (end === null || before.isCancelled) return false;
  return end.kind === 'cancelled' || !before.isExpired;
}

/** Accounts with charges to look at. */
export async function listAccountsWithDue(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id
    WHERE EXISTS (
        SELECT 1 FROM charge c
        JOIN operation o ON o.account_id = c.account_id AND o.id = c.operation_id AND o.state = 'succeeded'
        WHERE c.account_id = a.id
          AND c.next_check_at <= clock_timestamp() + COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond')
      OR EXISTS (
        SELECT 1 FROM webhook_event w WHERE w.account_id = a.id AND w.state = 'pending'
          AND w.event_type = ANY (${newsTypes}::text[]))`;
}
