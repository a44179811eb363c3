/** How much of its limit an account has left, at an instant of a clock that only goes forward. */
export interface TokenBucket {
  tokens: number;
  atMs: number;
}

export type Taking = { isTaken: true } | { isTaken: false; retryAfterSeconds: number };

/** A bucket of an account that was not seen before. */
export function fullBucket(ratePerSecond: number, atMs: number): TokenBucket {
  return { tokens: ratePerSecond, atMs };
}

/** Takes one token of a bucket that holds one second's worth and fills at the same rate. */
export function takeToken(bucket: TokenBucket, ratePerSecond: number, nowMs: number): Taking {
  const gained = ((nowMs - bucket.atMs) * ratePerSecond) / 1_000;
  bucket.tokens = Math.min(ratePerSecond, bucket.tokens + gained);
  bucket.atMs = nowMs;
  if (bucket.tokens < 1) {
    const waitSeconds = (1 - bucket.tokens) / ratePerSecond;
    return { isTaken: false, retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)) };
  }
  bucket.tokens -= 1;
  return { isTaken: true };
}
