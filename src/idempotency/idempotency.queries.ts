// Owns `idempotency_record`. Only the request that holds the claim of a key may write its record.
import type { Db } from '../database.service.js';

/** Identifies a request that was made under an idempotency key. */
export interface RecordKey {
  accountId: number;
  /** The name of the route. */
  route: string;
  key: string;
}

/**
 * Claims the key for a request. A claim older than `abandonedAfterMs` that has no response is taken
 * over: the process that made it has ended. Returns the time of the claim, which distinguishes it
 * from a later claim; null if another request holds the key.
 */
export async function claimKey(
  db: Db,
  { accountId, route, key }: RecordKey,
  requestHash: string,
  abandonedAfterMs: number,
): Promise<Date | null> {
  const rows = await db.$queryRaw<{ claimedAt: Date }[]>`
    INSERT INTO idempotency_record AS r (account_id, route, key, request_hash, created_at)
    VALUES (${accountId}, ${route}, ${key}, ${requestHash}, clock_timestamp())
    ON CONFLICT (account_id, route, key) DO UPDATE SET created_at = clock_timestamp()
    WHERE r.status IS NULL AND r.request_hash = EXCLUDED.request_hash
      AND r.created_at < clock_timestamp() - ${abandonedAfterMs} * interval '1 millisecond'
    RETURNING created_at AS "claimedAt"`;
  return rows[0]?.claimedAt ?? null;
}

/** Deletes old records: no client repeats those requests, and a record may hold a secret. */
export async function deleteRecordsOlderThan(db: Db, days: number): Promise<void> {
  await db.$executeRaw`
    DELETE FROM idempotency_record
    WHERE created_at < clock_timestamp() - ${days} * interval '1 day'`;
}
