// The token buckets that all processes share: a row for each limit that was used lately.
import type { Db } from '../postgres/database.service.js';

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

/** Deletes the buckets that nobody used for a minute: they are full. */
export async function deleteFullBuckets(db: Db): Promise<void> {
  await db.$executeRaw`
    DELETE FROM rate_limit WHERE filled_at < clock_timestamp() - interval '1 minute'`;
}
