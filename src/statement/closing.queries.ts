// The SQL of closing: what is closed, who waits for more, and the end of a span that two readings agreed on.
import type { Db, Tx } from '../database.service.js';
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
}

export async function readClosed(db: Db, accountId: number): Promise<ClosedSpan> {
  const [closed] = await db.$queryRaw<ClosedSpan[]>`
    SELECT s.closed_from AS "closedFrom", s.closed_until AS "closedUntil",
           LEAST(needed.since, scheduled.since, refundable.since) AS "neededFrom"
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
    CROSS JOIN LATERAL (
      SELECT min(t.occurred_at) AS since FROM refund_policy p
      JOIN break b ON b.account_id = p.account_id AND b.kind = p.break_kind AND b.state = 'open'
        AND b.opened_at > p.changed_at
      JOIN "transaction" t ON t.account_id = b.account_id AND t.nsu = b.nsu
      WHERE p.account_id = s.account_id AND p.is_on
        AND (t.occurred_at >= s.closed_from AND t.occurred_at < s.closed_until) IS NOT TRUE
    ) refundable
    WHERE s.account_id = ${accountId}`;
  return closed ?? { closedFrom: null, closedUntil: null, neededFrom: null };
}

/** How many lines the mirror has from an instant on. */
export async function countLinesFrom(db: Db, accountId: number, from: Date): Promise<number> {
  return db.transaction.count({ where: { accountId, occurredAt: { gte: from } } });
}

/** Whether the chain of balances is broken within the span, or where it begins. */
export async function hasBrokenLink(tx: Tx, accountId: number, span: Span): Promise<boolean> {
  const [found] = await tx.$queryRaw<{ broken: boolean }[]>`
    WITH bounds AS (
      SELECT min(nsu) AS lowest, max(nsu) AS highest FROM "transaction"
      WHERE account_id = ${accountId} AND occurred_at >= ${span.from} AND occurred_at < ${span.until}
    ), lines AS (
      SELECT t.nsu, balance_previous_cents AS previous, current_balance_cents AS current,
             CASE WHEN is_credit THEN amount_cents ELSE -amount_cents END AS signed_cents,
             lag(current_balance_cents) OVER (ORDER BY t.nsu) AS neighbour
      FROM "transaction" t, bounds
      WHERE t.account_id = ${accountId} AND t.nsu <= bounds.highest AND t.nsu >= COALESCE(
        (SELECT max(nsu) FROM "transaction" WHERE account_id = ${accountId} AND nsu < bounds.lowest),
        bounds.lowest)
    )
    SELECT EXISTS (
      SELECT 1 FROM lines, bounds WHERE nsu >= bounds.lowest
        AND (previous + signed_cents <> current OR neighbour <> previous)
    ) AS broken`;
  return found?.broken ?? false;
}

/** Notes that the span is closed: it lengthens the one before where they touch, and takes its place where not. */
export async function recordClosed(
  tx: Tx,
  { accountId, token }: Sync,
  { from, until }: Span,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE statement_state
    SET closed_from = CASE WHEN closed_until >= ${from} THEN LEAST(closed_from, ${from}) ELSE ${from} END,
        closed_until = CASE WHEN closed_until >= ${from} THEN GREATEST(closed_until, ${until}) ELSE ${until} END
    WHERE account_id = ${accountId} AND sync_token = ${token}::uuid`;
}
