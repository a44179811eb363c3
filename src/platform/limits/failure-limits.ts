// Which responses to failed authentications a process sends at once, holds for a while, or replaces
// by a refusal. An address has a few failures at once; it cannot have many at the same time.
import { fullBucket, takeToken, type TokenBucket } from './rate-limits.js';

export interface FailureLimitSettings {
  /** Failures of one address that get their response at once: a rate, and one second's worth. */
  perSecond: number;
  /** Responses that are held at the same time, of all addresses together. */
  maxHeld: number;
  /** Above it, the address that failed least recently counts as new. */
  maxAddresses: number;
}

export type FailureResponse = 'at_once' | 'held' | 'refused';

const fillMs = 1_000;

export class FailureLimits {
  /** Those of addresses that failed within the last second, the latest failure last. */
  private readonly buckets = new Map<string, TokenBucket>();
  private held = 0;

  constructor(private readonly limits: FailureLimitSettings) {}

  /** Counts a failure. A response that is held counts until `release` is called. */
  admit(address: string, nowMs: number): FailureResponse {
    if (this.takeTokenOf(address, nowMs)) return 'at_once';
    if (this.held >= this.limits.maxHeld) return 'refused';
    this.held += 1;
    return 'held';
  }

  release(): void {
    this.held -= 1;
  }

  private takeTokenOf(address: string, nowMs: number): boolean {
    const { perSecond } = this.limits;
    const bucket = this.buckets.get(address) ?? fullBucket(perSecond, nowMs);
    const { isTaken } = takeToken(bucket, perSecond, nowMs);
    this.buckets.delete(address);
    this.buckets.set(address, bucket);
    this.forgetFull(nowMs);
    return isTaken;
  }

  /** A bucket that is full again is like a new one. */
  private forgetFull(nowMs: number): void {
    for (const [address, { atMs }] of this.buckets) {
      const isFull = nowMs - atMs >= fillMs;
      if (!isFull && this.buckets.size <= this.limits.maxAddresses) return;
      this.buckets.delete(address);
    }
  }
}
