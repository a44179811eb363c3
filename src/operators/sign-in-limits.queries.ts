// Token buckets of attempts to sign in, shared by all processes. They fill far more slowly than the
// rate limits of requests, which hold one second's worth.
import type { SqlTx } from '../database.service.js';

export interface AttemptLimit {
  /** A keyed hash: the table has no e-mail and no address. */
  subject: string;
  /** How many attempts there are at first. */
  burst: number;
  /** One more after each of these. */
  refillSeconds: number;
}

/**
 * Takes one attempt from the bucket. Returns 0, or after how many seconds there will be one. An
 * attempt that is refused takes nothing: whoever goes on trying keeps nobody out for longer.
 */
export async function takeAttempt(
  db: SqlTx,
  { subject, burst, refillSeconds }: AttemptLimit,
): Promise<number> {
  const [row] = await db.$queryRaw<{ waitSeconds: number }[]>`
    INSERT INTO sign_in_limit AS bucket (subject, tokens, is_granted, filled_at)
    VALUES (${subject}, ${burst - 1}::float8, true, clock_timestamp())
    ON CONFLICT (subject) DO UPDATE SET (tokens, is_granted, filled_at) = (
      SELECT CASE WHEN available >= 1 THEN available - 1 ELSE available END, available >= 1, clock
      FROM (
        SELECT clock, LEAST(${burst}::float8, bucket.tokens + GREATEST(0,
                 extract(epoch FROM clock - bucket.filled_at))::float8 / ${refillSeconds}::float8)
                 AS available
        FROM (SELECT clock_timestamp() AS clock) AS moment
      ) AS filled)
    RETURNING CASE WHEN is_granted THEN 0
                   ELSE ceil((1 - tokens) * ${refillSeconds}::float8) END AS "waitSeconds"`;
  return row?.waitSeconds ?? 0;
}

/** Buckets that nobody used for a day are full. */
export async function deleteFullSignInLimits(db: SqlTx, limit: number): Promise<number> {
  return db.$executeRaw`
    DELETE FROM sign_in_limit WHERE subject IN (
      SELECT subject FROM sign_in_limit
      WHERE filled_at < clock_timestamp() - interval '1 day' LIMIT ${limit})`;
}
