import { Prisma } from '../generated/service/client.js';
import type { Db } from '../database.service.js';

/** A request that was made under a key, by whom it can be told from others. */
export interface RecordKey {
  accountId: number;
  route: string;
  key: string;
}

export interface Kept {
  requestHash: string;
  status: number | null;
  body: string | null;
  /** Tells this claim from a later one: whoever takes a claim over sets it anew. */
  claimedAt: Date;
}

const isThis = ({ accountId, route, key }: RecordKey) =>
  Prisma.sql`"account_id" = ${accountId} AND "route" = ${route} AND "key" = ${key}`;

/** Takes the key for a request; null when it was taken. */
export async function claim(db: Db, kept: RecordKey, requestHash: string): Promise<Date | null> {
  const { accountId, route, key } = kept;
  const rows = await db.$queryRaw<{ claimedAt: Date }[]>`
    INSERT INTO "idempotency_record" ("account_id", "route", "key", "request_hash", "created_at")
    VALUES (${accountId}, ${route}, ${key}, ${requestHash}, clock_timestamp())
    ON CONFLICT DO NOTHING
    RETURNING "created_at" AS "claimedAt"`;
  return rows[0]?.claimedAt ?? null;
}

/** Takes over a claim whose holder has been silent for so long that it is gone. */
export async function takeOver(
  db: Db,
  kept: RecordKey,
  requestHash: string,
  silentForMs: number,
): Promise<Date | null> {
  const rows = await db.$queryRaw<{ claimedAt: Date }[]>`
    UPDATE "idempotency_record" SET "created_at" = clock_timestamp()
    WHERE ${isThis(kept)} AND "status" IS NULL AND "request_hash" = ${requestHash}
      AND "created_at" < clock_timestamp() - ${silentForMs} * interval '1 millisecond'
    RETURNING "created_at" AS "claimedAt"`;
  return rows[0]?.claimedAt ?? null;
}

export async function find(db: Db, kept: RecordKey): Promise<Kept | null> {
  const rows = await db.$queryRaw<Kept[]>`
    SELECT "request_hash" AS "requestHash", "status", "body", "created_at" AS "claimedAt"
    FROM "idempotency_record" WHERE ${isThis(kept)}`;
  return rows[0] ?? null;
}

/** Keeps the answer, unless another has taken the claim over. */
export async function keep(
  db: Db,
  kept: RecordKey,
  claimedAt: Date,
  { status, body }: { status: number; body: string },
): Promise<void> {
  await db.$executeRaw`
    UPDATE "idempotency_record" SET "status" = ${status}, "body" = ${body}
    WHERE ${isThis(kept)} AND "status" IS NULL AND "created_at" = ${claimedAt}`;
}

/** Gives the key back: nothing came of the request. */
export async function release(db: Db, kept: RecordKey, claimedAt: Date): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "idempotency_record"
    WHERE ${isThis(kept)} AND "status" IS NULL AND "created_at" = ${claimedAt}`;
}

/** Forgets what nobody repeats any more: a sealed secret is not kept for ever. */
export async function forget(db: Db, olderThanDays: number): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "idempotency_record"
    WHERE "created_at" < clock_timestamp() - ${olderThanDays} * interval '1 day'`;
}
