// Recomputes the counts of webhook health from the lines and the webhooks, for `concilia verify`.
// The lags are not recomputed: each was counted by the webhooks that had come until then.
import { notifiedTypes } from '../../bank-contract/line-types.js';
import type { Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { accountSince, clockTolerance, reportsPayment, spansOf } from './health.queries.js';

export interface HealthDifference {
  subject: string;
  stored: string;
  computed: string;
}

const subjectOf = (what: string, column: string) =>
  Prisma.raw(`concat_ws(' ', '${what}', ${column},
    CASE WHEN is_day THEN 'of the day from' ELSE 'of the hour from' END,
    to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"'))`);

/** The lines that are compared with the webhooks, as in `compareNextLines`. */
const comparedLines = (accountId: number) => Prisma.sql`
  SELECT t.nsu, t.type_name, t.occurred_at, t.end_to_end_id, t.correlation_id
  FROM (${accountSince(accountId)}) account, webhook_health_state h, statement_line t
  WHERE h.account_id = ${accountId} AND t.account_id = ${accountId}
    AND t.arrival <= h.compared_arrival AND t.occurred_at >= account.since
    AND t.type_name = ANY (${notifiedTypes}::text[])`;

/**
 * Lines that are stored as unnotified although a processed webhook reports them, and lines that are
 * not although no webhook does. A webhook that is not processed may have come before or after.
 */
export async function listReportDifferences(
  db: Db,
  accountId: number,
): Promise<HealthDifference[]> {
  const byId = (kind: string, id: string) => Prisma.sql`
    SELECT t.nsu, bool_or(e.state = 'processed') AS is_surely
    FROM compared t JOIN webhook_event e ON e.account_id = ${accountId}
      AND e.reference_kind = ${kind} AND e.reference = ${Prisma.raw(id)}
    GROUP BY t.nsu`;
  return db.$queryRaw`
    WITH compared AS MATERIALIZED (${comparedLines(accountId)}), by_charge AS MATERIALIZED (
      SELECT reference, max(received_at_bank_time) AS until,
             max(received_at_bank_time) FILTER (WHERE state = 'processed') AS surely_until
      FROM webhook_event e WHERE ${reportsPayment(accountId)} GROUP BY reference
    ), reported AS (
      SELECT nsu, bool_or(is_surely) AS is_surely FROM (
        ${byId('nsu', 't.nsu::text')}
        UNION ALL ${byId('end_to_end_id', 't.end_to_end_id')}
        UNION ALL
        SELECT t.nsu, COALESCE(t.occurred_at < surely_until + ${clockTolerance}, false)
        FROM compared t JOIN by_charge ON by_charge.reference = t.correlation_id
        WHERE t.occurred_at < until + ${clockTolerance}
      ) each GROUP BY nsu
    )
    SELECT concat('webhook of line ', COALESCE(compared.nsu, stored.nsu)) AS subject,
           CASE WHEN stored.nsu IS NULL THEN 'reported' ELSE 'unnotified' END AS stored,
           CASE WHEN compared.nsu IS NULL THEN 'not compared'
                WHEN reported.nsu IS NULL THEN 'unnotified' ELSE 'reported' END AS computed
    FROM compared
    FULL JOIN (SELECT nsu FROM unnotified_line WHERE account_id = ${accountId}) stored USING (nsu)
    LEFT JOIN reported ON reported.nsu = compared.nsu
    WHERE compared.nsu IS NULL OR (stored.nsu IS NULL AND reported.nsu IS NULL)
      OR (stored.nsu IS NOT NULL AND reported.is_surely)`;
}

/** Counts of lines and of processed webhooks that differ from the rows that they count. */
export async function listHealthCountDifferences(
  db: Db,
  accountId: number,
): Promise<HealthDifference[]> {
  return db.$queryRaw`
    WITH lines AS (
      SELECT ${subjectOf('notification count of', 't.type_name')} AS subject,
             concat(count(*), ' lines, ', count(u.nsu), ' unnotified') AS counts
      FROM (${comparedLines(accountId)}) t
      LEFT JOIN unnotified_line u ON u.account_id = ${accountId} AND u.nsu = t.nsu
      ${spansOf(Prisma.sql`t.occurred_at`)}
      GROUP BY t.type_name, is_day, starts_at
    ), stored_lines AS (
      SELECT ${subjectOf('notification count of', 'type_name')} AS subject,
             concat(sum(lines), ' lines, ',
                    COALESCE(sum(lines) FILTER (WHERE lag_ms = -1), 0), ' unnotified') AS counts
      FROM notification_count WHERE account_id = ${accountId}
      GROUP BY type_name, is_day, starts_at HAVING bool_or(lines <> 0)
    ), webhooks AS (
      SELECT ${subjectOf('count of webhooks', 'event_type')} AS subject,
             concat(count(*), ' received, ', sum(copies - 1), ' copies') AS counts
      FROM webhook_event ${spansOf(Prisma.sql`received_at_bank_time`)}
      WHERE account_id = ${accountId} AND state = 'processed'
      GROUP BY event_type, is_day, starts_at
    ), stored_webhooks AS (
      SELECT ${subjectOf('count of webhooks', 'event_type')} AS subject,
             concat(received, ' received, ', copies, ' copies') AS counts
      FROM webhook_event_count WHERE account_id = ${accountId} AND (received, copies) <> (0, 0)
    )
    SELECT subject, COALESCE(stored.counts, '') AS stored, COALESCE(computed.counts, '') AS computed
    FROM (SELECT * FROM lines UNION ALL SELECT * FROM webhooks) computed
    FULL JOIN (SELECT * FROM stored_lines UNION ALL SELECT * FROM stored_webhooks) stored
      USING (subject)
    WHERE computed.counts IS DISTINCT FROM stored.counts ORDER BY subject`;
}
