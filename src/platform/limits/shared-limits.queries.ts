// The limits that all processes share, each with a row if it was used lately: the tokens of rates,
// which processes lease in batches, and attempts to sign in, which come back far more slowly; a
// refused one writes nothing.
import type { Db, SqlTx } from '../postgres/database.service.js';
import type { AttemptLimit } from './limits.js';

export interface TokenRequest {
  /** Whose limit it is, and which. */
  subject: string;
  /** The bucket fills at this rate, and holds at most one second's worth. */
  perSecond: number;
  batch: number;
}

/**
 * Takes up to a batch of whole tokens from each bucket, and returns how many. A bucket without a
 * row is full.
 */
export async function takeTokens(
  db: Db,
  requests: readonly TokenRequest[],
): Promise<{ subject: string; granted: number }[]> {
  const column = <Value>(read: (request: TokenRequest) => Value) => requests.map(read);
  // The rows are locked in one order, so that processes never deadlock. The clock is read once the
  // row is locked. A clock that was set back refills nothing.
  return db.$queryRaw<{ subject: string; granted: number }[]>`
    INSERT INTO rate_limit AS bucket (subject, tokens, granted, filled_at)
    SELECT subject, per_second - wanted, wanted, clock_timestamp()
    FROM unnest(${column(({ subject }) => subject)}::text[],
                ${column(({ perSecond }) => perSecond)}::float8[],
                ${column(({ batch }) => batch)}::int[]) AS request(subject, per_second, wanted)
    ORDER BY subject
    ON CONFLICT (subject) DO UPDATE SET (tokens, granted, filled_at) = (
      SELECT available - whole, whole, clock
      FROM (
        SELECT clock, available, GREATEST(0, LEAST(EXCLUDED.granted, floor(available))) AS whole
        FROM (
          SELECT clock, LEAST(per_second, bucket.tokens + per_second
                   * GREATEST(0, extract(epoch FROM clock - bucket.filled_at))::float8) AS available
          FROM (
            SELECT clock_timestamp() AS clock, EXCLUDED.tokens + EXCLUDED.granted AS per_second
          ) AS limits
        ) AS filled
      ) AS granted)
    RETURNING subject, granted`;
}

/** Who makes an attempt, and how many there are. The subject names no e-mail and no address. */
export type WantedAttempt = AttemptLimit & { subject: string };

/**
 * Takes one attempt of each limit, or none. Returns 0, or after how many seconds there will be one.
 * An attempt that is refused writes nothing: whoever goes on trying keeps nobody out for longer.
 */
export async function takeAttempts(db: SqlTx, limits: readonly WantedAttempt[]): Promise<number> {
  const column = <Value>(read: (limit: WantedAttempt) => Value) => limits.map(read);
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

/** Deletes the buckets that are full: of rates, those that nobody used for a minute. */
export async function deleteFullBuckets(db: Db): Promise<void> {
  await db.$executeRaw`
    DELETE FROM rate_limit WHERE filled_at < clock_timestamp() - interval '1 minute'`;
  await db.$executeRaw`DELETE FROM sign_in_limit WHERE full_at < clock_timestamp()`;
}
