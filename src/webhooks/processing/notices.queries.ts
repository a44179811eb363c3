// Reads notices that no module has recorded yet, and marks them.
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import type { WebhookEvent } from '../../generated/service/client.js';

export interface Notice extends Pick<WebhookEvent, 'eventType' | 'bodyHash'> {
  body: Uint8Array;
  receivedAtBankTime: Date;
  /** Whether it has waited for what it is about for so long that it waits no longer. */
  isOld: boolean;
}

/** Locks the oldest notices of an account. Another transaction skips them. */
export async function lockNotices(
  tx: Tx,
  accountId: number,
  { waitMs, limit }: { waitMs: number; limit: number },
): Promise<Notice[]> {
  return tx.$queryRaw<Notice[]>`
    SELECT event_type, body_hash, body, received_at_bank_time,
           received_at < clock_timestamp() - ${waitMs} * interval '1 millisecond' AS "isOld"
    FROM webhook_event WHERE account_id = ${accountId} AND state = 'unhandled'
    ORDER BY received_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`;
}

export async function endNotices(
  tx: Tx,
  accountId: number,
  state: 'processed' | 'quarantined',
  notices: readonly Pick<Notice, 'eventType' | 'bodyHash'>[],
): Promise<void> {
  if (notices.length === 0) return;
  await tx.$executeRaw`
    UPDATE webhook_event w
    SET state = ${state}::webhook_event_state,
        processed_at = CASE ${state} WHEN 'processed' THEN clock_timestamp() END
    FROM unnest(${notices.map(({ eventType }) => eventType)}::text[],
                ${notices.map(({ bodyHash }) => bodyHash)}::text[]) AS n(event_type, body_hash)
    WHERE w.account_id = ${accountId} AND w.event_type = n.event_type
      AND w.body_hash = n.body_hash`;
}

/** Accounts with notices that no module has recorded. */
export async function listAccountsWithNotices(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a WHERE EXISTS (
      SELECT FROM webhook_event w WHERE w.account_id = a.id AND w.state = 'unhandled')`;
}
