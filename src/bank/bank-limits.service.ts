// Who may call the bank now: each account at its rate, each kind of call as long as the bank answers it. Kept in
// the memory of the process: what is forgotten at a restart is asked of the bank again, once.
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { fullBucket, takeToken, type TokenBucket } from '../platform/token-bucket.js';
import type { BankAnswer } from './answer.js';
import * as breakers from './circuit-breaker.js';
import type { EndpointClass } from './endpoint-class.js';

export interface Asking {
  accountId: number;
  endpointClass: EndpointClass;
  /** Calls a second of the account; null for no limit. */
  ratePerSecond: number | null;
  /** How long it may wait for its turn. */
  patienceMs: number;
}

export type Admission =
  | { isAdmitted: true; conclude: (answer: Pick<BankAnswer<unknown>, 'outcome'> | null) => void }
  | { isAdmitted: false; retryAfterMs: number; isLimited: boolean };

/** Where a limit is told without a time. */
const defaultPauseMs = 1_000;

@Injectable()
export class BankLimits {
  private readonly breakers = new Map<string, breakers.Breaker>();
  private readonly buckets = new Map<number, { rate: number; bucket: TokenBucket }>();

  /** Waits for the account's turn; whoever is admitted concludes, with null where nothing was sent. */
  async admit(asking: Asking): Promise<Admission> {
    const breaker = this.breaker(asking);
    const first = breakers.look(breaker, performance.now());
    if (!first.isLetIn) return { isAdmitted: false, ...withoutEntry(first) };
    const { isTaken, waitMs } = this.take(asking);
    if (!isTaken) return { isAdmitted: false, retryAfterMs: waitMs, isLimited: true };
    if (waitMs > 0) await sleep(waitMs);
    const entry = breakers.enter(breaker, performance.now());
    if (!entry.isLetIn) return { isAdmitted: false, ...withoutEntry(entry) };
    return {
      isAdmitted: true,
      conclude: (answer) =>
        conclude(breaker, answer as BankAnswer<unknown> | null, entry.isProbe, performance.now()),
    };
  }

  private take({ accountId, ratePerSecond: rate, patienceMs }: Asking) {
    if (rate === null) return { isTaken: true, waitMs: 0 };
    const nowMs = performance.now();
    const known = this.buckets.get(accountId);
    // A limit that was changed begins anew.
    const bucket = known?.rate === rate ? known.bucket : fullBucket(rate, nowMs);
    this.buckets.set(accountId, { rate, bucket });
    return takeToken(bucket, rate, nowMs, patienceMs);
  }

  private breaker({ accountId, endpointClass }: Asking): breakers.Breaker {
    const name = `${accountId} ${endpointClass}`;
    const breaker = this.breakers.get(name) ?? breakers.closedBreaker();
    this.breakers.set(name, breaker);
    return breaker;
  }
}

function withoutEntry({ retryAfterMs, isLimited }: { retryAfterMs: number; isLimited: boolean }) {
  return { retryAfterMs, isLimited };
}

function conclude(
  breaker: breakers.Breaker,
  answer: BankAnswer<unknown> | null,
  isProbe: boolean,
  nowMs: number,
): void {
  if (!answer) return breakers.leftAside(breaker, { isProbe });
  if (answer.outcome !== 'unknown') return breakers.wentWell(breaker);
  const { status, reason, retryAfterMs } = answer;
  if (status === 429 || (status === 503 && retryAfterMs !== undefined))
    breakers.pause(breaker, nowMs + (retryAfterMs ?? defaultPauseMs), status === 429);
  const isRefusedKey = status === 401 || status === 403;
  const isAway = ['not_sent', 'no_answer', 'too_late', 'bank_error'].includes(reason);
  if (isAway || isRefusedKey) breakers.failed(breaker, nowMs, { isProbe, atOnce: isRefusedKey });
  else breakers.wentWell(breaker);
}
