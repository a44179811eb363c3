// What the book knows of an operation whose outcome is not known, in SQL: what the statement shows of it, and
// whether the span in which it would show it is closed and explained.
import type { Db } from '../database.service.js';
import type { Key } from './operations.queries.js';
import type { Span } from './execution.js';

/** Every movement that the operation expects was seen: a batch of which some are missing is not seen. */
export async function isSeenOnStatement(db: Db, { accountId, id }: Key): Promise<boolean> {
  const [found] = await db.$queryRaw<{ seen: boolean | null }[]>`
    SELECT bool_and(EXISTS (
      SELECT 1 FROM match m
      WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id
        AND m.role = 'payment' AND m.unlinked_at IS NULL
    )) AS seen
    FROM expected_payment e WHERE e.account_id = ${accountId} AND e.operation_id = ${id}::uuid`;
  return found?.seen ?? false;
}

/** Operations whose verdict a line contradicts: given up for lost, or to the operator, and seen since. */
export async function listContradicted(db: Db, limit: number): Promise<Key[]> {
  return db.$queryRaw<Key[]>`
    SELECT o.account_id AS "accountId", o.id FROM operation o
    WHERE o.state IN ('not_executed', 'needs_operator')
      AND (SELECT bool_and(EXISTS (
             SELECT 1 FROM match m
             WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id
               AND m.role = 'payment' AND m.unlinked_at IS NULL))
           FROM expected_payment e WHERE e.account_id = o.account_id AND e.operation_id = o.id)
    LIMIT ${limit}`;
}

/** When the bank was asked, by its own clock, and how far its statement is closed. */
export interface Sendings {
  firstStartedAt: Date;
  lastSendBy: Date;
  bankTime: Date;
  closedFrom: Date | null;
  closedUntil: Date | null;
}

/** Null before the first attempt. The bank's clock may have been set in between: the wider span counts. */
export async function readSendings(db: Db, { accountId, id }: Key): Promise<Sendings | null> {
  const [sendings] = await db.$queryRaw<(Omit<Sendings, 'firstStartedAt'> & Partial<Sendings>)[]>`
    WITH state AS (
      SELECT COALESCE(max(clock_offset_ms), 0) AS offset_ms, max(closed_from) AS closed_from,
             max(closed_until) AS closed_until
      FROM statement_state WHERE account_id = ${accountId}
    )
    SELECT min(a.started_at + LEAST(a.clock_offset_ms, s.offset_ms) * interval '1 millisecond') AS "firstStartedAt",
           max(a.send_by + GREATEST(a.clock_offset_ms, s.offset_ms) * interval '1 millisecond') AS "lastSendBy",
           clock_timestamp() + s.offset_ms * interval '1 millisecond' AS "bankTime",
           s.closed_from AS "closedFrom", s.closed_until AS "closedUntil"
    FROM state s
    JOIN operation_attempt a ON a.account_id = ${accountId} AND a.operation_id = ${id}::uuid
    GROUP BY s.offset_ms, s.closed_from, s.closed_until`;
  return (sendings as Sendings | undefined) ?? null;
}

/**
 * Whether all lines of the span were judged and none of them is, or could be, a movement of the operation: no match,
 * no line set aside unread since it was sent, no debit that waits to be judged, and none without an explanation that
 * is of an amount that the operation expects.
 */
export async function isSpanFreeOf(
  db: Db,
  { accountId, id }: Key,
  { from, until }: Span,
): Promise<boolean> {
  const [found] = await db.$queryRaw<{ free: boolean }[]>`
    WITH expected AS (
      SELECT e.id, e.amount_cents FROM expected_payment e
      WHERE e.account_id = ${accountId} AND e.operation_id = ${id}::uuid
    ), line AS (
      SELECT t.nsu, t.arrival, t.is_credit, t.amount_cents FROM "transaction" t
      WHERE t.account_id = ${accountId} AND t.occurred_at >= ${from} AND t.occurred_at < ${until}
    )
    SELECT NOT EXISTS (
      SELECT 1 FROM expected e
      JOIN match m ON m.account_id = ${accountId} AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL
    ) AND NOT EXISTS (
      SELECT 1 FROM line WHERE arrival > COALESCE(
        (SELECT judged_arrival FROM reconciliation_state WHERE account_id = ${accountId}), 0)
    ) AND NOT EXISTS (
      SELECT 1 FROM deferred_line d
      JOIN "transaction" t ON t.account_id = d.account_id AND t.nsu = d.nsu
      WHERE d.account_id = ${accountId} AND NOT t.is_credit AND t.occurred_at >= ${from}
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
    ) AS free`;
  return found?.free ?? false;
}

/** The oldest operation that a new one may be a second request for; see PossibleDuplicates. */
export async function findLookalike(
  db: Db,
  of: {
    accountId: number;
    kind: string;
    counterparty: string;
    amountCents: bigint;
    isToldApart: boolean;
  },
  { sendingForMs, endedWithinMs }: { sendingForMs: number; endedWithinMs: number | null },
): Promise<{ id: string; isOpen: boolean } | null> {
  const [found] = await db.$queryRaw<{ id: string; isOpen: boolean }[]>`
    SELECT o.id, o.state <> 'succeeded' AS "isOpen" FROM operation o
    WHERE o.account_id = ${of.accountId} AND o.kind = ${of.kind}
      -- An account of the bank itself is named by its number alone, or in full as any bank's.
      AND (o.counterparty IN (${of.counterparty}, split_part(${of.counterparty}, '/', 3))
        OR split_part(o.counterparty, '/', 3) = ${of.counterparty})
      AND o.amount_cents = ${of.amountCents} AND NOT (o.is_told_apart AND ${of.isToldApart})
      AND (o.state IN ('unknown', 'needs_operator')
        OR (o.state IN ('received', 'sending')
            AND o.created_at < clock_timestamp() - ${sendingForMs} * interval '1 millisecond')
        OR (o.state = 'succeeded'
            AND o.ended_at > clock_timestamp() - ${endedWithinMs}::float8 * interval '1 millisecond'))
    ORDER BY o.state = 'succeeded', o.id LIMIT 1`;
  return found ?? null;
}
