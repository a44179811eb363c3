// Evaluates rules and makes messages of what they found. Each statement locks the row of its rule,
// so that two processes fire, clear and announce an alert once.
import type { Database, SqlTx, Reader } from '../../platform/postgres/database.service.js';
import { Prisma, type Alert } from '../../generated/service/client.js';
import type { AlertConditionKind, AlertMessageKind } from '../../generated/service/enums.js';
import type { AlertSeverity } from '../../generated/service/enums.js';

export interface RuleKey {
  accountId: number;
  ruleId: string;
}

export interface EnabledRule extends RuleKey {
  conditionKind: AlertConditionKind;
  condition: string;
  severity: AlertSeverity;
}

/** A rule that another process has evaluated within this time is left out. */
const recentMs = 5_000;
/** How many alerts a message names. */
const maxNamed = 10;

const isEnabled = Prisma.sql`r.is_enabled AND r.deleted_at IS NULL`;
const isDue = Prisma.sql`${isEnabled} AND (r.evaluated_at IS NULL
  OR r.evaluated_at <= clock_timestamp() - ${recentMs} * interval '1 millisecond')`;

/** Rules of all accounts that are due. */
export async function listDueRules(db: Reader): Promise<EnabledRule[]> {
  return db.$queryRaw`
    SELECT r.account_id, r.id AS "ruleId", r.condition_kind, r.condition, r.severity
    FROM alert_rule r WHERE ${isDue} ORDER BY r.account_id, r.id`;
}

/** The rules of an account about debits, however recently they were evaluated. */
export async function listRulesOfDebits(db: Reader, accountId: number): Promise<EnabledRule[]> {
  return db.$queryRaw`
    SELECT r.account_id, r.id AS "ruleId", r.condition_kind, r.condition, r.severity
    FROM alert_rule r
    WHERE r.account_id = ${accountId} AND ${isEnabled} AND r.condition_kind = 'unrequested_debit'
    ORDER BY r.id`;
}

/** The lines about which one of these rules has an open alert. */
export async function listFiringLines(
  db: Reader,
  accountId: number,
  ruleIds: readonly string[],
): Promise<Set<bigint>> {
  const rows = await db.$queryRaw<{ nsu: bigint }[]>`
    SELECT (detail ->> 'nsu')::bigint AS nsu FROM alert
    WHERE account_id = ${accountId} AND rule_id = ANY (${[...ruleIds]}::uuid[])
      AND state <> 'cleared' AND detail ? 'nsu'`;
  return new Set(rows.map(({ nsu }) => nsu));
}

/** A new id that ascends with PostgreSQL's time, as those of `newId` do. */
const newRowId = Prisma.sql`overlay(overlay(gen_random_uuid()::text
  PLACING regexp_replace(lpad(to_hex(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint),
    12, '0'), '^(.{8})', '\\1-') FROM 1 FOR 13) PLACING '7' FROM 15 FOR 1)::uuid`;

/**
 * With single sign-on, each account has a rule about sign-ins with a password, with the channels
 * that the account has then. One that somebody has removed is not declared again.
 */
export async function declareLocalSignInRules(db: SqlTx): Promise<void> {
  await db.$executeRaw`
    WITH declared AS (
      INSERT INTO alert_rule (account_id, id, name, condition_kind, condition, severity,
        group_seconds, notifies_cleared, is_enabled)
      SELECT a.id, ${newRowId}, 'Entrada com senha', 'local_sign_in',
        '{"kind":"local_sign_in","hours":24}', 'critical', 0, false, true
      FROM bank_account a
      WHERE NOT EXISTS (SELECT FROM alert_rule r
        WHERE r.account_id = a.id AND r.condition_kind = 'local_sign_in')
      RETURNING account_id, id
    )
    INSERT INTO alert_rule_channel (account_id, rule_id, channel_id)
    SELECT d.account_id, d.id, c.id FROM declared d
    JOIN alert_channel c ON c.account_id = d.account_id AND c.deleted_at IS NULL`;
}

/** The rules (r) that find alarms. */
const findsAlarms = Prisma.sql`(r.condition_kind = 'unrequested_debit'
  AND r.condition::jsonb ->> 'level' = 'alarm')`;

const withoutAlarmRule = Prisma.sql`
  FROM payment_control g
  WHERE (g.guard_interval_seconds IS NOT NULL OR g.stops_on_alarm) AND NOT EXISTS (
    SELECT FROM alert_rule r
    WHERE r.account_id = g.account_id AND ${isEnabled} AND ${findsAlarms})`;

/** A guarded account always has a rule that finds its alarms: without channels, it uses all. */
export async function declareAlarmRules(
  database: Pick<Database, 'prisma' | 'sqlTransaction'>,
): Promise<void> {
  const ofMissing = Prisma.sql`SELECT g.account_id ${withoutAlarmRule}`;
  const missing = await database.prisma.$queryRaw<unknown[]>`${ofMissing} LIMIT 1`;
  if (missing.length === 0) return;
  await database.sqlTransaction(async (tx) => {
    // After the lock, a rule that another process declared meanwhile is seen.
    await tx.$queryRaw`${ofMissing} ORDER BY g.account_id FOR NO KEY UPDATE OF g`;
    await tx.$executeRaw`
      INSERT INTO alert_rule (account_id, id, name, condition_kind, condition, severity,
        group_seconds, notifies_cleared, is_enabled)
      SELECT g.account_id, ${newRowId}, 'Alarme', 'unrequested_debit',
        '{"kind":"unrequested_debit","level":"alarm"}', 'critical', 0, true, true
      ${withoutAlarmRule}`;
  });
}

export type FiredAlert = Pick<Alert, 'id' | 'amountCents' | 'detail'>;

/**
 * Fires an alert for each subject that `found` has and that has none, and clears the alerts whose
 * subject it no longer has. Returns those that it fired. An alert that is cleared before it was
 * announced is not announced. `readAt`: when what `found` has was read, by PostgreSQL's clock. What
 * was found later stays.
 */
export async function evaluateRule(
  db: SqlTx,
  { accountId, ruleId }: RuleKey,
  found: Prisma.Sql,
  { readAt, isAtOnce = false }: { readAt: Date; isAtOnce?: boolean },
): Promise<FiredAlert[]> {
  // What is evaluated at once waits for an evaluation in progress, and then evaluates again. It has
  // asked the bank, which the other has not: so it counts even where the other has read later.
  const chosen = isAtOnce
    ? isEnabled
    : Prisma.sql`${isDue} AND (r.evaluated_at IS NULL OR r.evaluated_at < ${readAt})`;
  const lock = isAtOnce ? Prisma.empty : Prisma.sql`SKIP LOCKED`;
  return db.$queryRaw`
    WITH rule AS MATERIALIZED (
      SELECT r.id, r.notifies_cleared, r.evaluated_at FROM alert_rule r
      WHERE r.account_id = ${accountId} AND r.id = ${ruleId}::uuid AND ${chosen}
      FOR NO KEY UPDATE ${lock}
    ), found AS MATERIALIZED (
      SELECT one.* FROM rule CROSS JOIN LATERAL (${found}) one
    ), open AS MATERIALIZED (
      SELECT a.id, a.subject, a.severity, a.amount_cents, a.detail
      FROM rule JOIN alert a ON a.account_id = ${accountId} AND a.rule_id = rule.id
        AND a.state <> 'cleared'
    ), fired AS (
      INSERT INTO alert
        (account_id, id, rule_id, subject, state, severity, amount_cents, detail, pending_message)
      SELECT ${accountId}::int, ${newRowId}, ${ruleId}::uuid, f.subject, 'firing', f.severity,
             f.amount_cents, f.detail, 'fired'
      FROM found f WHERE NOT EXISTS (SELECT FROM open o WHERE o.subject = f.subject)
      ON CONFLICT (account_id, rule_id, subject) WHERE state <> 'cleared' DO NOTHING
      RETURNING id, amount_cents, detail
    ), changed AS (
      UPDATE alert a
      SET severity = f.severity, amount_cents = f.amount_cents, detail = f.detail
      FROM open o JOIN found f ON f.subject = o.subject
      WHERE a.account_id = ${accountId} AND a.id = o.id
        AND (o.severity, o.amount_cents, o.detail)
          IS DISTINCT FROM (f.severity, f.amount_cents, f.detail)
    ), gone AS (
      UPDATE alert a
      SET state = 'cleared', cleared_at = clock_timestamp(),
          last_seen_at = GREATEST(rule.evaluated_at, a.fired_at),
          pending_message = CASE WHEN a.pending_message IS NULL AND rule.notifies_cleared
            THEN 'cleared'::alert_message_kind END
      FROM rule, open o
      WHERE a.account_id = ${accountId} AND a.id = o.id AND a.state <> 'cleared'
        AND a.fired_at < ${readAt}
        AND NOT EXISTS (SELECT FROM found f WHERE f.subject = o.subject)
      RETURNING a.id
    ), history AS (
      INSERT INTO alert_history_entry (account_id, alert_id, action)
      SELECT ${accountId}::int, id, 'fired'::alert_history_action FROM fired
      UNION ALL
      SELECT ${accountId}::int, id, 'cleared' FROM gone
    ), evaluated AS (
      UPDATE alert_rule r SET evaluated_at = clock_timestamp()
      FROM rule WHERE r.account_id = ${accountId} AND r.id = rule.id
    )
    SELECT id, amount_cents, detail FROM fired`;
}

/** Those of the alarms about whose debits no rule of the account has raised one before. */
export async function listFirstAlarms(
  tx: SqlTx,
  accountId: number,
  alarms: readonly FiredAlert[],
): Promise<FiredAlert[]> {
  if (alarms.length === 0) return [];
  // What another rule raises at the same time is recorded before the lock, or after all this.
  await tx.$queryRaw`SELECT FROM bank_account WHERE id = ${accountId} FOR NO KEY UPDATE`;
  const ids = alarms.map(({ id }) => id);
  const again = await tx.$queryRaw<{ id: string }[]>`
    SELECT a.id FROM alert a
    WHERE a.account_id = ${accountId} AND a.id = ANY (${ids}::uuid[]) AND EXISTS (
      SELECT FROM alert former
      JOIN alert_rule r ON r.account_id = former.account_id AND r.id = former.rule_id
      WHERE former.account_id = ${accountId} AND former.subject = a.subject
        AND former.id <> a.id AND ${findsAlarms})`;
  const known = new Set(again.map(({ id }) => id));
  return alarms.filter(({ id }) => !known.has(id));
}

/** Whether an alert (a) was announced and nobody acknowledged it in the time of its rule. */
const isUnanswered = (rule: Prisma.Sql) => Prisma.sql`a.state = 'firing'
  AND a.notified_at IS NOT NULL AND a.escalated_at IS NULL
  AND a.fired_at <= clock_timestamp() - ${rule}.escalate_after_minutes * interval '1 minute'`;

export interface DueMessage extends RuleKey {
  kind: AlertMessageKind;
}

/**
 * The messages that are due: once the first alert of a group has waited for its time, and for
 * alerts that nobody has acknowledged since the last message about them.
 */
export async function listDueMessages(db: SqlTx): Promise<DueMessage[]> {
  return db.$queryRaw`
    SELECT r.account_id, r.id AS "ruleId", due.kind
    FROM alert_rule r
    CROSS JOIN LATERAL (
      SELECT a.pending_message AS kind FROM alert a
      WHERE a.account_id = r.account_id AND a.rule_id = r.id AND a.pending_message IS NOT NULL
      GROUP BY a.pending_message
      -- A stored time is rounded to its millisecond, and may be later than it was.
      HAVING min(COALESCE(a.cleared_at, a.fired_at)) <= clock_timestamp()
        + interval '1 millisecond' - r.group_seconds * interval '1 second'
      UNION ALL
      SELECT 'reminder' WHERE EXISTS (
        SELECT FROM alert a
        WHERE a.account_id = r.account_id AND a.rule_id = r.id AND a.state = 'firing'
          AND a.notified_at <= clock_timestamp() - r.remind_after_hours * interval '1 hour')
      UNION ALL
      SELECT 'escalated' WHERE EXISTS (
        SELECT FROM alert a
        WHERE a.account_id = r.account_id AND a.rule_id = r.id AND ${isUnanswered(Prisma.sql`r`)})
    ) due
    WHERE ${isEnabled} ORDER BY r.account_id, r.id, due.kind`;
}

/** The alerts (a) of a rule that a message of this kind counts. */
function countedBy(kind: AlertMessageKind): Prisma.Sql {
  if (kind === 'escalated') return isUnanswered(Prisma.sql`rule`);
  return kind === 'reminder'
    ? Prisma.sql`a.state = 'firing'
        AND a.notified_at <= clock_timestamp() - rule.remind_after_hours * interval '1 hour'`
    : Prisma.sql`a.pending_message = ${kind}::alert_message_kind`;
}

/**
 * Makes one message of the alerts that wait for it, and a notification for each channel of the
 * rule. Alarms of a rule without channels go to all channels of the account. An alert is counted
 * once by a message of each kind, reminders aside.
 */
export async function makeMessage(
  db: SqlTx,
  { accountId, ruleId, kind }: DueMessage,
): Promise<void> {
  const isRepeat = kind === 'reminder' || kind === 'escalated';
  const isEscalation = kind === 'escalated';
  await db.$executeRaw`
    WITH rule AS MATERIALIZED (
      SELECT r.id, r.remind_after_hours, r.escalate_after_minutes, ${findsAlarms} AS "isOfAlarms"
      FROM alert_rule r
      WHERE r.account_id = ${accountId} AND r.id = ${ruleId}::uuid AND ${isEnabled}
      FOR NO KEY UPDATE
    ), counted AS (
      UPDATE alert a
      SET pending_message = CASE WHEN ${isRepeat}::boolean THEN a.pending_message END,
          notified_at = clock_timestamp(),
          escalated_at = CASE WHEN ${isEscalation}::boolean THEN clock_timestamp()
            ELSE a.escalated_at END
      FROM rule WHERE a.account_id = ${accountId} AND a.rule_id = rule.id AND ${countedBy(kind)}
      RETURNING a.id, a.subject, a.severity, a.amount_cents, a.detail, a.fired_at, a.cleared_at
    ), first AS (
      SELECT jsonb_agg(jsonb_build_object(
        'alertId', id, 'subject', subject, 'severity', severity,
        'amountCents', amount_cents::text, 'firedAt', fired_at, 'clearedAt', cleared_at,
        'detail', detail)) AS items
      FROM (
        SELECT * FROM counted ORDER BY severity DESC, amount_cents DESC NULLS LAST, fired_at, id
        LIMIT ${maxNamed}
      ) named
    ), by_severity AS (
      SELECT jsonb_object_agg(severity, alerts) AS severities FROM (
        SELECT severity, count(*)::int AS alerts FROM counted GROUP BY severity) each
    ), message AS (
      INSERT INTO alert_message
        (account_id, id, rule_id, kind, alert_count, amount_cents, without_amount, severities,
         items)
      SELECT ${accountId}::int, ${newRowId}, ${ruleId}::uuid, ${kind}::alert_message_kind,
             count(*)::int, sum(amount_cents)::bigint,
             (count(*) FILTER (WHERE amount_cents IS NULL))::int,
             (SELECT severities FROM by_severity), (SELECT items FROM first)
      FROM counted HAVING count(*) > 0
      RETURNING id
    ), named AS (
      SELECT n.channel_id FROM rule
      JOIN alert_rule_channel n ON n.account_id = ${accountId} AND n.rule_id = rule.id
        AND n.is_escalation = ${isEscalation}
    ), channels AS MATERIALIZED (
      SELECT c.id FROM rule
      JOIN alert_channel c ON c.account_id = ${accountId} AND c.deleted_at IS NULL
      WHERE c.id IN (SELECT channel_id FROM named)
        OR rule."isOfAlarms" AND NOT ${isEscalation} AND NOT EXISTS (
          SELECT FROM named JOIN alert_channel one ON one.account_id = ${accountId}
            AND one.id = named.channel_id AND one.deleted_at IS NULL)
      -- A channel that is removed meanwhile gets nothing: its removal waits, or is seen.
      FOR SHARE OF c
    )
    INSERT INTO alert_notification
      (account_id, id, message_id, channel_id, state, next_attempt_at)
    SELECT ${accountId}::int, ${newRowId}, message.id, channels.id, 'pending',
           date_trunc('milliseconds', clock_timestamp())
    FROM message CROSS JOIN channels`;
}
