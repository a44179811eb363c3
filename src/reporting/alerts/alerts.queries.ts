// Reads alerts, and records what people and the settings of rules do to them.
import type { Db, SqlTx } from '../../platform/postgres/database.service.js';
import { listExaminedIds, type ExaminedIds } from '../../platform/http/examined-ids.queries.js';
import { Prisma, type Alert, type AlertRule } from '../../generated/service/client.js';
import type { AlertSeverity, AlertState } from '../../generated/service/enums.js';
import type { Page } from '../../platform/http/listing.js';
import type { RuleKey } from './evaluation.queries.js';

export type AlertRow = Omit<Alert, 'escalatedAt' | 'pendingMessage' | 'accountId'> & {
  ruleName: AlertRule['name'];
  lastSeenAt: Date;
};

interface Filters {
  state?: AlertState | undefined;
  ruleId?: string | undefined;
  severity?: AlertSeverity | undefined;
}

/** The ids of a page, newest first. */
export async function listAlertIds(
  db: Db,
  accountId: number,
  { state, ruleId, severity }: Filters,
  page: Page,
): Promise<ExaminedIds> {
  // Both conditions have an index in the order of ids. The severity is sought in what they find.
  const conditions = [
    Prisma.sql`account_id = ${accountId}`,
    ...(state ? [Prisma.sql`state = ${state}::alert_state`] : []),
    ...(ruleId ? [Prisma.sql`rule_id = ${ruleId}::uuid`] : []),
  ];
  const filters = severity ? [Prisma.sql`severity = ${severity}::alert_severity`] : [];
  const rows = Prisma.sql`(
    SELECT account_id, id, severity FROM alert WHERE ${Prisma.join(conditions, ' AND ')}) found`;
  return listExaminedIds(db, accountId, { rows, key: Prisma.sql`id`, filters }, page);
}

/** The alerts with these ids, newest first. */
export async function readAlerts(
  db: Db,
  accountId: number,
  ids: readonly string[],
): Promise<AlertRow[]> {
  return db.$queryRaw<AlertRow[]>`
    SELECT a.id, a.rule_id, r.name AS "ruleName", a.subject, a.state, a.severity, a.amount_cents,
           a.detail, a.fired_at,
           COALESCE(a.last_seen_at, GREATEST(r.evaluated_at, a.fired_at)) AS last_seen_at,
           a.acknowledged_at, a.cleared_at, a.notified_at
    FROM alert a JOIN alert_rule r ON r.account_id = a.account_id AND r.id = a.rule_id
    WHERE a.account_id = ${accountId} AND a.id = ANY (${[...ids]}::uuid[])
    ORDER BY a.id DESC`;
}

/** The firing alerts that a person acknowledges: one, or all of a rule. */
type Acknowledged = { id: string } | { ruleId: string };

/** Returns how many alerts were acknowledged. */
export async function recordAcknowledgement(
  db: SqlTx,
  accountId: number,
  which: Acknowledged,
  { actor, reason }: { actor: string; reason: string },
): Promise<number> {
  const condition =
    'id' in which
      ? Prisma.sql`id = ${which.id}::uuid`
      : Prisma.sql`rule_id = ${which.ruleId}::uuid`;
  return db.$executeRaw`
    WITH acknowledged AS (
      UPDATE alert SET state = 'acknowledged', acknowledged_at = clock_timestamp()
      WHERE account_id = ${accountId} AND ${condition} AND state = 'firing'
      RETURNING id
    )
    INSERT INTO alert_history_entry (account_id, alert_id, action, actor, reason)
    SELECT ${accountId}::int, id, 'acknowledged', ${actor}, ${reason} FROM acknowledged`;
}

/** Clears the open alerts of a rule that is evaluated no longer. Returns how many there were. */
export async function clearAlertsOf(
  db: SqlTx,
  { accountId, ruleId }: RuleKey,
  reason: 'rule_disabled' | 'rule_removed',
): Promise<number> {
  return db.$executeRaw`
    WITH gone AS (
      UPDATE alert a
      SET state = 'cleared', cleared_at = clock_timestamp(), pending_message = NULL,
          last_seen_at = COALESCE(GREATEST((
            SELECT evaluated_at FROM alert_rule
            WHERE account_id = ${accountId} AND id = ${ruleId}::uuid), a.fired_at), a.fired_at)
      WHERE a.account_id = ${accountId} AND a.rule_id = ${ruleId}::uuid AND a.state <> 'cleared'
      RETURNING a.id
    )
    INSERT INTO alert_history_entry (account_id, alert_id, action, reason)
    SELECT ${accountId}::int, id, 'cleared', ${reason} FROM gone`;
}
