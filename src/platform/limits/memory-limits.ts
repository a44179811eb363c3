// Limits that one process holds in memory: rates, as token buckets, and what is open at once.
import type { AppError } from '../errors.js';
import { tooMany } from '../http/retry-after.js';
import type { OpenLimit } from './limits.js';

interface TokenBucket {
  ratePerSecond: number;
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

/** A bucket for each subject. It fills at its rate, and holds at most one second's worth. */
export class TokenBuckets<Subject extends number | string> {
  /** The one that was used last is the last. */
  private readonly buckets = new Map<Subject, TokenBucket>();

  /** Above `maxSubjects`, the subject that was used least recently counts as new. */
  constructor(private readonly maxSubjects = Infinity) {}

  /**
   * Takes one token if it is available within `maxWaitMs`. A caller that waits takes a future token
   * in advance, so that waiting callers proceed in the order of their calls. `nowMs` is of a
   * monotonic clock. A changed rate starts with a full bucket.
   */
  take(subject: Subject, ratePerSecond: number, nowMs: number, maxWaitMs = 0): TokenResult {
    const known = this.buckets.get(subject);
    const full = { ratePerSecond, tokens: ratePerSecond, atMs: nowMs };
    const bucket = known?.ratePerSecond === ratePerSecond ? known : full;
    bucket.tokens = tokensOf(bucket, nowMs);
    bucket.atMs = nowMs;
    this.buckets.delete(subject);
    this.buckets.set(subject, bucket);
    this.forget(nowMs);
    // Rounded to microseconds first, so that an error of floating-point arithmetic does not add a
    // millisecond.
    const missingMicros = (Math.max(0, 1 - bucket.tokens) / ratePerSecond) * 1_000_000;
    const waitMs = Math.ceil(Math.round(missingMicros) / 1_000);
    if (waitMs > maxWaitMs) return { isTaken: false, waitMs };
    bucket.tokens -= 1;
    return { isTaken: true, waitMs };
  }

  /** A bucket that is full again is like a new one. */
  private forget(nowMs: number): void {
    for (const [subject, bucket] of this.buckets) {
      const isFull = bucket.atMs < nowMs && tokensOf(bucket, nowMs) >= bucket.ratePerSecond;
      if (!isFull && this.buckets.size <= this.maxSubjects) return;
      this.buckets.delete(subject);
    }
  }
}

function tokensOf({ ratePerSecond, tokens, atMs }: TokenBucket, nowMs: number): number {
  return Math.min(ratePerSecond, tokens + ((nowMs - atMs) * ratePerSecond) / 1_000);
}

/** Counts what is open or under way of each subject. */
export class OpenCounts<Subject extends number | string> {
  private readonly counts = new Map<Subject, number>();

  constructor(private readonly limit: OpenLimit) {}

  /** Takes up to `wanted` places. Returns how many; 0 while all are taken. */
  take(subject: Subject, wanted: number): number {
    const taken = this.counts.get(subject) ?? 0;
    const places = Math.min(wanted, this.limit.most - taken);
    if (places > 0) this.counts.set(subject, taken + places);
    return places;
  }

  free(subject: Subject, places: number): void {
    const taken = (this.counts.get(subject) ?? 0) - places;
    if (taken > 0) this.counts.set(subject, taken);
    else this.counts.delete(subject);
  }

  /** Takes a place until the returned function is called. Throws `rate_limited` without one. */
  begin(subject: Subject): () => void {
    if (this.take(subject, 1) === 0) throw this.refusal();
    let isOpen = true;
    return () => {
      if (isOpen) this.free(subject, 1);
      isOpen = false;
    };
  }

  refusal(): AppError {
    const { says, retryAfterSeconds = 1 } = this.limit.refusal ?? {};
    return tooMany(says, retryAfterSeconds);
  }
}
