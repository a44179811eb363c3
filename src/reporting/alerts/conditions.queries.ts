// What each condition finds at present, as SQL: one row for each subject (subject, severity,
// amount_cents, detail). It is read by indexes from what is open, and never from the history.
import { opaqueAccountId } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import type { AlertSeverity } from '../../generated/service/enums.js';
import { severityName, severityOfBreak } from '../../reconciliation/breaks/severity.queries.js';
import { severities, type SeverityScale } from '../../reconciliation/breaks/severity.js';
import { breakKinds } from '../../reconciliation/decide/break-kind-declarations.js';
import { notGuardedSince } from '../../statement/lines/sync-interval.queries.js';
import type { ConditionOf } from './conditions.schema.js';
import type { NotedNotice } from './debit-notices.js';

/** More dead deliveries of one endpoint are not counted. */
const maxDeliveries = 10_000;
/** The oldest days without a certificate; a later one is found once one of these has its own. */
const maxDays = 31;

/** A time as the API writes it. */
const isoText = (time: Prisma.Sql) =>
  Prisma.sql`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The severity and the amount of what is no break. */
const withSeverity = (severity: AlertSeverity) =>
  Prisma.sql`${severity}::alert_severity AS severity, NULL::bigint AS amount_cents`;

/** `now` is in the bank's time. */
export function openBreaksOf(
  accountId: number,
  { kinds, minAmount, minAgeHours, minSeverity, ...due }: ConditionOf<'break_open'>,
  { scale, now }: { scale: SeverityScale; now: Date },
): Prisma.Sql {
  const names = kinds.length > 0 ? kinds : Object.keys(breakKinds);
  const hours = due.deadlineWithinHours ?? null;
  const least = minSeverity ? severities.indexOf(minSeverity) : 0;
  return Prisma.sql`
    SELECT 'break:' || b.id AS subject,
           ${severityName(Prisma.sql`severity.index`)}::alert_severity AS severity, b.amount_cents,
           jsonb_build_object('breakId', b.id, 'breakKind', b.kind,
             'openedAt', ${isoText(Prisma.sql`b.opened_at`)}) AS detail
    FROM unnest(${names}::text[]) AS named(kind)
    CROSS JOIN LATERAL (
      SELECT * FROM break
      WHERE account_id = ${opaqueAccountId(accountId)} AND kind = named.kind AND state = 'open'
      OFFSET 0
    ) b
    CROSS JOIN LATERAL (SELECT ${severityOfBreak(scale)} AS index OFFSET 0) severity
    WHERE severity.index >= ${least}::int
      AND (${minAmount ?? null}::bigint IS NULL OR b.amount_cents >= ${minAmount ?? null}::bigint)
      AND (${minAgeHours ?? null}::int IS NULL
        OR b.opened_at <= clock_timestamp() - ${minAgeHours ?? null}::int * interval '1 hour')
      AND (${hours}::int IS NULL OR (b.evidence ->> 'deadlineAt')::timestamptz
        <= ${now}::timestamptz + ${hours}::int * interval '1 hour')`;
}

export function webhookLoss(
  { minPercent, minLines, hours }: ConditionOf<'webhook_loss'>,
  severity: AlertSeverity,
  { expected, lost }: { expected: number; lost: number },
): Prisma.Sql {
  return Prisma.sql`
    SELECT 'webhooks' AS subject, ${withSeverity(severity)},
           jsonb_build_object('expected', ${expected}::int, 'lost', ${lost}::int,
             'hours', ${hours}::int) AS detail
    WHERE ${lost}::int >= ${minLines}::int
      AND ${lost}::bigint * 100 >= ${expected}::bigint * ${minPercent}::int`;
}

export function deadDeliveries(
  accountId: number,
  { minDeliveries }: ConditionOf<'deliveries_dead'>,
  severity: AlertSeverity,
): Prisma.Sql {
  return Prisma.sql`
    SELECT 'endpoint:' || e.id AS subject, ${withSeverity(severity)},
           jsonb_build_object('endpointId', e.id, 'deliveries', dead.deliveries) AS detail
    FROM webhook_endpoint e
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS deliveries FROM (
        SELECT FROM delivery d
        WHERE d.account_id = e.account_id AND d.endpoint_id = e.id AND d.state = 'dead'
        LIMIT ${maxDeliveries}
      ) counted
    ) dead
    WHERE e.account_id = ${accountId} AND e.deleted_at IS NULL
      AND dead.deliveries >= ${minDeliveries}::int`;
}

/** An account that was never synced counts from its creation. */
export function noSync(
  accountId: number,
  { minutes }: ConditionOf<'no_sync'>,
  severity: AlertSeverity,
): Prisma.Sql {
  return Prisma.sql`
    SELECT 'sync' AS subject, ${withSeverity(severity)},
           jsonb_build_object('lastSyncAt', ${isoText(Prisma.sql`s.last_sync_started_at`)})
             AS detail
    FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id
    WHERE a.id = ${accountId} AND COALESCE(s.last_sync_started_at, a.created_at)
      <= clock_timestamp() - ${minutes}::int * interval '1 minute'`;
}

/** A guarded account whose statement is not read often enough. */
export function notGuarded(accountId: number, severity: AlertSeverity): Prisma.Sql {
  return Prisma.sql`
    SELECT 'guard' AS subject, ${withSeverity(severity)},
           jsonb_build_object('notGuardedSince', ${isoText(Prisma.sql`guard.since`)}) AS detail
    FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id
    CROSS JOIN LATERAL (SELECT ${notGuardedSince} AS since) guard
    WHERE a.id = ${accountId} AND guard.since IS NOT NULL`;
}

/** Days until `lastDueDay` that have no certificate. */
export function daysWithoutCertificate(
  accountId: number,
  severity: AlertSeverity,
  lastDueDay: string,
): Prisma.Sql {
  return Prisma.sql`
    SELECT 'day:' || due.day AS subject, ${withSeverity(severity)},
           jsonb_build_object('day', due.day) AS detail
    FROM day_close_state c
    CROSS JOIN LATERAL (
      SELECT to_char(c.next_date::date + n, 'YYYY-MM-DD') AS day
      FROM generate_series(0, LEAST(${lastDueDay}::date - c.next_date::date, ${maxDays - 1}::int)) n
    ) due
    WHERE c.account_id = ${accountId}`;
}

/** Operations that have waited for their approval. */
export function waitingApprovals(
  accountId: number,
  { minutes }: ConditionOf<'approval_waiting'>,
  severity: AlertSeverity,
): Prisma.Sql {
  return Prisma.sql`
    SELECT 'operation:' || o.id AS subject, ${severity}::alert_severity AS severity,
           o.amount_cents, jsonb_build_object('operationId', o.id) AS detail
    FROM operation o
    WHERE o.account_id = ${opaqueAccountId(accountId)} AND o.state = 'awaiting_approval'
      AND o.created_at <= clock_timestamp() - ${minutes}::int * interval '1 minute'`;
}

/** Debits that wait for an operation, or for another line, to explain them. */
export function waitingDebits(
  accountId: number,
  { seconds }: ConditionOf<'debit_waiting'>,
  severity: AlertSeverity,
): Prisma.Sql {
  return Prisma.sql`
    SELECT 'line:' || o.nsu AS subject, ${severity}::alert_severity AS severity,
           line.amount_cents, jsonb_build_object('nsu', o.nsu::text) AS detail
    FROM line_outcome o
    CROSS JOIN LATERAL (
      SELECT is_credit, amount_cents, recorded_at FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = o.nsu OFFSET 0
    ) line
    WHERE o.account_id = ${opaqueAccountId(accountId)} AND o.state = 'pending'
      AND NOT line.is_credit
      AND line.recorded_at <= clock_timestamp() - ${seconds}::int * interval '1 second'`;
}

/** Debits by the table of who is notified: each of its own, and those of earlier in one. */
export function debitsOf(
  { notices, earlier: debits }: { notices: readonly NotedNotice[]; earlier: number },
  severity: AlertSeverity,
): Prisma.Sql {
  const rows = [
    ...notices.map(({ nsu, amountCents, row, notice }) => ({
      ...{ subject: `line:${nsu}`, cents: amountCents.toString() },
      severity: notice === 'alert' ? severity : 'critical',
      detail: { nsu: nsu.toString(), debit: row },
    })),
    ...(debits === 0 ? [] : [{ subject: 'debits', severity, detail: { debits } }]),
  ];
  return Prisma.sql`
    SELECT subject, severity::alert_severity AS severity, cents::bigint AS amount_cents, detail
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS found(subject text, severity text, cents text, detail jsonb)`;
}

/** Sign-ins with a password while people sign in at an identity provider. */
export function localSignIns(
  { hours }: ConditionOf<'local_sign_in'>,
  severity: AlertSeverity,
): Prisma.Sql {
  return Prisma.sql`
    SELECT 'session:' || s.id AS subject, ${withSeverity(severity)},
           jsonb_build_object('operatorId', s.operator_id) AS detail
    FROM operator_session s
    WHERE s.is_break_glass AND s.is_complete
      AND s.created_at > clock_timestamp() - ${hours}::int * interval '1 hour'`;
}

/** Months that are not closed in time. */
export const overdueCloses = (months: readonly string[], severity: AlertSeverity) => Prisma.sql`
  SELECT 'month:' || month AS subject, ${withSeverity(severity)},
         jsonb_build_object('month', month) AS detail
  FROM unnest(${[...months]}::text[]) month`;
