// Owns `idempotency_record` and `idempotent_step`. Only the request that holds the claim of a key
// may write its record.
import { v4 as uuidv4 } from 'uuid';
import type { Db } from '../../platform/postgres/database.service.js';

/** Identifies a request that was made under an idempotency key. */
export interface RecordKey {
  accountId: number;
  /** The name of the route. */
  route: string;
  key: string;
}

/** A request under its key, and the claim of the process that does it. */
export interface ClaimedKey extends RecordKey {
  claim: string;
}

/**
 * Claims the key for a request. A claim whose lease has ended without a response is taken over: the
 * process that made it has ended or is suspended. Returns the claim; null if another request holds
 * the key.
 */
export async function claimKey(
  db: Db,
  { accountId, route, key }: RecordKey,
  requestHash: string,
  leaseMs: number,
): Promise<string | null> {
  const rows = await db.$queryRaw<{ claim: string }[]>`
    INSERT INTO idempotency_record AS r (account_id, route, key, request_hash, claim, leased_until)
    VALUES (${accountId}, ${route}, ${key}, ${requestHash}, ${uuidv4()}::uuid,
            clock_timestamp() + ${leaseMs} * interval '1 millisecond')
    ON CONFLICT (account_id, route, key) DO UPDATE
    SET claim = EXCLUDED.claim, leased_until = EXCLUDED.leased_until
    WHERE r.status IS NULL AND r.request_hash = EXCLUDED.request_hash
      AND r.leased_until < clock_timestamp()
    RETURNING claim`;
  return rows[0]?.claim ?? null;
}

/**
 * Gives up the claim of a request that failed. Without steps nothing is stored of the request; with
 * steps, a repeat does the others.
 */
export async function releaseClaim(
  db: Db,
  { accountId, route, key, claim }: ClaimedKey,
): Promise<void> {
  const where = { accountId, route, key, claim, status: null };
  await db.idempotencyRecord.deleteMany({ where: { ...where, steps: { none: {} } } });
  await db.$executeRaw`
    UPDATE idempotency_record SET leased_until = clock_timestamp()
    WHERE account_id = ${accountId} AND route = ${route} AND key = ${key}
      AND claim = ${claim}::uuid AND status IS NULL`;
}

/** Stores a step and extends the lease. False if the step is stored already. */
export async function insertStep(
  db: Db,
  { accountId, route, key, claim }: ClaimedKey,
  { step, result, leaseMs }: { step: string; result: unknown; leaseMs: number },
): Promise<boolean> {
  const inserted = await db.$executeRaw`
    WITH extended AS (
      UPDATE idempotency_record
      SET leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
      WHERE account_id = ${accountId} AND route = ${route} AND key = ${key}
        AND claim = ${claim}::uuid
    )
    INSERT INTO idempotent_step (account_id, route, key, step, result)
    VALUES (${accountId}, ${route}, ${key}, ${step}, ${JSON.stringify(result)}::jsonb)
    ON CONFLICT DO NOTHING`;
  return inserted === 1;
}

/**
 * Deletes the responses of requests that ended, and the results of their steps, `days` after the
 * end of their last lease: a response may hold a secret. The record stays, because a repeat must
 * never do the request again. A request that has not ended keeps everything. Returns how many.
 */
export async function deleteOldResponses(db: Db, days: number, limit: number): Promise<number> {
  const [deleted] = await db.$queryRaw<{ records: bigint }[]>`
    WITH old AS (
      SELECT ctid, account_id, route, key FROM idempotency_record
      WHERE body IS NOT NULL
        AND leased_until < (SELECT clock_timestamp() - ${days} * interval '1 day')
      ORDER BY leased_until LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
    ), steps AS (
      DELETE FROM idempotent_step s USING old
      WHERE s.account_id = old.account_id AND s.route = old.route AND s.key = old.key
    ), records AS (
      UPDATE idempotency_record SET body = NULL
      WHERE status IS NOT NULL AND ctid = ANY (ARRAY(SELECT ctid FROM old))
      RETURNING 1
    )
    SELECT count(*) AS records FROM records`;
  return Number(deleted?.records ?? 0);
}
