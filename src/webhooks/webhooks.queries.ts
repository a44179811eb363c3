// Stores webhooks once, and marks them as processed after a sync that began after their receipt.
import type pg from 'pg';
import type { Db } from '../database.service.js';
import type { Reader } from '../shared-reads.queries.js';
import { Prisma, type WebhookEvent } from '../generated/service/client.js';

/** How far the bank's clock is ahead of PostgreSQL's. An offset that may be zero counts as zero. */
const bankClockLead = `CASE WHEN s.clock_offset_ms <= 0 AND s.clock_offset_max_ms >= 0 THEN 0
  ELSE s.clock_offset_ms END * interval '1 millisecond'`;

export interface StoredWebhook extends Pick<
  WebhookEvent,
  'accountId' | 'id' | 'eventType' | 'bodyHash' | 'referenceKind' | 'reference' | 'copies'
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
  await pool.query(
    `INSERT INTO webhook_event AS e
       (account_id, id, event_type, body_hash, body, state, reference_kind, reference, copies,
        received_at, received_at_bank_time)
     SELECT w.account_id, id, event_type, body_hash,
            substring($5::bytea FROM body_start FOR body_length),
            (CASE WHEN quarantined THEN 'quarantined' ELSE 'pending' END)::webhook_event_state,
            reference_kind, reference, copies,
            now.at, now.at + COALESCE(${bankClockLead}, interval '0')
     FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $6::int[], $7::int[],
                 $8::boolean[], $9::text[], $10::text[], $11::int[])
       AS w(account_id, id, event_type, body_hash, body_start, body_length, quarantined,
            reference_kind, reference, copies)
     CROSS JOIN (SELECT clock_timestamp() AS at) now
     LEFT JOIN statement_state s ON s.account_id = w.account_id
     ORDER BY w.account_id, event_type, body_hash
     ON CONFLICT (account_id, event_type, body_hash)
       DO UPDATE SET copies = e.copies + EXCLUDED.copies`,
    [
      column(({ accountId }) => accountId),
      column(({ id }) => id),
      column(({ eventType }) => eventType),
      column(({ bodyHash }) => bodyHash),
      Buffer.concat(bodies),
      startsOf(bodies),
      bodies.map(({ length }) => length),
      column(({ isQuarantined }) => isQuarantined),
      column(({ referenceKind }) => referenceKind),
      column(({ reference }) => reference),
      column(({ copies }) => copies),
    ],
  );
}

/** Where each body begins in their concatenation. SQL counts from one. */
function startsOf(bodies: readonly Buffer[]): number[] {
  let start = 1;
  return bodies.map(({ length }) => {
    start += length;
    return start - length;
  });
}

/** Bounds how long a run keeps the database from storing new webhooks. */
const maxProcessed = 1_000;

export interface ProcessedWebhooks {
  /** The ids of those that are processed now. */
  processed: string[];
  /** From the receipt of each webhook that was processed until then. */
  processingSeconds: number[];
  /** From the movement to the receipt of those that name one line. */
  delaySeconds: number[];
  /**
   * The shortest delay after which a webhook needs another sync: none if one came after the last
   * sync had begun. Null if none waits for one.
   */
  nextSyncInMs: number | null;
  /** False if there may be more webhooks than one run processes. */
  isComplete: boolean;
}

export const nothingProcessed: ProcessedWebhooks = {
  ...{ processed: [], processingSeconds: [], delaySeconds: [] },
  ...{ nextSyncInMs: null, isComplete: true },
};

/**
 * Marks pending webhooks as processed after a sync that began after their receipt. These are the
 * webhooks whose reference the statement shows, those without a reference, and those whose
 * reference was still missing after the last delay. For the others, the next sync becomes due after
 * the next of `repeatDelaysMs`. The first sync after the receipt has read the bank's clock, so it
 * corrects `received_at_bank_time`. The ctids of the locked rows spare a join with them, for which
 * PostgreSQL might compare each with each while it has no statistics of a burst.
 */
export async function processSyncedWebhooks(
  db: Db,
  accountId: number,
  repeatDelaysMs: readonly number[],
): Promise<ProcessedWebhooks> {
  const [result] = await db.$queryRaw<ProcessedWebhooks[]>`
    WITH changed AS (
      UPDATE webhook_event e
      SET (state, processed_at, syncs, next_sync_at, received_at_bank_time) = (
        SELECT CASE WHEN is_last THEN 'processed'::webhook_event_state ELSE e.state END,
               CASE WHEN is_last THEN clock_timestamp() END,
               CASE WHEN is_last THEN e.syncs ELSE e.syncs + 1 END,
               CASE WHEN NOT is_last THEN clock_timestamp()
                 + (${repeatDelaysMs}::int[])[e.syncs + 1] * interval '1 millisecond' END,
               CASE WHEN e.syncs = 0 THEN e.received_at + ${Prisma.raw(bankClockLead)}
                    ELSE e.received_at_bank_time END
        FROM (SELECT e.syncs >= ${repeatDelaysMs.length} OR e.reference IS NULL OR EXISTS (
          SELECT 1 FROM statement_line t
          WHERE t.account_id = e.account_id AND e.reference_kind = 'nsu'
            AND t.nsu = CASE WHEN e.reference_kind = 'nsu' THEN e.reference::bigint END
          UNION ALL
          SELECT 1 FROM statement_line t
          WHERE t.account_id = e.account_id AND e.reference_kind = 'end_to_end_id'
            AND t.end_to_end_id = e.reference
          UNION ALL
          SELECT 1 FROM statement_line t
          WHERE t.account_id = e.account_id AND e.reference_kind = 'correlation_id'
            AND t.correlation_id = e.reference
        ) AS is_last) seen
      )
      FROM statement_state s
      WHERE s.account_id = ${accountId} AND e.ctid = ANY (ARRAY(
        SELECT w.ctid FROM webhook_event w JOIN statement_state n ON n.account_id = w.account_id
        WHERE w.account_id = ${accountId} AND w.state = 'pending'
          AND n.last_sync_started_at > w.received_at
          AND (w.next_sync_at IS NULL OR n.last_sync_started_at >= w.next_sync_at)
        ORDER BY w.received_at LIMIT ${maxProcessed} FOR NO KEY UPDATE OF w))
      RETURNING e.id, e.state, e.syncs, e.reference_kind, e.reference, e.processed_at,
                e.received_at, e.received_at_bank_time
    ), processed AS (
      SELECT * FROM changed WHERE state = 'processed'
    )
    SELECT ARRAY(SELECT id::text FROM processed) AS processed,
           ARRAY(SELECT extract(epoch FROM processed_at - received_at)::float8 FROM processed)
             AS "processingSeconds",
           -- A charge may be paid more than once: which payment its webhook reports is not known.
           ARRAY(
             SELECT extract(epoch FROM
                      GREATEST(interval '0', received_at_bank_time - line.occurred_at))::float8
             FROM processed CROSS JOIN LATERAL (
               SELECT t.occurred_at FROM statement_line t
               WHERE t.account_id = ${accountId} AND reference_kind = 'nsu'
                 AND t.nsu = CASE WHEN reference_kind = 'nsu' THEN reference::bigint END
               UNION ALL
               SELECT t.occurred_at FROM statement_line t
               WHERE t.account_id = ${accountId} AND reference_kind = 'end_to_end_id'
                 AND t.end_to_end_id = reference
               LIMIT 1
             ) line
           ) AS "delaySeconds",
           CASE WHEN EXISTS (
             SELECT FROM webhook_event w LEFT JOIN statement_state n ON n.account_id = w.account_id
             WHERE w.account_id = ${accountId} AND w.state = 'pending' AND w.next_sync_at IS NULL
               AND (n.last_sync_started_at > w.received_at) IS NOT TRUE
           ) THEN 0 ELSE (
             SELECT min((${repeatDelaysMs}::int[])[syncs]) FROM changed WHERE state = 'pending'
           ) END AS "nextSyncInMs",
           (SELECT count(*) FROM changed) < ${maxProcessed} AS "isComplete"`;
  return result ?? nothingProcessed;
}

/** Accounts without such webhooks are left out. */
export async function countUnprocessedWebhooks(
  db: Db,
  accountIds: readonly number[],
): Promise<{ accountId: number; pending: number; quarantined: number }[]> {
  return db.$queryRaw<{ accountId: number; pending: number; quarantined: number }[]>`
    SELECT account_id, count(*) FILTER (WHERE state = 'pending')::int AS pending,
           count(*) FILTER (WHERE state = 'quarantined')::int AS quarantined
    FROM webhook_event
    WHERE account_id = ANY(${accountIds}::int[]) AND (state = 'pending' OR state = 'quarantined')
    GROUP BY account_id`;
}

/**
 * Deletes the bytes of webhooks that were processed more than `days` ago. Everything else of them
 * stays: a copy is still recognized, and counts and references do not change. Returns how many.
 * The ctids of the locked rows spare a join, for which PostgreSQL might read the whole table.
 */
export async function deleteOldBodies(db: Db, days: number, limit: number): Promise<number> {
  return db.$executeRaw`
    UPDATE webhook_event SET body = NULL
    WHERE state = 'processed' AND ctid = ANY (ARRAY(
      SELECT ctid FROM webhook_event
      WHERE state = 'processed' AND body IS NOT NULL
        AND processed_at < (SELECT clock_timestamp() - ${days} * interval '1 day')
      ORDER BY processed_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED))`;
}

/** Accounts with pending webhooks for which a sync should have completed by now. */
export async function listAccountsWithPendingWebhooks(
  db: Reader,
): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT DISTINCT account_id FROM webhook_event
    WHERE state = 'pending'
      AND COALESCE(next_sync_at, received_at + interval '1 second') < clock_timestamp()`;
}
