// Reads what the database knows about an operation with an unknown outcome: the statement lines
// matched to it, and whether the period in which its lines must appear is closed and fully decided.
import type { Db } from '../../platform/postgres/database.service.js';
import { isProvisional } from '../../statement/expected-payments/provisional.queries.js';
import { Prisma } from '../../generated/service/client.js';
import type { ClosedPeriod } from '../../statement/lines/closing.js';
import { isAmountDue } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { attemptEnd, attemptStart, hasSteadyClocks } from './attempt-times.queries.js';
import type { OperationRef } from './operations.queries.js';
import type { EffectPeriod } from './effect-period.js';

/** What the statement shows of an expected payment (e). What is provisional shows nothing. */
const shownOf = Prisma.sql`
  SELECT count(*) FILTER (WHERE NOT live.is_provisional) > 0 AS is_shown,
         bool_or(live.is_provisional) AS has_provisional,
         max(live.created_at) FILTER (WHERE NOT live.is_provisional) AS matched_at
  FROM (
    SELECT m.created_at, ${isProvisional('m')} AS is_provisional
    FROM match m
    WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id
      AND m.role = 'payment' AND m.unlinked_at IS NULL
  ) live`;
/**
 * An outgoing payment is matched when its full amount is matched. An incoming payment is matched by
 * any amount, because any payment shows that the charge exists.
 */
const isMatched = Prisma.sql`
  (shown.is_shown AND (e.is_credit OR e.amount_cents IS NULL
    OR NOT shown.has_provisional AND e.amount_cents <= COALESCE((
      SELECT paid_cents FROM expected_payment_total
      WHERE account_id = e.account_id AND expected_payment_id = e.id), 0)))`;

/** The ids of the expected payments of an operation, by how far the statement matches them. */
export interface StatementEvidence {
  matched: string[];
  partlyMatched: string[];
  unmatched: string[];
  /** When the last line of the operation was matched; null while there is none. */
  lastMatchedAt: Date | null;
}

export async function readStatementEvidence(
  db: Db,
  { accountId, id }: OperationRef,
): Promise<StatementEvidence> {
  const rows = await db.$queryRaw<
    { id: string; isMatched: boolean; hasMatch: boolean; matchedAt: Date | null }[]
  >`
    SELECT e.id, ${isMatched} AS "isMatched", shown.is_shown AS "hasMatch", shown.matched_at
    FROM expected_payment e CROSS JOIN LATERAL (${shownOf}) shown
    WHERE e.account_id = ${accountId} AND e.operation_id = ${id}::uuid ORDER BY e.id`;
  const idsOf = (some: typeof rows) => some.map((row) => row.id);
  const times = rows.flatMap(({ matchedAt }) => matchedAt?.getTime() ?? []);
  return {
    matched: idsOf(rows.filter((row) => row.isMatched)),
    partlyMatched: idsOf(rows.filter((row) => row.hasMatch && !row.isMatched)),
    unmatched: idsOf(rows.filter((row) => !row.hasMatch)),
    lastMatchedAt: times.length > 0 ? new Date(Math.max(...times)) : null,
  };
}

/**
 * Operations whose state the statement contradicts. For `not_executed`, any matched line does. For
 * `needs_operator`, every expected payment must be matched.
 */
export async function listOperationsContradictedByStatement(
  db: Db,
  limit: number,
): Promise<OperationRef[]> {
  return db.$queryRaw<OperationRef[]>`
    SELECT o.account_id, o.id FROM operation o
    WHERE o.state IN ('not_executed', 'needs_operator')
      AND (SELECT CASE WHEN o.state = 'not_executed' THEN bool_or(shown.is_shown)
                       ELSE bool_and(${isMatched}) END
           FROM expected_payment e CROSS JOIN LATERAL (${shownOf}) shown
           WHERE e.account_id = o.account_id AND e.operation_id = o.id)
    LIMIT ${limit}`;
}

/** When the attempts were made, by the bank's clock, and how far the statement is closed. */
export interface SendingTimes extends ClosedPeriod {
  firstStartedAt: Date;
  lastSendBy: Date;
  /** When the last line of the operation was matched; null while there is none. */
  lastMatchedAt: Date | null;
  bankTime: Date;
  /** Whether no clock was set since before the first attempt. */
  hasSteadyClocks: boolean;
}

/**
 * Stores the offset of the bank's clock that the first sync after an attempt measured. A later
 * offset may come from a clock that was set again, so it does not apply to the attempt.
 */
export async function recordClockOffsetAfter(
  db: Db,
  { accountId, id }: OperationRef,
): Promise<void> {
  await db.$executeRaw`
    UPDATE operation_attempt a
    SET clock_offset_after_ms = s.clock_offset_ms,
        clock_offset_after_max_ms = s.clock_offset_max_ms
    FROM statement_state s
    WHERE a.account_id = ${accountId} AND a.operation_id = ${id}::uuid
      AND a.clock_offset_after_ms IS NULL
      AND s.account_id = a.account_id AND s.clock_measured_at > a.send_by`;
}

/** Null before the first attempt. */
export async function readSendingTimes(
  db: Db,
  { accountId, id }: OperationRef,
): Promise<SendingTimes | null> {
  const [times] = await db.$queryRaw<
    (Omit<SendingTimes, 'firstStartedAt'> & Partial<SendingTimes>)[]
  >`
    WITH state AS (
      SELECT COALESCE(max(clock_offset_ms), 0) AS clock_offset_ms,
             COALESCE(max(clock_offset_max_ms), 0) AS clock_offset_max_ms,
             max(closed_from) AS closed_from, max(closed_until) AS closed_until
      FROM statement_state WHERE account_id = ${accountId}
    )
    SELECT min(${attemptStart}) AS "firstStartedAt", max(${attemptEnd}) AS "lastSendBy",
           bool_and(${hasSteadyClocks}) AS "hasSteadyClocks",
           clock_timestamp() + s.clock_offset_ms * interval '1 millisecond' AS "bankTime",
           (SELECT max(m.created_at) FROM expected_payment e
            JOIN match m ON m.account_id = e.account_id AND m.expected_payment_id = e.id
              AND m.unlinked_at IS NULL
            WHERE e.account_id = ${accountId} AND e.operation_id = ${id}::uuid)
             + s.clock_offset_max_ms * interval '1 millisecond' AS "lastMatchedAt",
           s.closed_from, s.closed_until
    FROM state s
    JOIN operation_attempt a ON a.account_id = ${accountId} AND a.operation_id = ${id}::uuid
    GROUP BY s.clock_offset_ms, s.clock_offset_max_ms, s.closed_from, s.closed_until`;
  return (times as SendingTimes | undefined) ?? null;
}

/**
 * Whether every line of the period is decided and none can be one of these expected payments of the
 * operation. False while a line that was stored since the first attempt is unreadable, while a
 * subject of one of their amounts is due to be decided, and while a debit of one of their amounts
 * waits for a decision or is explained by nothing but a rule of the account.
 */
export async function isAbsentFromPeriod(
  db: Db,
  { accountId, id }: OperationRef,
  { from, until }: EffectPeriod,
  expectedPaymentIds: readonly string[],
): Promise<boolean> {
  const ids = [...expectedPaymentIds];
  const [found] = await db.$queryRaw<{ isAbsent: boolean }[]>`
    WITH expected AS (
      SELECT e.amount_cents FROM expected_payment e
      WHERE e.account_id = ${accountId} AND e.operation_id = ${id}::uuid
        AND e.id = ANY (${ids}::uuid[])
    ), line AS (
      SELECT t.nsu, t.arrival, t.is_credit, t.amount_cents FROM statement_line t
      WHERE t.account_id = ${accountId} AND t.occurred_at >= ${from} AND t.occurred_at < ${until}
    )
    SELECT NOT ${isAmountDue(accountId, Prisma.sql`SELECT amount_cents FROM expected`)}
    AND NOT EXISTS (
      SELECT 1 FROM line WHERE arrival > COALESCE(
        (SELECT decided_arrival FROM reconciliation_state WHERE account_id = ${accountId}), 0)
    ) AND NOT EXISTS (
      SELECT 1 FROM unreadable_line u
      WHERE u.account_id = ${accountId} AND u.resolved_at IS NULL AND u.recorded_at >= (
        SELECT min(started_at) FROM operation_attempt
        WHERE account_id = ${accountId} AND operation_id = ${id}::uuid)
    ) AND NOT EXISTS (
      SELECT 1 FROM line l
      WHERE NOT l.is_credit AND l.amount_cents IN (SELECT amount_cents FROM expected)
        AND NOT EXISTS (SELECT 1 FROM match m
                        WHERE m.account_id = ${accountId} AND m.nsu = l.nsu
                          AND m.unlinked_at IS NULL
                          AND NOT ${isProvisional('m')})
        -- A rule of the account says what a line is for, not that it is no payment of ours.
        AND NOT EXISTS (SELECT 1 FROM classification c
                        WHERE c.account_id = ${accountId} AND c.nsu = l.nsu
                          AND c.rule <> 'declared')
    ) AND NOT EXISTS (
      -- A rule found a line that may be the payment; whether it is, is not final.
      SELECT 1 FROM match m WHERE m.account_id = ${accountId}
        AND m.expected_payment_id = ANY (${ids}::uuid[])
        AND m.unlinked_at IS NULL AND ${isProvisional('m')}
    ) AND NOT EXISTS (
      -- A line references the payment but differs from it, so the bank executed something.
      SELECT 1 FROM break b WHERE b.account_id = ${accountId} AND b.state = 'open'
        AND b.nsu IS NOT NULL AND b.expected_payment_id = ANY (${ids}::uuid[])
    ) AS "isAbsent"`;
  return found?.isAbsent ?? false;
}
