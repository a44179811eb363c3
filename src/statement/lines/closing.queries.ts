// Reads the closed period of the statement and the needs for a longer closed period. Extends the
// closed period after two full reads agreed.
import { ongoingRestore } from '../../access/accounts/account-restores.queries.js';
import type { Db, Tx, Reader } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { recordRangeTask } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import type { ClosingNeeds, ClosingPeriod } from './closing.js';

type ClosedPeriodState = Omit<ClosingNeeds, 'bankTime' | 'visibilityBoundMs'>;

/** The instant at which a statement day begins: 03:00Z. */
const startOf = (date: Prisma.Sql) =>
  Prisma.sql`((${date}::date + interval '3 hours') AT TIME ZONE 'UTC')`;
/**
 * The next day to close (d) is over by the bank's clock (s), and the visibility bound has passed
 * since.
 */
const dayIsOver = (boundMs: number) =>
  Prisma.sql`${startOf(Prisma.sql`d.next_date`)} + interval '24 hours'
  <= clock_timestamp() + (s.clock_offset_ms - ${boundMs}) * interval '1 millisecond'`;

/**
 * The closed period, and the bank's time from which a closed period is needed, the earliest of
 * - the first attempt of an operation whose outcome is unknown, less one hour;
 * - the due time of a scheduled bill payment that is overdue, less one hour;
 * - the first line, outside the closed period, that a refund policy would refund;
 * - the time from which a restored database may lack operations, while the restore is not over.
 *
 * `dayCloseFrom` is the start of the first day without a day close, if that day is over and older
 * than the visibility bound.
 */
export async function readClosedPeriod(
  db: Db,
  accountId: number,
  boundMs: number,
): Promise<ClosedPeriodState> {
  const [closed] = await db.$queryRaw<ClosedPeriodState[]>`
    SELECT s.closed_from, s.closed_until,
           LEAST(unknown_outcome.since, scheduled.since, refundable.since, restored.lost_from)
             AS "neededFrom",
           day_close.since AS "dayCloseFrom"
    FROM statement_state s
    CROSS JOIN LATERAL (
      SELECT min(a.started_at
               + LEAST(a.clock_offset_ms, a.clock_offset_after_ms, s.clock_offset_ms)
                 * interval '1 millisecond')
             - interval '1 hour' AS since
      FROM operation o
      JOIN operation_attempt a ON a.account_id = o.account_id AND a.operation_id = o.id
      WHERE o.account_id = s.account_id AND o.state = 'unknown' AND o.next_action_at IS NOT NULL
    ) unknown_outcome
    CROSS JOIN LATERAL (
      SELECT min(p.scheduled_for) - interval '1 hour' AS since FROM bill_payment p
      WHERE p.account_id = s.account_id AND p.state = 'scheduled'
        AND p.scheduled_for <= clock_timestamp() + s.clock_offset_ms * interval '1 millisecond'
    ) scheduled
    LEFT JOIN LATERAL (
      SELECT ${startOf(Prisma.sql`d.next_date`)} AS since FROM day_close_state d
      WHERE d.account_id = s.account_id AND ${dayIsOver(boundMs)}
    ) day_close ON true
    CROSS JOIN LATERAL (
      SELECT min(t.occurred_at) AS since FROM refund_policy p
      JOIN break b ON b.account_id = p.account_id AND b.kind = p.break_kind AND b.state = 'open'
        AND b.opened_at > p.changed_at
      JOIN statement_line t ON t.account_id = b.account_id AND t.nsu = b.nsu
      WHERE p.account_id = s.account_id AND p.is_on
        AND (t.occurred_at >= s.closed_from AND t.occurred_at < s.closed_until) IS NOT TRUE
    ) refundable
    LEFT JOIN LATERAL (${ongoingRestore(Prisma.sql`s.account_id`)}) restored ON true
    WHERE s.account_id = ${accountId}`;
  return closed ?? { closedFrom: null, closedUntil: null, neededFrom: null, dayCloseFrom: null };
}

/**
 * The time of the first line beyond `maxLines`, counted from the end of the period that adjoins the
 * closed period. Null when all lines fit.
 */
export async function findPeriodCut(
  db: Db,
  accountId: number,
  { isForward, from, until }: ClosingPeriod,
  maxLines: number,
): Promise<Date | null> {
  const line = await db.statementLine.findFirst({
    where: { accountId, occurredAt: { gte: from, lt: until } },
    orderBy: { occurredAt: isForward ? 'asc' : 'desc' },
    skip: maxLines,
    select: { occurredAt: true },
  });
  return line?.occurredAt ?? null;
}

/** The highest arrival number of the account's lines. */
export async function findLastArrival(db: Db, accountId: number): Promise<bigint> {
  const last = await db.statementLine.findFirst({
    where: { accountId },
    orderBy: { arrival: 'desc' },
    select: { arrival: true },
  });
  return last?.arrival ?? 0n;
}

/**
 * Whether a line of the period, or between its lowest and highest nsu, was stored after the line
 * with this arrival number. The caller holds the account's statement row.
 */
export async function hasArrivedSince(
  tx: Tx,
  accountId: number,
  arrival: bigint,
  { from, until }: ClosingPeriod,
  { lowestNsu, highestNsu }: { lowestNsu: bigint | null; highestNsu: bigint | null },
): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM statement_line
    WHERE account_id = ${accountId} AND arrival > ${arrival}
      AND (occurred_at >= ${from} AND occurred_at < ${until}
        OR nsu >= ${lowestNsu}::bigint AND nsu <= ${highestNsu}::bigint)
    LIMIT 1`;
  return found.length > 0;
}

/**
 * Records that the period is closed: it extends the closed period if they touch, and replaces it
 * otherwise.
 */
export async function recordClosedPeriod(
  tx: Tx,
  accountId: number,
  { from, until }: ClosingPeriod,
): Promise<void> {
  const touches = Prisma.sql`(closed_until >= ${from} AND closed_from <= ${until})`;
  await tx.$executeRaw`
    UPDATE statement_state
    SET closed_from = CASE WHEN ${touches} THEN LEAST(closed_from, ${from}) ELSE ${from} END,
        closed_until = CASE WHEN ${touches} THEN GREATEST(closed_until, ${until}) ELSE ${until} END
    WHERE account_id = ${accountId}`;
  await recordRangeTask(tx, accountId, 'period');
}

/**
 * Records the end of an attempt. After each failure the sweeper waits longer: from 5 seconds up to
 * ten minutes.
 */
export async function recordClosingAttempt(
  db: Db,
  accountId: number,
  isClosed: boolean,
): Promise<void> {
  await db.$executeRaw`
    UPDATE statement_state
    SET closing_failures = CASE WHEN ${isClosed} THEN 0 ELSE closing_failures + 1 END,
        closing_next_at = CASE WHEN NOT ${isClosed}
          THEN clock_timestamp()
            + LEAST(5 * 2 ^ LEAST(closing_failures, 10), 600) * interval '1 second' END
    WHERE account_id = ${accountId}`;
}

/**
 * Accounts whose next day to close is over and lies outside the closed period, and accounts of a
 * restored database whose statement is not closed over what may be lost.
 */
export async function listAccountsToClose(
  db: Reader,
  boundMs: number,
): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT s.account_id FROM statement_state s
    LEFT JOIN day_close_state d ON d.account_id = s.account_id
    LEFT JOIN LATERAL (${ongoingRestore(Prisma.sql`s.account_id`)}) r ON true
    WHERE COALESCE(s.closing_next_at <= clock_timestamp(), true)
      AND (${dayIsOver(boundMs)}
          AND COALESCE(s.closed_from > ${startOf(Prisma.sql`d.next_date`)}
            OR s.closed_until < ${startOf(Prisma.sql`d.next_date`)} + interval '24 hours', true)
        OR r.restored_at + ${boundMs * 2} * interval '1 millisecond' < clock_timestamp()
          AND COALESCE(s.closed_from > r.lost_from OR s.closed_until < r.restored_at
            + (s.clock_offset_max_ms + ${boundMs}) * interval '1 millisecond', true))`;
}
