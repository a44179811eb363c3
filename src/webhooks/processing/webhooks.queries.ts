// Stores webhooks once, counts those that are not processed, and deletes old bytes.
import type pg from 'pg';
import type { Db } from '../../platform/postgres/database.service.js';
import type { WebhookEvent } from '../../generated/service/client.js';
import { noticeEventTypes } from './webhook-body.js';

/** How far the bank's clock is ahead of PostgreSQL's. An offset that may be zero counts as zero. */
export const bankClockLead = `CASE WHEN s.clock_offset_ms <= 0 AND s.clock_offset_max_ms >= 0 THEN 0
  ELSE s.clock_offset_ms END * interval '1 millisecond'`;

export interface StoredWebhook extends Pick<
  WebhookEvent,
  | ('accountId' | 'eventType' | 'bodyHash' | 'referenceKind' | 'reference' | 'requestKey')
  | ('copies' | 'traceparent')
> {
  body: Buffer;
  isQuarantined: boolean;
}

/**
 * Stores webhooks in one SQL statement. A webhook that is already stored only counts another copy.
 * No two of `webhooks` may have the same account, event type and body.
 */
export async function storeWebhooks(pool: pg.Pool, webhooks: StoredWebhook[]): Promise<void> {
  const column = <Value>(pick: (webhook: StoredWebhook) => Value) => webhooks.map(pick);
  // All bodies are one parameter: an array of them would be sent as text with two digits a byte.
  const bodies = column(({ body }) => body);
  const text = `INSERT INTO webhook_event AS e
       (account_id, event_type, body_hash, body, state, reference_kind, reference,
        request_key, copies, received_at, received_at_bank_time, traceparent)
     SELECT w.account_id, event_type, body_hash,
            substring($4::bytea FROM body_start FOR body_length),
            (CASE WHEN quarantined THEN 'quarantined'
                  WHEN event_type = ANY ($11::text[]) THEN 'unhandled'
                  ELSE 'pending' END)::webhook_event_state,
            reference_kind, reference, request_key, copies,
            now.at, now.at + COALESCE(${bankClockLead}, interval '0'), traceparent
     FROM unnest($1::int[], $2::text[], $3::text[], $5::int[], $6::int[],
                 $7::boolean[], $8::text[], $9::text[], $10::int[], $12::text[], $13::text[])
       AS w(account_id, event_type, body_hash, body_start, body_length, quarantined,
            reference_kind, reference, copies, request_key, traceparent)
     CROSS JOIN (SELECT clock_timestamp() AS at) now
     LEFT JOIN statement_state s ON s.account_id = w.account_id
     ORDER BY w.account_id, event_type, body_hash
     ON CONFLICT (account_id, event_type, body_hash)
       DO UPDATE SET copies = e.copies + EXCLUDED.copies`;
  const values = [
    column(({ accountId }) => accountId),
    column(({ eventType }) => eventType),
    column(({ bodyHash }) => bodyHash),
    Buffer.concat(bodies),
    startsOf(bodies),
    bodies.map(({ length }) => length),
    column(({ isQuarantined }) => isQuarantined),
    column(({ referenceKind }) => referenceKind),
    column(({ reference }) => reference),
    column(({ copies }) => copies),
    noticeEventTypes,
    column(({ requestKey }) => requestKey),
    column(({ traceparent }) => traceparent),
  ];
  await pool.query(text, values);
}

/** Where each body begins in their concatenation. SQL counts from one. */
function startsOf(bodies: readonly Buffer[]): number[] {
  let start = 1;
  return bodies.map(({ length }) => {
    start += length;
    return start - length;
  });
}

/**
 * Notices that no module has recorded count as pending. Accounts without such webhooks are left
 * out.
 */
export async function countUnprocessedWebhooks(
  db: Db,
  accountIds: readonly number[],
): Promise<{ accountId: number; pending: number; quarantined: number }[]> {
  return db.$queryRaw<{ accountId: number; pending: number; quarantined: number }[]>`
    SELECT account_id, count(*) FILTER (WHERE state <> 'quarantined')::int AS pending,
           count(*) FILTER (WHERE state = 'quarantined')::int AS quarantined
    FROM (
      SELECT account_id, state FROM webhook_event
      WHERE account_id = ANY(${accountIds}::int[]) AND (state = 'pending' OR state = 'quarantined')
      UNION ALL
      SELECT account_id, state FROM webhook_event
      WHERE account_id = ANY(${accountIds}::int[]) AND state = 'unhandled'
    ) unprocessed
    GROUP BY account_id`;
}

/**
 * Deletes the bytes of webhooks that were processed or discarded more than `days` ago. Everything
 * else of them stays: a copy is still recognized, and counts and references do not change. Returns
 * how many.
 * The ctids of the locked rows spare a join, for which PostgreSQL might read the whole table.
 */
export async function deleteOldBodies(db: Db, days: number, limit: number): Promise<number> {
  return db.$executeRaw`
    UPDATE webhook_event SET body = NULL
    WHERE (state = 'processed' OR state = 'discarded') AND ctid = ANY (ARRAY(
      SELECT ctid FROM webhook_event
      WHERE (state = 'processed' OR state = 'discarded') AND body IS NOT NULL
        AND processed_at < (SELECT clock_timestamp() - ${days} * interval '1 day')
      ORDER BY processed_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED))`;
}
