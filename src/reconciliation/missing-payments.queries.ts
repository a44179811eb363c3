// What was expected, has a deadline, and has not come. A look costs what has become due, or has changed, since the last.
import { ofAccount, type Db, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { reportedColumns, type ReportedBreak } from './breaks.queries.js';

/** How far the statement can be seen, and how far it was looked over before. */
export interface Sight {
  /** The bank's time when the last complete poll began: what was on the statement by then is known. */
  bankTime: Date;
  /** The bank's clock less the database's. */
  clockOffsetMs: bigint;
  /** The database's. */
  now: Date;
  /** Whether each line is judged: one that is not may be the payment. */
  isDecided: boolean;
  dueUntil: string | null;
  lookedAt: Date | null;
  lookedBankTime: Date | null;
}

export async function readSight(db: Db, accountId: number): Promise<Sight | null> {
  const [sight] = await db.$queryRaw<Sight[]>`
    SELECT s.last_sync_started_at + s.clock_offset_ms * interval '1 millisecond' AS "bankTime",
           s.clock_offset_ms AS "clockOffsetMs", clock_timestamp() AS now,
           r.missing_due_until AS "dueUntil", r.missing_checked_at AS "lookedAt",
           r.missing_bank_time AS "lookedBankTime",
           COALESCE((SELECT max(t.arrival) FROM statement_line t WHERE t.account_id = s.account_id)
             <= COALESCE(r.decided_arrival, 0), true) AS "isDecided"
    FROM statement_state s LEFT JOIN reconciliation_state r ON r.account_id = s.account_id
    WHERE s.account_id = ${ofAccount(accountId)} AND s.last_sync_started_at IS NOT NULL`;
  return sight ?? null;
}

/** Up to when something counts as due. */
export interface Due {
  /** The last due date, and the last day of a paid bill, that is missing. */
  until: string;
  /** The bank's time up to which a debit must have gone out to be missing. */
  goneBy: Date;
  clockOffsetMs: bigint;
}

/** Since when something counts as new. */
export interface Since {
  /** The last due date that was looked at; empty for none. */
  due: string;
  /** Changes from here on, by the database's clock. */
  changedAt: Date;
  /** Operations that ended from here on, by the database's clock: their debits were not due at the last look. */
  endedAt: Date;
}

export interface MissingPayment {
  expectedPaymentId: string;
  operationId: string;
  operationKind: string;
  amountCents: bigint;
  /** Of a bill, the day on which it was paid; null where an hour counts. */
  dueDate: string | null;
  /** Of a debit: when, by the bank's clock, it should have gone out. */
  goesAt: Date;
}

/** The expected payments (e) with what is known of each; o, c, t, p: its operation, and the thing that it is of. */
const known = (clockOffsetMs: bigint) => Prisma.sql`
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
             + COALESCE(attempt.clock_offset_ms, ${clockOffsetMs}) * interval '1 millisecond') AS goes_at
  ) term`;

const dayOf = (instant: Prisma.Sql) =>
  Prisma.sql`to_char((${instant}) AT TIME ZONE 'UTC' - interval '3 hours', 'YYYY-MM-DD')`;

/**
 * Its deadline has passed, and nothing came. What the payer chooses, or may pay many times, has none; an operation whose
 * end is not known has a break of its own.
 */
const isMissing = ({ until, goneBy }: Due) => Prisma.sql`
  e.withdrawn_at IS NULL AND NOT e.is_multi_use AND e.amount_cents IS NOT NULL AND o.state = 'succeeded'
  AND CASE
    WHEN e.is_credit THEN c.cancelled_at IS NULL AND COALESCE(term.due_date <= ${until}, false)
    WHEN p.id IS NOT NULL THEN p.state = 'paid' AND ${dayOf(Prisma.sql`term.goes_at`)} <= ${until}
    ELSE COALESCE(t.state, 'accepted') NOT IN ('failed', 'rejected') AND term.goes_at <= ${goneBy} END
  AND NOT EXISTS (
    SELECT 1 FROM match m
    WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL
      AND m.role = 'payment')`;

/** What is missing of what came due, or changed, since. */
export async function listMissing(
  db: Db,
  accountId: number,
  since: Since,
  due: Due,
): Promise<MissingPayment[]> {
  return db.$queryRaw<MissingPayment[]>`
    WITH looked_at AS (
      SELECT id FROM expected_payment
      WHERE account_id = ${ofAccount(accountId)} AND due_date > ${since.due} AND due_date <= ${due.until}
      UNION
      SELECT expected_payment_id FROM charge
      WHERE account_id = ${ofAccount(accountId)} AND bank_due_date <> due_date AND bank_due_date <= ${due.until}
        AND (bank_due_date > ${since.due} OR checked_at > ${since.changedAt})
      UNION
      SELECT e.id FROM operation o
      JOIN expected_payment e ON e.account_id = o.account_id AND e.operation_id = o.id
      WHERE o.account_id = ${ofAccount(accountId)} AND o.ended_at > ${since.endedAt} AND o.state = 'succeeded'
      UNION
      SELECT expected_payment_id FROM bill_payment
      WHERE account_id = ${ofAccount(accountId)} AND state = 'paid' AND ${due.until} > ${since.due}
      UNION
      SELECT expected_payment_id FROM match
      WHERE account_id = ${ofAccount(accountId)} AND unlinked_at > ${since.changedAt}
    )
    SELECT e.id AS "expectedPaymentId", o.id AS "operationId", o.kind AS "operationKind",
           e.amount_cents AS "amountCents", term.goes_at AS "goesAt",
           CASE WHEN e.is_credit THEN term.due_date
                WHEN p.id IS NOT NULL THEN ${dayOf(Prisma.sql`term.goes_at`)} END AS "dueDate"
    FROM looked_at JOIN ${known(due.clockOffsetMs)} ON e.account_id = ${ofAccount(accountId)} AND e.id = looked_at.id
    WHERE ${isMissing(due)}
    ORDER BY e.id`;
}

/** It came, or nothing is to come any more, or it may come later. */
export async function resolveFound(tx: Tx, accountId: number, due: Due): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now()
    WHERE break.account_id = ${ofAccount(accountId)} AND break.kind = 'missing' AND break.state = 'open'
      AND NOT EXISTS (
        SELECT 1 FROM ${known(due.clockOffsetMs)}
        WHERE e.account_id = break.account_id AND e.id = break.expected_payment_id AND ${isMissing(due)})
    RETURNING ${reportedColumns}`;
}

export async function recordLook(
  tx: Tx,
  accountId: number,
  { now, bankTime }: Sight,
  dueUntil: string,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE reconciliation_state
    SET missing_due_until = ${dueUntil}, missing_checked_at = ${now}, missing_bank_time = ${bankTime}
    WHERE account_id = ${ofAccount(accountId)}`;
}

/** Accounts whose statement was read so much later than it was last looked over. */
export async function listAccountsToLookAt(
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
