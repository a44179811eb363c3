// The SQL of closing: what is closed, who waits for more, and the end of a span that two readings agreed on.
import type { Db, Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { findGap } from './chain.queries.js';
import type { Span } from './closing.js';
import type { Sync } from './statement.queries.js';

export interface ClosedSpan {
  closedFrom: Date | null;
  closedUntil: Date | null;
  /**
   * When, by the bank's clock and with room, the first request left of an operation that waits for a closed span, or
   * the first scheduled payment was due that has not been seen; or the first Pix came that a policy would give back.
   */
  neededFrom: Date | null;
  /** When the first day began that is over and visible whole, and has no close. */
  daysFrom: Date | null;
}

/** When a day of the statement begins, by its date as text. */
const startOf = (date: Prisma.Sql) =>
  Prisma.sql`((${date}::date + interval '3 hours') AT TIME ZONE 'UTC')`;
/** The day that waits for its close (d) is over by the bank's clock (s), and all of it has shown. */
const dayIsOver = (
  boundMs: number,
) => Prisma.sql`${startOf(Prisma.sql`d.next_date`)} + interval '1 day'
  <= clock_timestamp() + (s.clock_offset_ms - ${boundMs}) * interval '1 millisecond'`;

export async function readClosed(db: Db, accountId: number, boundMs: number): Promise<ClosedSpan> {
  const [closed] = await db.$queryRaw<ClosedSpan[]>`
    SELECT s.closed_from AS "closedFrom", s.closed_until AS "closedUntil",
           LEAST(needed.since, scheduled.since, refundable.since) AS "neededFrom", days.since AS "daysFrom"
    FROM statement_state s
    CROSS JOIN LATERAL (
      SELECT min(a.started_at + LEAST(a.clock_offset_ms, s.clock_offset_ms) * interval '1 millisecond')
             - interval '1 hour' AS since
      FROM operation o
      JOIN operation_attempt a ON a.account_id = o.account_id AND a.operation_id = o.id
      WHERE o.account_id = s.account_id AND o.state = 'unknown' AND o.next_action_at IS NOT NULL
    ) needed
    CROSS JOIN LATERAL (
      SELECT min(p.scheduled_for) - interval '1 hour' AS since FROM bill_payment p
      WHERE p.account_id = s.account_id AND p.state = 'scheduled'
        AND p.scheduled_for <= clock_timestamp() + s.clock_offset_ms * interval '1 millisecond'
    ) scheduled
    LEFT JOIN LATERAL (
      SELECT ${startOf(Prisma.sql`d.next_date`)} AS since FROM day_close_state d
      WHERE d.account_id = s.account_id AND ${dayIsOver(boundMs)}
    ) days ON true
    CROSS JOIN LATERAL (
      SELECT min(t.occurred_at) AS since FROM refund_policy p
      JOIN break b ON b.account_id = p.account_id AND b.kind = p.break_kind AND b.state = 'open'
        AND b.opened_at > p.changed_at
      JOIN statement_line t ON t.account_id = b.account_id AND t.nsu = b.nsu
      WHERE p.account_id = s.account_id AND p.is_on
        AND (t.occurred_at >= s.closed_from AND t.occurred_at < s.closed_until) IS NOT TRUE
    ) refundable
    WHERE s.account_id = ${accountId}`;
  return closed ?? { closedFrom: null, closedUntil: null, neededFrom: null, daysFrom: null };
}

/** How many lines the mirror has from an instant on. */
export async function countLinesFrom(db: Db, accountId: number, from: Date): Promise<number> {
  return db.statementLine.count({ where: { accountId, occurredAt: { gte: from } } });
}

/** When the line happened that is one more than so many, counted from the end of the span that touches what is closed. */
export async function findCut(
  db: Db,
  accountId: number,
  { isForward, from, until }: Span,
  mostLines: number,
): Promise<Date | null> {
  const line = await db.statementLine.findFirst({
    where: { accountId, occurredAt: { gte: from, lt: until } },
    orderBy: { occurredAt: isForward ? 'asc' : 'desc' },
    skip: mostLines,
    select: { occurredAt: true },
  });
  return line?.occurredAt ?? null;
}

/** Whether the chain of balances is broken within the span, or where it begins. */
export async function hasBrokenLink(tx: Tx, accountId: number, span: Span): Promise<boolean> {
  const [bounds] = await tx.$queryRaw<{ lowest: bigint | null; highest: bigint | null }[]>`
    SELECT min(nsu) AS lowest, max(nsu) AS highest FROM statement_line
    WHERE account_id = ${accountId} AND occurred_at >= ${span.from} AND occurred_at < ${span.until}`;
  if (!bounds?.lowest) return false;
  return (await findGap(tx, accountId, bounds.lowest, bounds.highest)).gap !== null;
}

/** Notes that the span is closed: it lengthens what was closed where they touch, and takes its place where not. */
export async function recordClosed(
  tx: Tx,
  { accountId, token }: Sync,
  { from, until }: Span,
): Promise<void> {
  const touches = Prisma.sql`(closed_until >= ${from} AND closed_from <= ${until})`;
  await tx.$executeRaw`
    UPDATE statement_state
    SET closed_from = CASE WHEN ${touches} THEN LEAST(closed_from, ${from}) ELSE ${from} END,
        closed_until = CASE WHEN ${touches} THEN GREATEST(closed_until, ${until}) ELSE ${until} END
    WHERE account_id = ${accountId} AND sync_token = ${token}::uuid`;
}

/** After readings that closed nothing the sweeper waits, longer each time up to ten minutes. */
export async function recordAttempt(db: Db, accountId: number, isClosed: boolean): Promise<void> {
  await db.$executeRaw`
    UPDATE statement_state
    SET closing_failures = CASE WHEN ${isClosed} THEN 0 ELSE closing_failures + 1 END,
        closing_next_at = CASE WHEN NOT ${isClosed}
          THEN clock_timestamp() + LEAST(5 * 2 ^ LEAST(closing_failures, 10), 600) * interval '1 second' END
    WHERE account_id = ${accountId}`;
}

/** Accounts with a day that is over and lies outside of what is closed. */
export async function listToClose(db: Db, boundMs: number): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT s.account_id AS "accountId" FROM day_close_state d
    JOIN statement_state s ON s.account_id = d.account_id
    WHERE ${dayIsOver(boundMs)} AND COALESCE(s.closing_next_at <= clock_timestamp(), true)
      AND COALESCE(s.closed_from > ${startOf(Prisma.sql`d.next_date`)}
        OR s.closed_until < ${startOf(Prisma.sql`d.next_date`)} + interval '1 day', true)`;
}
