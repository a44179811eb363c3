// What the book knows of an operation whose outcome is not known, in SQL: what the statement shows of it, and
// whether the span in which it would show it is closed and explained.
import type { Db, Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { advisoryLocks } from '../platform/advisory-locks.js';
import type { Key } from './operations.queries.js';
import type { Span } from './execution.js';

const paidOf = Prisma.sql`
  SELECT sum(m.amount_cents) AS cents, max(m.created_at) AS seen_at FROM match m
  WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id
    AND m.role = 'payment' AND m.unlinked_at IS NULL`;
/** Money that goes out is there when all of it is; what asks for money exists as soon as any was paid. */
const isSeen = Prisma.sql`
  (paid.cents IS NOT NULL AND (e.is_credit OR e.amount_cents IS NULL OR paid.cents >= e.amount_cents))`;

/** What the statement shows of an operation's expected payments. */
export interface Sightings {
  /** Those that are there in full. */
  seen: string[];
  /** Those of which there is a part. */
  begun: string[];
  /** Those of which there is nothing. */
  unseen: string[];
  /** When the last line of it was judged; null while there is none. */
  lastSeenAt: Date | null;
}

export async function readSightings(db: Db, { accountId, id }: Key): Promise<Sightings> {
  const rows = await db.$queryRaw<
    { id: string; isSeen: boolean; isBegun: boolean; seenAt: Date | null }[]
  >`
    SELECT e.id, ${isSeen} AS "isSeen", paid.cents IS NOT NULL AS "isBegun", paid.seen_at AS "seenAt"
    FROM expected_payment e CROSS JOIN LATERAL (${paidOf}) paid
    WHERE e.account_id = ${accountId} AND e.operation_id = ${id}::uuid ORDER BY e.id`;
  const idsOf = (some: typeof rows) => some.map((row) => row.id);
  const times = rows.flatMap(({ seenAt }) => seenAt?.getTime() ?? []);
  return {
    seen: idsOf(rows.filter((row) => row.isSeen)),
    begun: idsOf(rows.filter((row) => row.isBegun && !row.isSeen)),
    unseen: idsOf(rows.filter((row) => !row.isBegun)),
    lastSeenAt: times.length > 0 ? new Date(Math.max(...times)) : null,
  };
}

/**
 * Operations whose verdict a line contradicts: any line of what was given up for lost; of what is the operator's, all
 * that it expects.
 */
export async function listContradicted(db: Db, limit: number): Promise<Key[]> {
  return db.$queryRaw<Key[]>`
    SELECT o.account_id AS "accountId", o.id FROM operation o
    WHERE o.state IN ('not_executed', 'needs_operator')
      AND (SELECT CASE WHEN o.state = 'not_executed' THEN bool_or(paid.cents IS NOT NULL) ELSE bool_and(${isSeen}) END
           FROM expected_payment e CROSS JOIN LATERAL (${paidOf}) paid
           WHERE e.account_id = o.account_id AND e.operation_id = o.id)
    LIMIT ${limit}`;
}

/** When the bank was asked, by its own clock, and how far its statement is closed. */
export interface Sendings {
  firstStartedAt: Date;
  lastSendBy: Date;
  /** When the last line of it was judged; null while there is none. */
  lastSeenAt: Date | null;
  bankTime: Date;
  closedFrom: Date | null;
  closedUntil: Date | null;
}

/**
 * Keeps the bank's time as the first poll after an attempt told it: what is told later, when its clock has been set
 * again, says nothing of when the attempt had its effect.
 */
export async function noteClock(db: Db, { accountId, id }: Key): Promise<void> {
  await db.$executeRaw`
    UPDATE operation_attempt a SET clock_offset_after_ms = s.clock_offset_ms
    FROM statement_state s
    WHERE a.account_id = ${accountId} AND a.operation_id = ${id}::uuid AND a.clock_offset_after_ms IS NULL
      AND s.account_id = a.account_id AND s.last_sync_started_at > a.send_by`;
}

/** Null before the first attempt. The bank's clock may have been set in between: the wider span counts. */
export async function readSendings(db: Db, { accountId, id }: Key): Promise<Sendings | null> {
  const [sendings] = await db.$queryRaw<(Omit<Sendings, 'firstStartedAt'> & Partial<Sendings>)[]>`
    WITH state AS (
      SELECT COALESCE(max(clock_offset_ms), 0) AS offset_ms, max(closed_from) AS closed_from,
             max(closed_until) AS closed_until
      FROM statement_state WHERE account_id = ${accountId}
    )
    SELECT min(a.started_at + LEAST(a.clock_offset_ms, COALESCE(a.clock_offset_after_ms, s.offset_ms))
               * interval '1 millisecond') AS "firstStartedAt",
           max(a.send_by + GREATEST(a.clock_offset_ms, COALESCE(a.clock_offset_after_ms, s.offset_ms))
               * interval '1 millisecond') AS "lastSendBy",
           clock_timestamp() + s.offset_ms * interval '1 millisecond' AS "bankTime",
           (SELECT max(m.created_at) FROM expected_payment e
            JOIN match m ON m.account_id = e.account_id AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL
            WHERE e.account_id = ${accountId} AND e.operation_id = ${id}::uuid)
             + s.offset_ms * interval '1 millisecond' AS "lastSeenAt",
           s.closed_from AS "closedFrom", s.closed_until AS "closedUntil"
    FROM state s
    JOIN operation_attempt a ON a.account_id = ${accountId} AND a.operation_id = ${id}::uuid
    GROUP BY s.offset_ms, s.closed_from, s.closed_until`;
  return (sendings as Sendings | undefined) ?? null;
}

/**
 * Whether all lines of the span were judged and none of them could be one of these expected payments of the operation:
 * no line set aside unread since it was sent, and no debit of an amount among theirs that waits to be judged or has no
 * explanation.
 */
export async function isSpanFreeOf(
  db: Db,
  { accountId, id }: Key,
  { from, until }: Span,
  unseen: readonly string[],
): Promise<boolean> {
  const [found] = await db.$queryRaw<{ free: boolean }[]>`
    WITH expected AS (
      SELECT e.amount_cents FROM expected_payment e
      WHERE e.account_id = ${accountId} AND e.operation_id = ${id}::uuid AND e.id = ANY (${[...unseen]}::uuid[])
    ), line AS (
      SELECT t.nsu, t.arrival, t.is_credit, t.amount_cents FROM statement_line t
      WHERE t.account_id = ${accountId} AND t.occurred_at >= ${from} AND t.occurred_at < ${until}
    )
    SELECT NOT EXISTS (
      SELECT 1 FROM line WHERE arrival > COALESCE(
        (SELECT decided_arrival FROM reconciliation_state WHERE account_id = ${accountId}), 0)
    ) AND NOT EXISTS (
      SELECT 1 FROM unreadable_line u
      WHERE u.account_id = ${accountId} AND u.recorded_at >= (
        SELECT min(started_at) FROM operation_attempt
        WHERE account_id = ${accountId} AND operation_id = ${id}::uuid)
    ) AND NOT EXISTS (
      SELECT 1 FROM line l
      WHERE NOT l.is_credit AND l.amount_cents IN (SELECT amount_cents FROM expected)
        AND NOT EXISTS (SELECT 1 FROM match m
                        WHERE m.account_id = ${accountId} AND m.nsu = l.nsu AND m.unlinked_at IS NULL)
        AND NOT EXISTS (SELECT 1 FROM classification c WHERE c.account_id = ${accountId} AND c.nsu = l.nsu)
    ) AND NOT EXISTS (
      -- A line that names it and is not what was asked for: the bank did something.
      SELECT 1 FROM break b WHERE b.account_id = ${accountId} AND b.state = 'open'
        AND b.kind IN ('amount_mismatch', 'duplicate_payment')
        AND b.expected_payment_id = ANY (${[...unseen]}::uuid[])
    ) AS free`;
  return found?.free ?? false;
}

/** Requests for the same money look for each other one by one: two at once would not see one another. */
export async function lockPossibleDuplicates(tx: Tx, accountId: number): Promise<void> {
  const { possibleDuplicates } = advisoryLocks;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${possibleDuplicates}::int, ${accountId}::int)`;
}

/** The oldest operation that a new one may be a second request for; see PossibleDuplicates. */
export async function findPossibleDuplicate(
  db: Db,
  of: {
    accountId: number;
    kind: string;
    counterparty: string;
    amountCents: bigint;
    isDistinguishable: boolean;
  },
  { sendingForMs, endedWithinMs }: { sendingForMs: number; endedWithinMs: number | null },
): Promise<{ id: string; isLost: boolean } | null> {
  const underWay = Prisma.sql`(o.state IN ('received', 'sending')
    AND o.created_at >= clock_timestamp() - ${sendingForMs} * interval '1 millisecond')`;
  const [found] = await db.$queryRaw<{ id: string; isLost: boolean }[]>`
    SELECT o.id, o.state <> 'succeeded' AND NOT ${underWay} AS "isLost" FROM operation o
    WHERE o.account_id = ${of.accountId} AND o.kind = ${of.kind}
      -- An account of the bank itself is named by its number alone, or in full as any bank's.
      AND (o.counterparty IN (${of.counterparty}, split_part(${of.counterparty}, '/', 3))
        OR split_part(o.counterparty, '/', 3) = ${of.counterparty})
      AND o.amount_cents = ${of.amountCents} AND NOT (o.is_distinguishable AND ${of.isDistinguishable})
      AND (o.state IN ('unknown', 'needs_operator')
        OR (o.state IN ('received', 'sending') AND (${endedWithinMs}::float8 IS NOT NULL OR NOT ${underWay}))
        OR (o.state = 'succeeded'
            AND o.ended_at > clock_timestamp() - ${endedWithinMs}::float8 * interval '1 millisecond'))
    ORDER BY "isLost" DESC, o.id LIMIT 1`;
  return found ?? null;
}
