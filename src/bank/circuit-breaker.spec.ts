import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  closedBreaker,
  enter,
  failed,
  leftAside,
  look,
  pause,
  wentWell,
  type Breaker,
} from './circuit-breaker.js';

const letIn = { isLetIn: true, isProbe: false };
const probing = { isLetIn: true, isProbe: true };
const heldBack = (retryAfterMs: number, isLimited = false) => ({
  isLetIn: false,
  retryAfterMs,
  isLimited,
});

/** One that has just opened, at 0. */
function opened(): Breaker {
  const breaker = closedBreaker();
  for (let count = 0; count < 5; count += 1) failed(breaker, 0, { isProbe: false });
  return breaker;
}

describe('the circuit breaker', () => {
  it('opens at the fifth failure in a row and not before', () => {
    const breaker = closedBreaker();
    for (let count = 0; count < 4; count += 1) failed(breaker, 0, { isProbe: false });
    expect(enter(breaker, 0)).toEqual(letIn);
    failed(breaker, 0, { isProbe: false });
    expect(enter(breaker, 0)).toEqual(heldBack(1_000));
  });

  it('counts failures in a row: one that goes well in between begins anew', () => {
    const breaker = closedBreaker();
    for (let count = 0; count < 40; count += 1) {
      failed(breaker, count, { isProbe: false });
      if (count % 4 === 3) wentWell(breaker);
    }
    expect(enter(breaker, 40)).toEqual(letIn);
  });

  it('opens at once where the bank refuses our key', () => {
    const breaker = closedBreaker();
    failed(breaker, 0, { isProbe: false, atOnce: true });
    expect(enter(breaker, 1)).toEqual(heldBack(999));
  });

  it('lets one call through to see, and the others when that went well', () => {
    const breaker = opened();
    expect(look(breaker, 1_000)).toEqual(probing);
    expect(enter(breaker, 1_000)).toEqual(probing);
    expect(enter(breaker, 1_000)).toEqual(heldBack(1_000));
    wentWell(breaker);
    expect([enter(breaker, 1_001), enter(breaker, 1_001)]).toEqual([letIn, letIn]);
  });

  it('stays open for 1, 2, 4, 8 and then 15 s while the bank stays away', () => {
    const breaker = opened();
    let nowMs = 0;
    for (const lasting of [1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]) {
      expect(look(breaker, nowMs)).toEqual(heldBack(lasting));
      nowMs += lasting;
      expect(enter(breaker, nowMs)).toEqual(probing);
      failed(breaker, nowMs, { isProbe: true });
    }
    expect(enter(breaker, nowMs + 15_000)).toEqual(probing);
    wentWell(breaker);
    for (let count = 0; count < 5; count += 1) failed(breaker, nowMs, { isProbe: false });
    expect(look(breaker, nowMs)).toEqual(heldBack(1_000));
  });

  it('learns nothing from calls that were under way when it opened', () => {
    const breaker = opened();
    for (let count = 0; count < 60; count += 1) failed(breaker, 500, { isProbe: false });
    expect(look(breaker, 500)).toEqual(heldBack(500));
    expect(enter(breaker, 1_000)).toEqual(probing);
  });

  it('lets another through to see when the first was never sent', () => {
    const breaker = opened();
    expect(enter(breaker, 1_000)).toEqual(probing);
    leftAside(breaker, { isProbe: true });
    expect(enter(breaker, 1_000)).toEqual(probing);
  });

  it('holds back for as long as the bank asks, and knows whether that is a limit', () => {
    const breaker = closedBreaker();
    pause(breaker, 7_000, true);
    pause(breaker, 3_000, false);
    expect(enter(breaker, 0)).toEqual(heldBack(7_000, true));
    expect(enter(breaker, 7_000)).toEqual(letIn);
  });

  it('lets a call in within 15 s of the bank’s return, whatever went before', () => {
    const step = fc.record({
      afterMs: fc.nat(20_000),
      is: fc.constantFrom('fails', 'is refused', 'goes well', 'is left aside'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const breaker = closedBreaker();
        let nowMs = 0;
        for (const { afterMs, is } of steps) {
          nowMs += afterMs;
          const entry = enter(breaker, nowMs);
          if (!entry.isLetIn) continue;
          if (is === 'goes well') wentWell(breaker);
          else if (is === 'is left aside') leftAside(breaker, entry);
          else failed(breaker, nowMs, { ...entry, atOnce: is === 'is refused' });
        }
        expect(enter(breaker, nowMs + 15_000).isLetIn).toBe(true);
      }),
    );
  });
});
