// Which webhooks report which lines: a webhook reports a line if it carries the line's nsu or
// endToEndId, or if it reports a payment with the line's correlationId. Also reads the newest lines
// with their first webhooks, by which the sync interval is set, and which accounts have any.
import { notifiedTypes } from '../../bank-contract/line-types.js';
import type { Db, SqlTx } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import type { NotifiableLine } from './sync-interval.js';

/** Event types with a correlationId that report a payment, and not another status of a charge. */
const paymentEvents = ['CHARGE_PAID', 'CHARGE_PAID_V2', 'PIX_RECEIVED'];
/**
 * The first webhook of a burst triggers a sync. The sync records the other lines before their
 * webhooks come. A webhook within this time of the recording therefore does not count as late.
 */
const burstMs = 10_000;
/**
 * Each payment of a charge is reported. A webhook that came before a line, by more than this
 * tolerance between clocks, belongs to an earlier line.
 */
const clockToleranceMs = 300_000;

/** Joins the hour and the statement day of a time, by which lines and webhooks are counted. */
export const spansOf = (at: Prisma.Sql) => Prisma.sql`
  CROSS JOIN LATERAL (VALUES
    (false, date_trunc('hour', ${at}, 'UTC')),
    (true, date_trunc('day', ${at} - interval '3 hours', 'UTC') + interval '3 hours')
  ) span(is_day, starts_at)`;

export interface HealthWindow {
  from: Date;
  until: Date;
  /** The webhooks of lines from this time on may still come. All times are the bank's. */
  overdueBefore: Date;
  limit: number;
}

/**
 * Webhooks are expected for lines from this time on: the later of go-live and the creation of the
 * account.
 */
export const accountSince = (accountId: number) => Prisma.sql`
  SELECT GREATEST(a.go_live_at, a.created_at
           + COALESCE(s.first_clock_offset_ms, 0) * interval '1 millisecond') AS since
  FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id WHERE a.id = ${accountId}`;

/** The two ways in which a webhook (e) reports a line (t) by an id; each has its own index. */
export const reportsById = (accountId: number) => [
  Prisma.sql`e.account_id = ${accountId}
    AND e.reference_kind = 'nsu' AND e.reference = t.nsu::text`,
  Prisma.sql`e.account_id = ${accountId}
    AND e.reference_kind = 'end_to_end_id' AND e.reference = t.end_to_end_id`,
];

/** A webhook (e) that reports a payment of a charge. */
export const reportsPayment = (accountId: number) => Prisma.sql`
  e.account_id = ${accountId} AND e.reference_kind = 'correlation_id'
    AND e.event_type = ANY (${paymentEvents}::text[])`;

export const clockTolerance = Prisma.sql`${clockToleranceMs} * interval '1 millisecond'`;

/**
 * The first webhook that reports each line (lines) as a payment of its charge. A static QR code has
 * thousands of lines and webhooks: each is read once, the latest first, and no pairs are compared.
 */
export const firstReportsByCharge = (accountId: number, from: Prisma.Sql) => Prisma.sql`
  SELECT nsu, received_at, received_at_bank_time FROM (
    SELECT nsu, min(received_at) OVER later AS received_at,
           min(received_at_bank_time) OVER later AS received_at_bank_time
    FROM (
      SELECT nsu, correlation_id, occurred_at - ${clockTolerance} AS at,
             NULL::timestamptz AS received_at, NULL::timestamptz AS received_at_bank_time
      FROM lines WHERE correlation_id IS NOT NULL
      UNION ALL
      SELECT NULL, e.reference, e.received_at_bank_time, e.received_at, e.received_at_bank_time
      FROM (SELECT DISTINCT correlation_id FROM lines) charge
      JOIN webhook_event e ON ${reportsPayment(accountId)} AND e.reference = charge.correlation_id
        AND e.received_at_bank_time > ${from} - ${clockTolerance}
    ) each
    -- Of a line and a webhook of one time, the line is first: the webhook is not later.
    WINDOW later AS (PARTITION BY correlation_id ORDER BY at DESC, nsu NULLS LAST
      ROWS UNBOUNDED PRECEDING)
  ) first
  WHERE nsu IS NOT NULL AND received_at IS NOT NULL`;

export interface ActiveAccount {
  accountId: number;
  /** Its own; null for that of the settings. */
  syncIntervalMs: number | null;
  /** The time at its bank. */
  now: Date;
}

/**
 * The accounts whose sync interval may change: those with a line of the last `recentMs`, and those
 * with an interval of their own.
 */
export async function listActiveAccounts(db: SqlTx, recentMs: number): Promise<ActiveAccount[]> {
  return db.$queryRaw`
    SELECT a.id AS account_id, s.sync_interval_ms, bank.now
    FROM bank_account a
    LEFT JOIN statement_state s ON s.account_id = a.id
    CROSS JOIN LATERAL (
      SELECT clock_timestamp() + COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond' AS now
      OFFSET 0
    ) bank
    -- The newest line is one look-up. For EXISTS, the planner would read the table of an account.
    WHERE s.sync_interval_ms IS NOT NULL OR (
      SELECT max(occurred_at) FROM statement_line WHERE account_id = a.id
    ) >= bank.now - ${recentMs} * interval '1 millisecond'
    ORDER BY a.id`;
}

/** The newest notifiable lines of a window, newest first, compared with their first webhooks. */
export async function listNotifiableLines(
  db: Db,
  accountId: number,
  { from, until, overdueBefore, limit }: HealthWindow,
): Promise<NotifiableLine[]> {
  const webhooks = reportsById(accountId).map(
    (reports) => Prisma.sql`SELECT e.received_at FROM webhook_event e WHERE ${reports}`,
  );
  return db.$queryRaw`
    WITH account AS (${accountSince(accountId)}), lines AS MATERIALIZED (
      SELECT t.* FROM account
      CROSS JOIN LATERAL (
        SELECT nsu, end_to_end_id, correlation_id, occurred_at, recorded_at FROM statement_line
        WHERE account_id = ${accountId} AND occurred_at >= GREATEST(${from}, account.since)
          AND occurred_at < ${until} AND type_name = ANY (${notifiedTypes}::text[])
        ORDER BY occurred_at DESC, nsu DESC LIMIT ${limit}
      ) t
    ), by_charge AS MATERIALIZED (
      ${firstReportsByCharge(accountId, Prisma.sql`${from}::timestamptz`)})
    SELECT first.received_at IS NOT NULL AS "isNotified",
           first.received_at IS NULL AND t.occurred_at >= ${overdueBefore} AS "isWaiting",
           COALESCE(first.received_at, clock_timestamp())
             > t.recorded_at + ${burstMs} * interval '1 millisecond' AS "wasSyncedBeforeWebhook"
    FROM lines t
    CROSS JOIN LATERAL (
      SELECT min(received_at) AS received_at FROM (
        ${Prisma.join(webhooks, ' UNION ALL ')}
        UNION ALL
        SELECT received_at FROM by_charge WHERE nsu = t.nsu
      ) webhooks
    ) first
    ORDER BY t.occurred_at DESC, t.nsu DESC`;
}
