// Which responses to failed authentications a process sends at once, holds for a while, or replaces
// by a refusal. An address has a few failures at once; it cannot have many at the same time.

export interface FailureLimitSettings {
  /** Failures of one address that get their response at once: a rate, and one second's worth. */
  perSecond: number;
  /** Responses that are held at the same time, of all addresses together. */
  maxHeld: number;
  /** Above it, the address that failed least recently counts as new. */
  maxAddresses: number;
}

export type FailureResponse = 'at_once' | 'held' | 'refused';

interface FailureBucket {
  tokens: number;
  filledAtMs: number;
}

const fillMs = 1_000;

export class FailureLimits {
  /** Those of addresses that failed within the last second, the latest failure last. */
  private readonly buckets = new Map<string, FailureBucket>();
  private held = 0;

  constructor(private readonly limits: FailureLimitSettings) {}

  /** Counts a failure. A response that is held counts until `release` is called. */
  admit(address: string, nowMs: number): FailureResponse {
    if (this.takeToken(address, nowMs)) return 'at_once';
    if (this.held >= this.limits.maxHeld) return 'refused';
    this.held += 1;
    return 'held';
  }

  release(): void {
    this.held -= 1;
  }

  private takeToken(address: string, nowMs: number): boolean {
    const { perSecond } = this.limits;
    const bucket = this.buckets.get(address) ?? { tokens: perSecond, filledAtMs: nowMs };
    const filled = bucket.tokens + ((nowMs - bucket.filledAtMs) * perSecond) / fillMs;
    const available = Math.min(perSecond, filled);
    const isTaken = available >= 1;
    this.buckets.delete(address);
    this.buckets.set(address, {
      tokens: isTaken ? available - 1 : available,
      filledAtMs: nowMs,
    });
    this.forgetFull(nowMs);
    return isTaken;
  }

  /** A bucket that is full again is like a new one. */
  private forgetFull(nowMs: number): void {
    for (const [address, { filledAtMs }] of this.buckets) {
      const isFull = nowMs - filledAtMs >= fillMs;
      if (!isFull && this.buckets.size <= this.limits.maxAddresses) return;
      this.buckets.delete(address);
    }
  }
}
