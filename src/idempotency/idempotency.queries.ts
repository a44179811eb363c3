// Owns `idempotency_record`. Only the request that holds the claim of a key may write its record.
import { Prisma } from '../generated/service/client.js';
import type { Db } from '../database.service.js';

/** Identifies a request that was made under an idempotency key. */
export interface RecordKey {
  accountId: number;
  /** The name of the route. */
  route: string;
  key: string;
}

export interface IdempotencyRecord {
  requestHash: string;
  /** Null while the first request is in progress. */
  status: number | null;
  /** The encrypted response; null while the first request is in progress. */
  body: string | null;
}

const hasRecordKey = ({ accountId, route, key }: RecordKey) =>
  Prisma.sql`"account_id" = ${accountId} AND "route" = ${route} AND "key" = ${key}`;

/**
 * Claims the key for a request. Returns the time of the claim, which distinguishes it from a later
 * claim; null if the key is already claimed.
 */
export async function claimKey(
  db: Db,
  recordKey: RecordKey,
  requestHash: string,
): Promise<Date | null> {
  const { accountId, route, key } = recordKey;
  const rows = await db.$queryRaw<{ claimedAt: Date }[]>`
    INSERT INTO "idempotency_record" ("account_id", "route", "key", "request_hash", "created_at")
    VALUES (${accountId}, ${route}, ${key}, ${requestHash}, clock_timestamp())
    ON CONFLICT DO NOTHING
    RETURNING "created_at" AS "claimedAt"`;
  return rows[0]?.claimedAt ?? null;
}

/**
 * Takes over a claim older than `abandonedAfterMs` that has no response: the process that made the
 * claim has ended. Returns the time of the new claim, or null if there is no such claim.
 */
export async function takeOverClaim(
  db: Db,
  recordKey: RecordKey,
  requestHash: string,
  abandonedAfterMs: number,
): Promise<Date | null> {
  const rows = await db.$queryRaw<{ claimedAt: Date }[]>`
    UPDATE "idempotency_record" SET "created_at" = clock_timestamp()
    WHERE ${hasRecordKey(recordKey)} AND "status" IS NULL AND "request_hash" = ${requestHash}
      AND "created_at" < clock_timestamp() - ${abandonedAfterMs} * interval '1 millisecond'
    RETURNING "created_at" AS "claimedAt"`;
  return rows[0]?.claimedAt ?? null;
}

export async function findIdempotencyRecord(
  db: Db,
  recordKey: RecordKey,
): Promise<IdempotencyRecord | null> {
  const rows = await db.$queryRaw<IdempotencyRecord[]>`
    SELECT "request_hash" AS "requestHash", "status", "body"
    FROM "idempotency_record" WHERE ${hasRecordKey(recordKey)}`;
  return rows[0] ?? null;
}

/** Stores the response, unless another request has taken over the claim. */
export async function storeResponse(
  db: Db,
  recordKey: RecordKey,
  claimedAt: Date,
  { status, body }: { status: number; body: string },
): Promise<void> {
  await db.$executeRaw`
    UPDATE "idempotency_record" SET "status" = ${status}, "body" = ${body}
    WHERE ${hasRecordKey(recordKey)} AND "status" IS NULL AND "created_at" = ${claimedAt}`;
}

/** Releases the key after a request that failed, so that the same key can be used again. */
export async function releaseClaim(db: Db, recordKey: RecordKey, claimedAt: Date): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "idempotency_record"
    WHERE ${hasRecordKey(recordKey)} AND "status" IS NULL AND "created_at" = ${claimedAt}`;
}

/** Deletes old records: no client repeats those requests, and a record may hold a secret. */
export async function deleteRecordsOlderThan(db: Db, days: number): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "idempotency_record"
    WHERE "created_at" < clock_timestamp() - ${days} * interval '1 day'`;
}
