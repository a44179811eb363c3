// Reads how reliably webhooks reported the statement's lines. A webhook reports a line if it
// carries the line's nsu or endToEndId, or if it reports a payment with the line's correlationId.
import type { Db } from '../database.service.js';
import { Prisma, type StatementLine } from '../generated/service/client.js';
import type { NotifiableLine } from './sync-interval.js';

/**
 * Types of lines for which we register webhooks that carry an id of the line. Webhooks of internal
 * transfers and TEDs carry no id that the statement shows, so a missing webhook of these types
 * cannot be detected.
 */
const notifiableTypes =
  'CREDIT_PIX CREDIT_BANKSLIP DEBIT_PIX DEBIT_PIX_REFUND CREDIT_PIX_REFUND'.split(' ');

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
const accountSince = (accountId: number) => Prisma.sql`
  SELECT GREATEST(a.go_live_at, a.created_at
           + COALESCE(s.first_clock_offset_ms, 0) * interval '1 millisecond') AS since
  FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id WHERE a.id = ${accountId}`;

/** The two ways in which a webhook (e) reports a line (t) by an id; each has its own index. */
const reportsById = (accountId: number) => [
  Prisma.sql`e.account_id = ${accountId}
    AND e.reference_kind = 'nsu' AND e.reference = t.nsu::text`,
  Prisma.sql`e.account_id = ${accountId}
    AND e.reference_kind = 'end_to_end_id' AND e.reference = t.end_to_end_id`,
];

/** A webhook (e) that reports a payment of a charge. */
const reportsPayment = (accountId: number) => Prisma.sql`
  e.account_id = ${accountId} AND e.reference_kind = 'correlation_id'
    AND e.event_type = ANY (${paymentEvents}::text[])`;

const clockTolerance = Prisma.sql`${clockToleranceMs} * interval '1 millisecond'`;

/**
 * The first webhook that reports each line (lines) as a payment of its charge. A static QR code has
 * thousands of lines and webhooks: each is read once, the latest first, and no pairs are compared.
 */
const firstReportsByCharge = (accountId: number, from: Date) => Prisma.sql`
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
        AND e.received_at_bank_time > ${from}::timestamptz - ${clockTolerance}
    ) each
    -- Of a line and a webhook of one time, the line is first: the webhook is not later.
    WINDOW later AS (PARTITION BY correlation_id ORDER BY at DESC, nsu NULLS LAST
      ROWS UNBOUNDED PRECEDING)
  ) first
  WHERE nsu IS NOT NULL AND received_at IS NOT NULL`;

export interface WebhookEventCount {
  eventType: string;
  received: number;
  copies: number;
  quarantined: number;
}

/** Counts webhooks by the time of their receipt, in the bank's time at the receipt. */
export async function countWebhookEvents(
  db: Db,
  accountId: number,
  { from, until }: Pick<HealthWindow, 'from' | 'until'>,
): Promise<WebhookEventCount[]> {
  return db.$queryRaw`
    SELECT event_type, count(*)::int AS received, sum(copies - 1)::int AS copies,
           (count(*) FILTER (WHERE state = 'quarantined'))::int AS quarantined
    FROM webhook_event
    WHERE account_id = ${accountId}
      AND received_at_bank_time >= ${from} AND received_at_bank_time < ${until}
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

export async function measureLineTypes(
  db: Db,
  accountId: number,
  { from, until, overdueBefore }: Omit<HealthWindow, 'limit'>,
): Promise<LineTypeHealth[]> {
  const notified = reportsById(accountId).map(
    (reports) => Prisma.sql`
      SELECT t.nsu, e.received_at_bank_time FROM lines t JOIN webhook_event e ON ${reports}`,
  );
  return db.$queryRaw`
    WITH account AS (${accountSince(accountId)}), lines AS MATERIALIZED (
      SELECT t.nsu, t.type_name, t.end_to_end_id, t.correlation_id, t.occurred_at
      FROM statement_line t, account
      WHERE t.account_id = ${accountId} AND t.occurred_at >= ${from} AND t.occurred_at < ${until}
        AND t.occurred_at >= account.since AND t.type_name = ANY (${notifiableTypes}::text[])
    ), notified AS (
      ${Prisma.join(notified, ' UNION ALL ')}
      UNION ALL
      SELECT nsu, received_at_bank_time FROM (${firstReportsByCharge(accountId, from)}) by_charge
    ), first AS (
      SELECT nsu, min(received_at_bank_time) AS received_at_bank_time FROM notified GROUP BY nsu
    ), measured AS (
      SELECT l.type_name AS type, f.received_at_bank_time IS NOT NULL AS is_notified,
             l.occurred_at >= ${overdueBefore} AS is_recent,
             GREATEST(0, extract(epoch FROM f.received_at_bank_time - l.occurred_at) * 1000)
               AS lag_ms
      FROM lines l LEFT JOIN first f USING (nsu)
    )
    SELECT type, (count(*) FILTER (WHERE is_notified OR NOT is_recent))::int AS expected,
           (count(*) FILTER (WHERE is_notified))::int AS notified,
           (count(*) FILTER (WHERE NOT is_notified AND NOT is_recent))::int AS lost,
           (count(*) FILTER (WHERE NOT is_notified AND is_recent))::int AS waiting,
           round(percentile_disc(0.5) WITHIN GROUP (ORDER BY lag_ms)
             FILTER (WHERE is_notified))::float8 AS p50,
           round(percentile_disc(0.99) WITHIN GROUP (ORDER BY lag_ms)
             FILTER (WHERE is_notified))::float8 AS p99,
           round(max(lag_ms) FILTER (WHERE is_notified))::float8 AS max
    FROM measured GROUP BY GROUPING SETS ((type), ()) ORDER BY type NULLS FIRST`;
}

export type UnnotifiedLineRow = Pick<
  StatementLine,
  | ('nsu' | 'typeName' | 'isCredit' | 'amountCents')
  | ('correlationId' | 'endToEndId' | 'occurredAt' | 'recordedAt')
>;

export async function listUnnotifiedLines(
  db: Db,
  accountId: number,
  { from, until, overdueBefore, limit }: HealthWindow,
  beforeNsu: bigint | null,
): Promise<UnnotifiedLineRow[]> {
  const ofCharge = Prisma.sql`${reportsPayment(accountId)} AND e.reference = t.correlation_id
    AND e.received_at_bank_time > t.occurred_at - ${clockTolerance}`;
  const unreported = [...reportsById(accountId), ofCharge].map(
    (reports) => Prisma.sql`NOT EXISTS (SELECT 1 FROM webhook_event e WHERE ${reports})`,
  );
  return db.$queryRaw`
    WITH account AS (${accountSince(accountId)})
    SELECT t.nsu, t.type_name, t.is_credit, t.amount_cents, t.correlation_id, t.end_to_end_id,
           t.occurred_at, t.recorded_at
    FROM statement_line t, account
    WHERE t.account_id = ${accountId} AND t.occurred_at >= ${from} AND t.occurred_at < ${until}
      AND t.occurred_at >= account.since AND t.occurred_at < ${overdueBefore}
      AND t.type_name = ANY (${notifiableTypes}::text[])
      AND (${beforeNsu}::bigint IS NULL OR t.nsu < ${beforeNsu}::bigint)
      AND ${Prisma.join(unreported, ' AND ')}
    ORDER BY t.nsu DESC LIMIT ${limit}`;
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
          AND occurred_at < ${until} AND type_name = ANY (${notifiableTypes}::text[])
        ORDER BY occurred_at DESC, nsu DESC LIMIT ${limit}
      ) t
    ), by_charge AS MATERIALIZED (${firstReportsByCharge(accountId, from)})
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
