// Expected payments with a deadline and no line. A check reads only what became due or changed
// since the last one.
import { opaqueAccountId, type Db, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { reportedColumns, type ReportedBreak } from './breaks.queries.js';

/** How far the statement is synced, and how far the last check of missing payments went. */
export interface MissingCheckState {
  /** The bank's time when the last complete sync began: all earlier lines are stored. */
  bankTime: Date;
  /** The bank's clock minus the database's clock. */
  clockOffsetMs: bigint;
  /** The database's clock. */
  now: Date;
  /** Whether every line is decided: an undecided line may be the payment. */
  isDecided: boolean;
  dueUntil: string | null;
  checkedAt: Date | null;
  checkedBankTime: Date | null;
}

export async function readMissingCheckState(
  db: Db,
  accountId: number,
): Promise<MissingCheckState | null> {
  const [state] = await db.$queryRaw<MissingCheckState[]>`
    SELECT s.last_sync_started_at + s.clock_offset_ms * interval '1 millisecond' AS "bankTime",
           s.clock_offset_ms AS "clockOffsetMs", clock_timestamp() AS now,
           r.missing_due_until AS "dueUntil", r.missing_checked_at AS "checkedAt",
           r.missing_bank_time AS "checkedBankTime",
           COALESCE((SELECT max(t.arrival) FROM statement_line t WHERE t.account_id = s.account_id)
             <= COALESCE(r.decided_arrival, 0), true) AS "isDecided"
    FROM statement_state s LEFT JOIN reconciliation_state r ON r.account_id = s.account_id
    WHERE s.account_id = ${opaqueAccountId(accountId)} AND s.last_sync_started_at IS NOT NULL`;
  return state ?? null;
}

/** Up to when a payment counts as due. */
export interface DueLimits {
  /** The last due date, and the last payment day of a bill, that is missing. */
  until: string;
  /** A debit due by this bank time, without a line, is missing. */
  debitedBy: Date;
  clockOffsetMs: bigint;
}

/** From when on changes are new to this check. */
export interface CheckedSince {
  /** The last due date that was checked; empty for none. */
  due: string;
  /** Changes from this time on, by the database's clock. */
  changedAt: Date;
  /**
   * Operations that ended from this time on, by the database's clock: not due at the last check.
   */
  endedAt: Date;
}

export interface MissingPayment {
  expectedPaymentId: string;
  operationId: string;
  operationKind: string;
  amountCents: bigint;
  /** The due date, or the payment day of a bill; null when the deadline is a time and not a day. */
  dueDate: string | null;
  /** For a debit: when it should have taken effect, by the bank's clock. */
  effectiveAt: Date;
}

/**
 * Expected payments (e) with operation (o), charge (c), transfer (t) or bill payment (p), and
 * `term`.
 */
const expectedWithTerms = (clockOffsetMs: bigint) => Prisma.sql`
  expected_payment e
  JOIN operation o ON o.account_id = e.account_id AND o.id = e.operation_id
  LEFT JOIN charge c ON c.account_id = e.account_id AND c.expected_payment_id = e.id
  LEFT JOIN transfer t ON t.account_id = e.account_id AND t.expected_payment_id = e.id
  LEFT JOIN bill_payment p ON p.account_id = e.account_id AND p.expected_payment_id = e.id
  LEFT JOIN LATERAL (
    SELECT a.clock_offset_ms FROM operation_attempt a
    WHERE a.account_id = o.account_id AND a.operation_id = o.id ORDER BY a.number DESC LIMIT 1
  ) attempt ON true
  CROSS JOIN LATERAL (
    SELECT COALESCE(c.bank_due_date, e.due_date) AS due_date,
           GREATEST(o.effective_from, p.scheduled_for, o.ended_at
             + COALESCE(attempt.clock_offset_ms, ${clockOffsetMs}) * interval '1 millisecond')
               AS effective_at
  ) term`;

const dayOf = (instant: Prisma.Sql) =>
  Prisma.sql`to_char((${instant}) AT TIME ZONE 'UTC' - interval '3 hours', 'YYYY-MM-DD')`;

/**
 * Whether the deadline has passed without a line. Payments of a free amount and multi-use QR codes
 * have no deadline. An operation of unknown outcome has its own kind of break.
 */
const isMissing = ({ until, debitedBy }: DueLimits) => Prisma.sql`
  e.withdrawn_at IS NULL AND NOT e.is_multi_use AND e.amount_cents IS NOT NULL
    AND o.state = 'succeeded'
  AND CASE
    WHEN e.is_credit THEN c.cancelled_at IS NULL AND COALESCE(term.due_date <= ${until}, false)
    WHEN p.id IS NOT NULL THEN p.state = 'paid'
      AND ${dayOf(Prisma.sql`term.effective_at`)} <= ${until}
    ELSE COALESCE(t.state, 'accepted') NOT IN ('failed', 'rejected')
      AND term.effective_at <= ${debitedBy} END
  AND NOT EXISTS (
    SELECT 1 FROM match m
    WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL
      AND m.role = 'payment')`;

/** The missing payments among those that became due, or changed, since the last check. */
export async function listMissing(
  db: Db,
  accountId: number,
  since: CheckedSince,
  due: DueLimits,
): Promise<MissingPayment[]> {
  return db.$queryRaw<MissingPayment[]>`
    WITH checked AS (
      SELECT id FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND due_date > ${since.due}
        AND due_date <= ${due.until}
      UNION
      SELECT expected_payment_id FROM charge
      WHERE account_id = ${opaqueAccountId(accountId)} AND bank_due_date <> due_date
        AND bank_due_date <= ${due.until}
        AND (bank_due_date > ${since.due} OR checked_at > ${since.changedAt})
      UNION
      SELECT e.id FROM operation o
      JOIN expected_payment e ON e.account_id = o.account_id AND e.operation_id = o.id
      WHERE o.account_id = ${opaqueAccountId(accountId)} AND o.ended_at > ${since.endedAt}
        AND o.state = 'succeeded'
      UNION
      SELECT expected_payment_id FROM bill_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND state = 'paid'
        AND ${due.until} > ${since.due}
      UNION
      SELECT expected_payment_id FROM match
      WHERE account_id = ${opaqueAccountId(accountId)} AND unlinked_at > ${since.changedAt}
    )
    SELECT e.id AS "expectedPaymentId", o.id AS "operationId", o.kind AS "operationKind",
           e.amount_cents AS "amountCents", term.effective_at AS "effectiveAt",
           CASE WHEN e.is_credit THEN term.due_date
                WHEN p.id IS NOT NULL THEN ${dayOf(Prisma.sql`term.effective_at`)} END AS "dueDate"
    FROM checked JOIN ${expectedWithTerms(due.clockOffsetMs)}
      ON e.account_id = ${opaqueAccountId(accountId)} AND e.id = checked.id
    WHERE ${isMissing(due)}
    ORDER BY e.id`;
}

/** Resolves breaks whose payment arrived, is no longer expected, or has a later deadline. */
export async function resolveFoundPayments(
  tx: Tx,
  accountId: number,
  due: DueLimits,
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now()
    WHERE break.account_id = ${opaqueAccountId(accountId)} AND break.kind = 'missing'
      AND break.state = 'open'
      AND NOT EXISTS (
        SELECT 1 FROM ${expectedWithTerms(due.clockOffsetMs)}
        WHERE e.account_id = break.account_id AND e.id = break.expected_payment_id
          AND ${isMissing(due)})
    RETURNING ${reportedColumns}`;
}

export async function recordMissingCheck(
  tx: Tx,
  accountId: number,
  { now, bankTime }: MissingCheckState,
  dueUntil: string,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE reconciliation_state
    SET missing_due_until = ${dueUntil}, missing_checked_at = ${now},
      missing_bank_time = ${bankTime}
    WHERE account_id = ${opaqueAccountId(accountId)}`;
}

/** Accounts whose last complete sync is at least `pauseMs` newer than their last check. */
export async function listAccountsToCheck(
  db: Db,
  pauseMs: number,
): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT s.account_id AS "accountId" FROM statement_state s
    LEFT JOIN reconciliation_state r ON r.account_id = s.account_id
    WHERE s.last_sync_started_at IS NOT NULL AND (r.missing_bank_time IS NULL
      OR s.last_sync_started_at + s.clock_offset_ms * interval '1 millisecond'
        >= r.missing_bank_time + ${pauseMs} * interval '1 millisecond')`;
}
