// Attempts to sign in, shared by all processes, and the addresses that a person has signed in from.
// Attempts come back far more slowly than the tokens of rate limits, which hold one second's worth.
import type { SqlTx } from '../../platform/postgres/database.service.js';

export interface AttemptLimit {
  /** It names no e-mail and no address. */
  subject: string;
  /** How many attempts there are at first. */
  burst: number;
  /** One more after each of these. */
  refillSeconds: number;
}

/**
 * Takes one attempt of each limit, or none. Returns 0, or after how many seconds there will be one.
 * An attempt that is refused writes nothing: whoever goes on trying keeps nobody out for longer.
 */
export async function takeAttempts(db: SqlTx, limits: readonly AttemptLimit[]): Promise<number> {
  const column = <Value>(read: (limit: AttemptLimit) => Value) => limits.map(read);
  // Attempts at the same time see the same rows: the last condition reads the row as it is then.
  const [row] = await db.$queryRaw<{ waitSeconds: number }[]>`
    WITH wanted AS (
      SELECT subject, refill, refill * (burst - 1) AS spread
      FROM (SELECT subject, burst, make_interval(secs => seconds) AS refill
            FROM unnest(${column(({ subject }) => subject)}::text[],
                        ${column(({ burst }) => burst)}::float8[],
                        ${column(({ refillSeconds }) => refillSeconds)}::float8[])
              AS wish(subject, burst, seconds)) AS wishes
    ), lacking AS (
      SELECT max(bucket.full_at - spread) AS until FROM wanted JOIN sign_in_limit bucket
        USING (subject) WHERE bucket.full_at > clock_timestamp() + spread
    ), taken AS (
      INSERT INTO sign_in_limit AS bucket (subject, full_at)
      SELECT subject, clock_timestamp() + refill FROM wanted
      WHERE (SELECT until FROM lacking) IS NULL ORDER BY subject
      ON CONFLICT (subject) DO UPDATE SET full_at = (
        SELECT GREATEST(bucket.full_at, clock_timestamp()) + refill FROM wanted
        WHERE subject = EXCLUDED.subject)
      WHERE bucket.full_at <= (
        SELECT clock_timestamp() + spread FROM wanted WHERE subject = EXCLUDED.subject)
      RETURNING subject
    )
    SELECT CASE WHEN (SELECT count(*) FROM taken) = (SELECT count(*) FROM wanted) THEN 0
      ELSE GREATEST(1, ceil(extract(epoch FROM
             (SELECT until FROM lacking) - clock_timestamp())))::int END AS "waitSeconds"`;
  return row?.waitSeconds ?? 0;
}

/** Deletes the buckets that are full. */
export async function deleteFullSignInLimits(db: SqlTx, limit: number): Promise<number> {
  return db.$executeRaw`
    DELETE FROM sign_in_limit WHERE subject IN (
      SELECT subject FROM sign_in_limit WHERE full_at < clock_timestamp() LIMIT ${limit})`;
}

export async function isKnownAddress(db: SqlTx, subject: string): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM operator_address WHERE subject = ${subject}`;
  return found.length > 0;
}

/** Stores an address of the person. Of more than `max`, those used longest ago are forgotten. */
export async function rememberAddress(
  tx: SqlTx,
  { subject, operatorId, max }: { subject: string; operatorId: string; max: number },
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO operator_address (subject, operator_id) VALUES (${subject}, ${operatorId}::uuid)
    ON CONFLICT (subject) DO UPDATE SET used_at = EXCLUDED.used_at`;
  await tx.$executeRaw`
    DELETE FROM operator_address WHERE operator_id = ${operatorId}::uuid AND subject IN (
      SELECT subject FROM operator_address WHERE operator_id = ${operatorId}::uuid
      ORDER BY used_at DESC OFFSET ${max})`;
}
