// Claims the messages of channels and records whether they were sent.
import type { Db, Reader } from '../../platform/postgres/database.service.js';
import type {
  AlertChannel,
  AlertMessage,
  AlertNotification,
  AlertRule,
  BankAccount,
} from '../../generated/service/client.js';

export interface ChannelKey {
  accountId: number;
  channelId: string;
}

/** Channels with a due message. */
export async function listDueChannels(db: Reader): Promise<ChannelKey[]> {
  return db.$queryRaw`
    SELECT c.account_id, c.id AS "channelId" FROM alert_channel c
    WHERE c.deleted_at IS NULL AND EXISTS (
      SELECT FROM alert_notification n
      WHERE n.account_id = c.account_id AND n.channel_id = c.id AND n.state = 'pending'
        AND n.next_attempt_at <= (SELECT clock_timestamp()))`;
}

export type ClaimedNotification = Pick<AlertNotification, 'id'> &
  Pick<AlertChannel, 'language'> &
  Pick<AlertMessage, 'kind' | 'alertCount' | 'amountCents' | 'withoutAmount'> &
  Pick<AlertRule, 'conditionKind'> &
  Pick<BankAccount, 'slug'> & {
    messageId: string;
    channelKind: AlertChannel['kind'];
    destination: string;
    ruleId: string;
    ruleName: string;
    severities: Record<string, number>;
    items: unknown;
    madeAt: Date;
    attempt: number;
    claimedAt: Date;
  };

/** Claims a due message of one channel for `leaseMs`. It becomes due again after it. */
export async function claimNotification(
  db: Db,
  { accountId, channelId }: ChannelKey,
  leaseMs: number,
): Promise<ClaimedNotification | null> {
  const [claimed] = await db.$queryRaw<ClaimedNotification[]>`
    WITH due AS (
      SELECT n.id FROM alert_notification n
      WHERE n.account_id = ${accountId} AND n.channel_id = ${channelId}::uuid
        AND n.state = 'pending' AND n.next_attempt_at <= (SELECT clock_timestamp())
      ORDER BY n.next_attempt_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE alert_notification n
    SET attempts = n.attempts + 1,
        next_attempt_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    FROM due, alert_message m, alert_rule r, alert_channel c, bank_account a
    WHERE n.account_id = ${accountId} AND n.id = due.id
      AND m.account_id = n.account_id AND m.id = n.message_id
      AND r.account_id = m.account_id AND r.id = m.rule_id
      AND c.account_id = n.account_id AND c.id = n.channel_id AND a.id = n.account_id
    RETURNING n.id, n.message_id, c.kind AS "channelKind", c.language, c.destination, m.kind,
              m.alert_count, m.amount_cents, m.without_amount, m.severities, m.items,
              m.created_at AS "madeAt", r.id AS "ruleId", r.name AS "ruleName",
              r.condition_kind, a.slug, n.attempts AS attempt, clock_timestamp() AS "claimedAt"`;
  return claimed ?? null;
}

export interface NotificationResult {
  id: string;
  attempt: number;
  state: AlertNotification['state'];
  status: number | null;
  error: string | null;
  /** Null unless the state is pending. */
  retryInMs: number | null;
}

/** Records the result of an attempt, unless a later attempt has begun. */
export async function recordNotificationResult(
  db: Db,
  accountId: number,
  { id, attempt, state, status, error, retryInMs }: NotificationResult,
): Promise<void> {
  await db.$executeRaw`
    UPDATE alert_notification
    SET state = ${state}::delivery_state, last_status = ${status}, last_error = ${error},
        next_attempt_at = clock_timestamp() + ${retryInMs}::float8 * interval '1 millisecond',
        delivered_at = CASE WHEN ${state}::delivery_state = 'delivered' THEN clock_timestamp() END
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'pending'
      AND attempts = ${attempt}`;
}

/** PostgreSQL's time of a test that may be sent now; null within `intervalMs` after another one. */
export async function claimChannelTest(
  db: Db,
  { accountId, channelId }: ChannelKey,
  intervalMs: number,
): Promise<Date | null> {
  const [claimed] = await db.$queryRaw<{ testedAt: Date }[]>`
    UPDATE alert_channel SET tested_at = clock_timestamp()
    WHERE account_id = ${accountId} AND id = ${channelId}::uuid
      AND (tested_at IS NULL
        OR tested_at <= clock_timestamp() - ${intervalMs} * interval '1 millisecond')
    RETURNING tested_at`;
  return claimed?.testedAt ?? null;
}
