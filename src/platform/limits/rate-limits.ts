// Rate limits: our own, as a token bucket, and the bank's, as its `Retry-After` header.

/**
 * The tokens of a rate limit at an instant of a monotonic clock. The bucket holds at most one
 * second's worth.
 */
export interface TokenBucket {
  /** Negative when callers wait: that many tokens are taken in advance. */
  tokens: number;
  atMs: number;
}

/**
 * `waitMs` is the time until the taken token is available, or until the next token if none was
 * taken.
 */
export interface TokenResult {
  isTaken: boolean;
  waitMs: number;
}

/** A full bucket: one second's worth of tokens. */
export function fullBucket(ratePerSecond: number, atMs: number): TokenBucket {
  return { tokens: ratePerSecond, atMs };
}

/**
 * Takes one token if it is available within `maxWaitMs`. A caller that waits takes a future token
 * in advance, so that waiting callers proceed in the order of their calls. Changes the bucket.
 */
export function takeToken(
  bucket: TokenBucket,
  ratePerSecond: number,
  nowMs: number,
  maxWaitMs = 0,
): TokenResult {
  const gained = ((nowMs - bucket.atMs) * ratePerSecond) / 1_000;
  bucket.tokens = Math.min(ratePerSecond, bucket.tokens + gained);
  bucket.atMs = nowMs;
  // Rounded to microseconds first, so that an error of floating-point arithmetic does not add a
  // millisecond.
  const missingMicros = (Math.max(0, 1 - bucket.tokens) / ratePerSecond) * 1_000_000;
  const waitMs = Math.ceil(Math.round(missingMicros) / 1_000);
  if (waitMs > maxWaitMs) return { isTaken: false, waitMs };
  bucket.tokens -= 1;
  return { isTaken: true, waitMs };
}

// The beginning and end of HTTP's three date formats. Date.parse alone accepts nearly every text
// with a number in it.
const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .* GMT$/;

/**
 * Reads `Retry-After` (seconds or an HTTP date) in seconds. Null for any other text and for a date
 * in the past. `now` is the sender's time; while it is unknown, a date means nothing.
 */
export function readRetryAfter(header: unknown, now: Date | null): number | null {
  if (typeof header !== 'string') return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  if (now === null) return null;
  const at = httpDate.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) || at <= now.getTime() ? null : Math.ceil((at - now.getTime()) / 1_000);
}
