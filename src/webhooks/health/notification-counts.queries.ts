// Counts how many lines webhooks reported, and after what lag. Each line is counted once, when it
// is compared with the webhooks that came before; a line that none of them reports is counted again
// when a webhook that reports it is processed. So reading costs the same however many lines a
// period has.
import { notifiedTypes } from '../../bank-contract/line-types.js';
import type { Db, SqlTx, Tx } from '../../platform/postgres/database.service.js';
import { Prisma, type StatementLine } from '../../generated/service/client.js';
import { hasUncountedWebhooks } from '../../statement/lines/statement.queries.js';
import type { CountedSpan } from './health-period.js';
import type { RowPlaces } from '../processing/webhook-processing.queries.js';
import {
  accountSince,
  clockTolerance,
  firstReportsByCharge,
  reportsById,
  reportsPayment,
  spansOf,
} from './health.queries.js';

/** Milliseconds from the movement to the webhook, rounded to two significant digits. */
const lagMs = (receivedAt: Prisma.Sql, occurredAt: Prisma.Sql) => Prisma.sql`(
  SELECT round(ms, CASE WHEN ms < 100 THEN 0 ELSE 1 - floor(log(ms))::int END)::bigint
  FROM (SELECT round(GREATEST(0,
    extract(epoch FROM ${receivedAt} - ${occurredAt}) * 1000)) AS ms) lag)`;

/** Adds the counts of `counted` (type_name, occurred_at, lag_ms, lines), by hour and by day. */
const addCounts = (accountId: number, counted: Prisma.Sql) => Prisma.sql`
  INSERT INTO notification_count AS c
    (account_id, is_day, starts_at, type_name, lag_ms, lines)
  SELECT ${accountId}, is_day, starts_at, type_name, lag_ms, sum(lines)
  FROM (${counted}) counted ${spansOf(Prisma.sql`occurred_at`)}
  GROUP BY 2, 3, 4, 5 HAVING sum(lines) <> 0 ORDER BY 2, 3, 4, 5
  ON CONFLICT (account_id, is_day, starts_at, type_name, lag_ms)
    DO UPDATE SET lines = c.lines + EXCLUDED.lines`;

/**
 * Locks the counts of an account. A line and its webhook are then never compared at the same time,
 * without one seeing the other.
 */
export async function lockCounts(tx: Tx, accountId: number): Promise<void> {
  const lock = () => tx.$queryRaw<unknown[]>`
    SELECT 1 FROM webhook_health_state WHERE account_id = ${accountId} FOR UPDATE`;
  if ((await lock()).length > 0) return;
  await tx.$executeRaw`
    INSERT INTO webhook_health_state (account_id) VALUES (${accountId}) ON CONFLICT DO NOTHING`;
  await lock();
}

/** Whether webhooks wait to be processed, or lines to be compared. */
export async function hasUncounted(db: SqlTx, accountId: number): Promise<boolean> {
  const [row] = await db.$queryRaw<{ hasUncounted: boolean }[]>`
    SELECT ${hasUncountedWebhooks(accountId)} AS "hasUncounted"`;
  return row?.hasUncounted ?? false;
}

export interface ComparedLines {
  lines: number;
  /** The lines arrived after the first, until the last of these. */
  after: bigint;
  until: bigint;
}

/**
 * Compares the next lines, in the order of their arrival, with all webhooks that were received. The
 * counts must be locked.
 */
export async function compareNextLines(
  tx: Tx,
  accountId: number,
  limit: number,
): Promise<ComparedLines> {
  const notified = reportsById(accountId).map(
    (reports) => Prisma.sql`
      SELECT t.nsu, e.received_at_bank_time FROM lines t
      CROSS JOIN LATERAL (SELECT * FROM webhook_event e WHERE ${reports} OFFSET 0) e`,
  );
  const from = Prisma.sql`(SELECT min(occurred_at) FROM lines)`;
  const counted = Prisma.sql`
    SELECT type_name, occurred_at, 1 AS lines,
           CASE WHEN received_at_bank_time IS NULL THEN -1
                ELSE ${lagMs(Prisma.sql`received_at_bank_time`, Prisma.sql`occurred_at`)} END
             AS lag_ms
    FROM compared`;
  const [compared] = await tx.$queryRaw<ComparedLines[]>`
    WITH account AS (${accountSince(accountId)}), arrived AS MATERIALIZED (
      SELECT arrival, nsu, type_name, end_to_end_id, correlation_id, occurred_at
      FROM statement_line
      WHERE account_id = ${accountId} AND arrival > (
        SELECT compared_arrival FROM webhook_health_state WHERE account_id = ${accountId})
      ORDER BY arrival LIMIT ${limit}
    ), lines AS MATERIALIZED (
      SELECT arrived.* FROM arrived, account
      WHERE occurred_at >= account.since AND type_name = ANY (${notifiedTypes}::text[])
    ), first AS (
      SELECT nsu, min(received_at_bank_time) AS received_at_bank_time FROM (
        ${Prisma.join(notified, ' UNION ALL ')}
        UNION ALL
        SELECT nsu, received_at_bank_time FROM (${firstReportsByCharge(accountId, from)}) by_charge
      ) notified GROUP BY nsu
    ), compared AS MATERIALIZED (
      SELECT lines.*, first.received_at_bank_time FROM lines LEFT JOIN first USING (nsu)
    ), unnotified AS (
      INSERT INTO unnotified_line
        (account_id, nsu, type_name, end_to_end_id, correlation_id, occurred_at)
      SELECT ${accountId}, nsu, type_name, end_to_end_id, correlation_id, occurred_at
      FROM compared WHERE received_at_bank_time IS NULL ON CONFLICT DO NOTHING
    ), counted AS (${addCounts(accountId, counted)}), moved AS (
      UPDATE webhook_health_state
      SET compared_arrival = GREATEST(compared_arrival, (SELECT max(arrival) FROM arrived))
      WHERE account_id = ${accountId} AND EXISTS (SELECT FROM arrived)
    )
    SELECT count(*)::int AS lines, COALESCE(min(arrival), 0) - 1 AS after,
           COALESCE(max(arrival), 0) AS until
    FROM arrived`;
  return compared ?? { lines: 0, after: 0n, until: 0n };
}

/**
 * Counts the unnotified lines that these webhooks report, as notified. The counts must be locked,
 * since before the webhooks were marked as processed.
 */
export async function countReportedLines(
  tx: Tx,
  accountId: number,
  places: RowPlaces,
): Promise<void> {
  if (places.length === 0) return;
  const counted = Prisma.sql`
    SELECT type_name, occurred_at, 1 AS lines,
           ${lagMs(Prisma.sql`received_at_bank_time`, Prisma.sql`occurred_at`)} AS lag_ms
    FROM notified
    UNION ALL
    SELECT type_name, occurred_at, -1, -1 FROM notified`;
  await tx.$executeRaw`
    WITH processed AS MATERIALIZED (
      SELECT account_id, event_type, reference_kind, reference, received_at_bank_time,
             CASE WHEN reference_kind = 'nsu' THEN reference::bigint END AS nsu
      FROM webhook_event
      WHERE account_id = ${accountId} AND ctid = ANY (${places}::text[]::tid[])
    ), reported AS (
      SELECT u.nsu, e.received_at_bank_time FROM processed e
      CROSS JOIN LATERAL (
        SELECT nsu FROM unnotified_line WHERE account_id = ${accountId} AND nsu = e.nsu
        UNION ALL
        SELECT nsu FROM unnotified_line WHERE account_id = ${accountId}
          AND e.reference_kind = 'end_to_end_id' AND end_to_end_id = e.reference
        UNION ALL
        SELECT nsu FROM unnotified_line WHERE account_id = ${accountId}
          AND ${reportsPayment(accountId)} AND correlation_id = e.reference
          AND occurred_at < e.received_at_bank_time + ${clockTolerance}
      ) u
    ), notified AS (
      DELETE FROM unnotified_line u USING (
        SELECT nsu, min(received_at_bank_time) AS received_at_bank_time
        FROM reported GROUP BY nsu
      ) first
      WHERE u.account_id = ${accountId} AND u.nsu = first.nsu
      RETURNING u.type_name, u.occurred_at, first.received_at_bank_time
    )
    ${addCounts(accountId, counted)}`;
}

const inSpans = (spans: readonly CountedSpan[]) =>
  Prisma.join(
    spans.map(
      ({ isDay, from, until }) =>
        Prisma.sql`(is_day = ${isDay} AND starts_at >= ${from} AND starts_at < ${until})`,
    ),
    ' OR ',
  );

export interface Period {
  from: Date;
  until: Date;
}

export interface WebhookEventCounts {
  eventType: string;
  received: number;
  copies: number;
  quarantined: number;
}

/** Counts webhooks by the time of their receipt, in the bank's time at the receipt. */
export async function countWebhookEvents(
  db: Db,
  accountId: number,
  { from, until }: Period,
  spans: readonly CountedSpan[],
): Promise<WebhookEventCounts[]> {
  return db.$queryRaw`
    SELECT event_type, sum(received)::int AS received, sum(copies)::int AS copies,
           sum(quarantined)::int AS quarantined
    FROM (
      SELECT event_type, received, copies, 0 AS quarantined FROM webhook_event_count
      WHERE account_id = ${accountId} AND (${inSpans(spans)})
      UNION ALL
      SELECT event_type, 1, copies - 1, (state = 'quarantined')::int FROM webhook_event
      WHERE account_id = ${accountId} AND (state = 'pending' OR state = 'quarantined')
        AND received_at_bank_time >= ${from} AND received_at_bank_time < ${until}
    ) counted
    GROUP BY event_type ORDER BY event_type`;
}

export interface LineTypeHealth {
  /** Null for the total of all types. */
  type: string | null;
  expected: number;
  notified: number;
  lost: number;
  waiting: number;
  /** Milliseconds from the movement to its first webhook; null if no webhook came. */
  p50: number | null;
  p99: number | null;
  max: number | null;
}

/** The lags of counted lines (lag_ms, lines) by a column of them, as CTEs that end in `lags`. */
const lagsBy = (group: Prisma.Sql, counted: Prisma.Sql) => Prisma.sql`ranked AS (
      SELECT ${group}, lag_ms, lines,
             sum(lines) OVER (PARTITION BY ${group} ORDER BY lag_ms) AS until_rank,
             sum(lines) OVER (PARTITION BY ${group}) AS total
      FROM ${counted} WHERE lag_ms >= 0
    ), lags AS (
      SELECT ${group}, max(total)::int AS notified, max(lag_ms)::float8 AS max,
             min(lag_ms) FILTER (WHERE until_rank >= 0.5 * total)::float8 AS p50,
             min(lag_ms) FILTER (WHERE until_rank >= 0.99 * total)::float8 AS p99
      FROM ranked GROUP BY ${group}
    )`;

/** `overdueBefore`: the webhooks of lines from this time on may still come. */
export async function measureLineTypes(
  db: Db,
  accountId: number,
  { from, until, overdueBefore }: Period & { overdueBefore: Date },
  spans: readonly CountedSpan[],
): Promise<LineTypeHealth[]> {
  return db.$queryRaw`
    WITH counted AS (
      SELECT type_name, lag_ms, sum(lines)::bigint AS lines FROM notification_count
      WHERE account_id = ${accountId} AND (${inSpans(spans)}) GROUP BY type_name, lag_ms
      HAVING sum(lines) <> 0
    ), of_type AS (
      SELECT type_name AS type, lag_ms, lines FROM counted
      UNION ALL SELECT NULL, lag_ms, lines FROM counted
    ), ${lagsBy(Prisma.sql`type`, Prisma.sql`of_type`)}, waiting AS (
      SELECT type_name, count(*)::int AS lines FROM unnotified_line
      WHERE account_id = ${accountId}
        AND occurred_at >= GREATEST(${from}::timestamptz, ${overdueBefore}::timestamptz)
        AND occurred_at < ${until} GROUP BY type_name
    )
    SELECT total.type, total.lines - waiting.lines AS expected, COALESCE(notified, 0) AS notified,
           total.lines - COALESCE(notified, 0) - waiting.lines AS lost, waiting.lines AS waiting,
           p50, p99, max
    FROM (SELECT type, sum(lines)::int AS lines FROM of_type GROUP BY type) total
    LEFT JOIN lags ON lags.type IS NOT DISTINCT FROM total.type
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(lines), 0)::int AS lines FROM waiting
      WHERE total.type IS NULL OR type_name = total.type
    ) waiting
    ORDER BY total.type NULLS FIRST`;
}

export interface DayHealth extends Pick<LineTypeHealth, 'notified' | 'p50' | 'p99'> {
  /** The start of the statement day. */
  startsAt: Date;
  /** Lines that webhooks should report, also those whose webhook may still come. */
  lines: number;
}

/** The statement days of a period that have such lines, newest first. */
export async function measureDays(
  db: Db,
  accountId: number,
  { from, until }: Period,
): Promise<DayHealth[]> {
  return db.$queryRaw`
    WITH counted AS (
      SELECT starts_at, lag_ms, sum(lines)::bigint AS lines FROM notification_count
      WHERE account_id = ${accountId} AND is_day AND starts_at >= ${from} AND starts_at < ${until}
      GROUP BY starts_at, lag_ms HAVING sum(lines) <> 0
    ), ${lagsBy(Prisma.sql`starts_at`, Prisma.sql`counted`)}
    SELECT starts_at, total.lines, COALESCE(notified, 0) AS notified, p50, p99
    FROM (SELECT starts_at, sum(lines)::int AS lines FROM counted GROUP BY starts_at) total
    LEFT JOIN lags USING (starts_at)
    ORDER BY starts_at DESC`;
}

export type UnnotifiedLineRow = Pick<
  StatementLine,
  | ('nsu' | 'typeName' | 'isCredit' | 'amountCents')
  | ('correlationId' | 'endToEndId' | 'occurredAt' | 'recordedAt')
>;

/** The newest of the lines that occurred in the period, before `overdueBefore`. */
export async function listUnnotifiedLines(
  db: Db,
  accountId: number,
  { from, until, overdueBefore, limit }: Period & { overdueBefore: Date; limit: number },
  beforeNsu: bigint | null,
): Promise<UnnotifiedLineRow[]> {
  return db.$queryRaw`
    WITH account AS (${accountSince(accountId)})
    SELECT t.nsu, t.type_name, t.is_credit, t.amount_cents, t.correlation_id, t.end_to_end_id,
           t.occurred_at, t.recorded_at
    FROM (
      SELECT nsu FROM unnotified_line, account
      WHERE account_id = ${accountId}
        AND occurred_at >= GREATEST(${from}::timestamptz, account.since)
        AND occurred_at < LEAST(${until}::timestamptz, ${overdueBefore}::timestamptz)
        ${beforeNsu === null ? Prisma.empty : Prisma.sql`AND nsu < ${beforeNsu}`}
      ORDER BY nsu DESC LIMIT ${limit}
    ) listed
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line WHERE account_id = ${accountId} AND nsu = listed.nsu OFFSET 0
    ) t
    ORDER BY t.nsu DESC`;
}
