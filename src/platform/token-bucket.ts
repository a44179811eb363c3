/** How much of a limit is left, at an instant of a clock that only goes forward. */
export interface TokenBucket {
  /** Below zero: so many are promised to those that wait. */
  tokens: number;
  atMs: number;
}

/** `waitMs`: until the token that was taken is there, or until there would be one. */
export interface Taking {
  isTaken: boolean;
  waitMs: number;
}

/** A bucket that nobody has taken from. */
export function fullBucket(ratePerSecond: number, atMs: number): TokenBucket {
  return { tokens: ratePerSecond, atMs };
}

/**
 * Takes one token of a bucket that holds one second's worth and fills at the same rate. Who is ready to wait
 * takes one that is still to come, so that those that wait go in the order in which they came.
 */
export function takeToken(
  bucket: TokenBucket,
  ratePerSecond: number,
  nowMs: number,
  patienceMs = 0,
): Taking {
  const gained = ((nowMs - bucket.atMs) * ratePerSecond) / 1_000;
  bucket.tokens = Math.min(ratePerSecond, bucket.tokens + gained);
  bucket.atMs = nowMs;
  // Rounded first: a part of a microsecond is the arithmetic's, not time.
  const missingMicros = (Math.max(0, 1 - bucket.tokens) / ratePerSecond) * 1_000_000;
  const waitMs = Math.ceil(Math.round(missingMicros) / 1_000);
  if (waitMs > patienceMs) return { isTaken: false, waitMs };
  bucket.tokens -= 1;
  return { isTaken: true, waitMs };
}
