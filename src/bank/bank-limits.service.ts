// Admits calls to the bank: each account within its rate limit, each endpoint class while its
// circuit breaker is closed. The state is in memory: after a restart, the first calls establish it
// again.
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { TokenBuckets } from '../platform/limits/memory-limits.js';
import type { BankResponse } from './response-classification.js';
import * as breakers from './circuit-breaker.js';
import type { EndpointClass } from './endpoint-class.js';

export interface CallLimits {
  accountId: number;
  endpointClass: EndpointClass;
  /** Calls per second of the account; null for no limit. */
  ratePerSecond: number | null;
  /** How long the call may wait for the rate limit. */
  maxWaitMs: number;
}

export type Admission =
  | {
      isAdmitted: true;
      /** Whether the call has waited for the rate limit. */
      hasWaited: boolean;
      finish: (response: Pick<BankResponse<unknown>, 'outcome'> | null) => void;
    }
  | { isAdmitted: false; retryAfterMs: number; isLimited: boolean };

/** The pause when the bank reports a limit without a Retry-After. */
const defaultPauseMs = 1_000;

@Injectable()
export class BankLimits {
  private readonly breakers = new Map<
    string,
    { endpointClass: EndpointClass; breaker: breakers.Breaker }
  >();
  private readonly rates = new TokenBuckets<number>();

  /**
   * Waits for the account's rate limit. An admitted caller must call `finish` with the response, or
   * with null if nothing was sent.
   */
  async admit(call: CallLimits): Promise<Admission> {
    const breaker = this.breakerOf(call);
    const check = breakers.checkCall(breaker, performance.now());
    if (!check.isAllowed) return { ...check, isAdmitted: false };
    const { accountId, ratePerSecond: rate, maxWaitMs } = call;
    const { isTaken, waitMs } =
      rate === null
        ? { isTaken: true, waitMs: 0 }
        : this.rates.take(accountId, rate, performance.now(), maxWaitMs);
    if (!isTaken) return { isAdmitted: false, retryAfterMs: waitMs, isLimited: true };
    if (waitMs > 0) await sleep(waitMs);
    const permission = breakers.beginCall(breaker, performance.now());
    if (!permission.isAllowed) return { ...permission, isAdmitted: false };
    const { isProbe } = permission;
    return {
      isAdmitted: true,
      hasWaited: waitMs > 0,
      finish: (response) =>
        recordResult(breaker, response as BankResponse<unknown> | null, isProbe, performance.now()),
    };
  }

  private breakerOf({ accountId, endpointClass }: CallLimits): breakers.Breaker {
    const name = `${accountId} ${endpointClass}`;
    const known = this.breakers.get(name);
    if (known) return known.breaker;
    const breaker = breakers.closedBreaker();
    this.breakers.set(name, { endpointClass, breaker });
    return breaker;
  }

  /** The state of each breaker: of each account and endpoint class that was called. */
  listBreakers(): { endpointClass: EndpointClass; state: breakers.BreakerState }[] {
    const nowMs = performance.now();
    return [...this.breakers.values()].map(({ endpointClass, breaker }) => ({
      endpointClass,
      state: breakers.breakerStateOf(breaker, nowMs),
    }));
  }
}

function recordResult(
  breaker: breakers.Breaker,
  response: BankResponse<unknown> | null,
  isProbe: boolean,
  nowMs: number,
): void {
  if (!response) return breakers.recordNotSent(breaker, { isProbe });
  if (response.outcome !== 'unknown') return breakers.recordSuccess(breaker);
  const { status, reason, retryAfterMs } = response;
  if (status === 429 || (status === 503 && retryAfterMs !== undefined))
    breakers.pause(breaker, nowMs + (retryAfterMs ?? defaultPauseMs), status === 429);
  const isKeyRejected = status === 401 || status === 403;
  const isUnavailable = ['not_sent', 'no_response', 'too_late', 'bank_error'].includes(reason);
  if (isUnavailable || isKeyRejected)
    breakers.recordFailure(breaker, nowMs, { isProbe, opensAtOnce: isKeyRejected });
  else breakers.recordSuccess(breaker);
}
