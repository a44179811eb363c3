// The inbox's SQL.
import type pg from 'pg';
import type { Db } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';

/**
 * A receipt by the bank's clock. A bank tells its time in whole seconds: less than two are the telling's, and no
 * clock's.
 */
const bankAhead = `CASE WHEN abs(s.clock_offset_ms) >= 2000 THEN s.clock_offset_ms ELSE 0 END * interval '1 millisecond'`;

export interface StoredWebhook {
  accountId: number;
  id: string;
  eventType: string;
  bodyHash: string;
  body: Buffer;
  isQuarantined: boolean;
  referenceKind: string | null;
  reference: string | null;
  copies: number;
}

/** Keeps webhooks in one statement; one that came before is counted. No two of them may be the same. */
export async function storeWebhooks(pool: pg.Pool, webhooks: StoredWebhook[]): Promise<void> {
  const column = <Value>(pick: (webhook: StoredWebhook) => Value) => webhooks.map(pick);
  await pool.query(
    `INSERT INTO webhook_event AS e
       (account_id, id, event_type, body_hash, body, state, reference_kind, reference, copies, received_at_bank_time)
     SELECT w.account_id, id, event_type, body_hash, body,
            CASE WHEN quarantined THEN 'quarantined' ELSE 'pending' END, reference_kind, reference, copies,
            now() + COALESCE(${bankAhead}, interval '0')
     FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::boolean[], $7::text[],
                 $8::text[], $9::int[])
       AS w(account_id, id, event_type, body_hash, body, quarantined, reference_kind, reference, copies)
     LEFT JOIN statement_state s ON s.account_id = w.account_id
     ORDER BY w.account_id, event_type, body_hash
     ON CONFLICT (account_id, event_type, body_hash) DO UPDATE SET copies = e.copies + EXCLUDED.copies`,
    [
      column(({ accountId }) => accountId),
      column(({ id }) => id),
      column(({ eventType }) => eventType),
      column(({ bodyHash }) => bodyHash),
      column(({ body }) => body),
      column(({ isQuarantined }) => isQuarantined),
      column(({ referenceKind }) => referenceKind),
      column(({ reference }) => reference),
      column(({ copies }) => copies),
    ],
  );
}

/**
 * Settles what a poll that began after its receipt has answered: its movement is on the statement, or it
 * names none, or it was looked for often enough. The others are looked for again.
 */
export async function settleAnswered(
  db: Db,
  accountId: number,
  pausesMs: readonly number[],
): Promise<{ settled: bigint; pauseMs: number | null }> {
  const [result] = await db.$queryRaw<{ settled: bigint; pauseMs: number | null }[]>`
    WITH answered AS (
      SELECT e.account_id, e.id, e.syncs, CASE WHEN e.syncs = 0 THEN e.received_at + ${Prisma.raw(bankAhead)} ELSE e.received_at_bank_time END AS received_at_bank_time,
             e.reference IS NULL OR EXISTS (
        SELECT 1 FROM statement_line t WHERE t.account_id = e.account_id AND e.reference_kind = 'nsu'
          AND t.nsu = CASE WHEN e.reference_kind = 'nsu' THEN e.reference::bigint END
        UNION ALL
        SELECT 1 FROM statement_line t WHERE t.account_id = e.account_id AND e.reference_kind = 'end_to_end_id'
          AND t.end_to_end_id = e.reference
        UNION ALL
        SELECT 1 FROM statement_line t WHERE t.account_id = e.account_id AND e.reference_kind = 'correlation_id'
          AND t.correlation_id = e.reference
      ) AS is_seen
      FROM webhook_event e JOIN statement_state s ON s.account_id = e.account_id
      WHERE e.account_id = ${accountId} AND e.state = 'pending' AND s.last_sync_started_at > e.received_at
        AND (e.next_sync_at IS NULL OR s.last_sync_started_at >= e.next_sync_at)
    ), settled AS (
      UPDATE webhook_event e SET state = 'settled', settled_at = clock_timestamp(), next_sync_at = NULL, received_at_bank_time = a.received_at_bank_time
      FROM answered a
      WHERE e.account_id = a.account_id AND e.id = a.id AND e.state = 'pending' AND e.syncs = a.syncs
        AND (a.is_seen OR a.syncs >= ${pausesMs.length})
      RETURNING e.id
    ), unseen AS (
      UPDATE webhook_event e SET syncs = e.syncs + 1, next_sync_at = clock_timestamp()
        + (${pausesMs}::int[])[a.syncs + 1] * interval '1 millisecond', received_at_bank_time = a.received_at_bank_time
      FROM answered a
      WHERE e.account_id = a.account_id AND e.id = a.id AND e.state = 'pending' AND e.syncs = a.syncs
        AND NOT a.is_seen AND a.syncs < ${pausesMs.length}
      RETURNING (${pausesMs}::int[])[a.syncs + 1] AS pause_ms
    )
    SELECT (SELECT count(*) FROM settled) AS settled, (SELECT min(pause_ms) FROM unseen) AS "pauseMs"`;
  return result ?? { settled: 0n, pauseMs: null };
}

/** Accounts with webhooks that a poll should have answered by now. */
export async function listWaiting(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT DISTINCT account_id AS "accountId" FROM webhook_event
    WHERE state = 'pending' AND COALESCE(next_sync_at, received_at + interval '1 second') < clock_timestamp()`;
}
