import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  closedBreaker,
  beginCall,
  checkCall,
  pause,
  recordFailure,
  recordNotSent,
  recordSuccess,
  type Breaker,
} from './circuit-breaker.js';

const allowed = { isAllowed: true, isProbe: false };
const probe = { isAllowed: true, isProbe: true };
const denied = (retryAfterMs: number, isLimited = false) => ({
  isAllowed: false,
  retryAfterMs,
  isLimited,
});

/** A breaker that has just opened, at time 0. */
function openBreaker(): Breaker {
  const breaker = closedBreaker();
  for (let count = 0; count < 5; count += 1) recordFailure(breaker, 0, { isProbe: false });
  return breaker;
}

describe('the circuit breaker', () => {
  it('opens at the fifth consecutive failure and not before', () => {
    const breaker = closedBreaker();
    for (let count = 0; count < 4; count += 1) recordFailure(breaker, 0, { isProbe: false });
    expect(beginCall(breaker, 0)).toEqual(allowed);
    recordFailure(breaker, 0, { isProbe: false });
    expect(beginCall(breaker, 0)).toEqual(denied(1_000));
  });

  it('counts consecutive failures: a success resets the count', () => {
    const breaker = closedBreaker();
    for (let count = 0; count < 40; count += 1) {
      recordFailure(breaker, count, { isProbe: false });
      if (count % 4 === 3) recordSuccess(breaker);
    }
    expect(beginCall(breaker, 40)).toEqual(allowed);
  });

  it('opens at once when the bank rejects the key of the service', () => {
    const breaker = closedBreaker();
    recordFailure(breaker, 0, { isProbe: false, opensAtOnce: true });
    expect(beginCall(breaker, 1)).toEqual(denied(999));
  });

  it('allows one probe, and allows all calls after the probe succeeded', () => {
    const breaker = openBreaker();
    expect(checkCall(breaker, 1_000)).toEqual(probe);
    expect(beginCall(breaker, 1_000)).toEqual(probe);
    expect(beginCall(breaker, 1_000)).toEqual(denied(1_000));
    recordSuccess(breaker);
    expect([beginCall(breaker, 1_001), beginCall(breaker, 1_001)]).toEqual([allowed, allowed]);
  });

  it('stays open for 1, 2, 4, 8 and then 15 s while the bank is unavailable', () => {
    const breaker = openBreaker();
    let nowMs = 0;
    for (const openMs of [1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]) {
      expect(checkCall(breaker, nowMs)).toEqual(denied(openMs));
      nowMs += openMs;
      expect(beginCall(breaker, nowMs)).toEqual(probe);
      recordFailure(breaker, nowMs, { isProbe: true });
    }
    expect(beginCall(breaker, nowMs + 15_000)).toEqual(probe);
    recordSuccess(breaker);
    for (let count = 0; count < 5; count += 1) recordFailure(breaker, nowMs, { isProbe: false });
    expect(checkCall(breaker, nowMs)).toEqual(denied(1_000));
  });

  it('ignores failures of calls that were in progress when it opened', () => {
    const breaker = openBreaker();
    for (let count = 0; count < 60; count += 1) recordFailure(breaker, 500, { isProbe: false });
    expect(checkCall(breaker, 500)).toEqual(denied(500));
    expect(beginCall(breaker, 1_000)).toEqual(probe);
  });

  it('allows another probe when the first was never sent', () => {
    const breaker = openBreaker();
    expect(beginCall(breaker, 1_000)).toEqual(probe);
    recordNotSent(breaker, { isProbe: true });
    expect(beginCall(breaker, 1_000)).toEqual(probe);
  });

  it('denies calls while the bank requests a pause, and reports whether it is a limit', () => {
    const breaker = closedBreaker();
    pause(breaker, 7_000, true);
    pause(breaker, 3_000, false);
    expect(beginCall(breaker, 0)).toEqual(denied(7_000, true));
    expect(beginCall(breaker, 7_000)).toEqual(allowed);
  });

  it('allows a call at most 15 s later, whatever happened before', () => {
    const step = fc.record({
      afterMs: fc.nat(20_000),
      result: fc.constantFrom('failure', 'key rejected', 'success', 'not sent'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const breaker = closedBreaker();
        let nowMs = 0;
        for (const { afterMs, result } of steps) {
          nowMs += afterMs;
          const permission = beginCall(breaker, nowMs);
          if (!permission.isAllowed) continue;
          if (result === 'success') recordSuccess(breaker);
          else if (result === 'not sent') recordNotSent(breaker, permission);
          else
            recordFailure(breaker, nowMs, {
              ...permission,
              opensAtOnce: result === 'key rejected',
            });
        }
        expect(beginCall(breaker, nowMs + 15_000).isAllowed).toBe(true);
      }),
    );
  });
});
