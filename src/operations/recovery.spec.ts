import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decideRecovery, patienceMs, pauseAfterMs } from './recovery.js';

const anyAge = fc.integer({ min: 0, max: 10 * patienceMs });

describe('decideRecovery', () => {
  it.each([
    [0, false, true, { step: 'resend' }],
    [0, false, false, { step: 'wait', delayMs: 60_000 }],
    [patienceMs, false, true, { step: 'resend' }],
    [patienceMs + 1, false, true, { step: 'ask_operator' }],
    [patienceMs + 1, false, false, { step: 'ask_operator' }],
    [0, true, false, { step: 'succeed' }],
    [patienceMs + 1, true, true, { step: 'succeed' }],
  ])('at age %i ms, seen %s, repeat safe %s: %o', (ageMs, isSeenOnStatement, isSafe, step) => {
    expect(decideRecovery({ ageMs, isSeenOnStatement }, isSafe)).toEqual(step);
  });

  it('believes the statement before anything else', () => {
    fc.assert(
      fc.property(anyAge, fc.boolean(), (ageMs, isSafe) => {
        expect(decideRecovery({ ageMs, isSeenOnStatement: true }, isSafe).step).toBe('succeed');
      }),
    );
  });

  it('never sends again where a repeat may have a second effect', () => {
    fc.assert(
      fc.property(anyAge, fc.boolean(), (ageMs, isSeenOnStatement) => {
        expect(decideRecovery({ ageMs, isSeenOnStatement }, false).step).not.toBe('resend');
      }),
    );
  });

  it('never calls an outcome without evidence a failure: it is asked about, or waited for', () => {
    fc.assert(
      fc.property(anyAge, fc.boolean(), (ageMs, isSafe) => {
        const { step } = decideRecovery({ ageMs, isSeenOnStatement: false }, isSafe);
        expect(['resend', 'wait', 'ask_operator']).toContain(step);
      }),
    );
  });
});

describe('pauseAfterMs', () => {
  it('grows with the attempts up to five minutes, and stays there', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 1_000_000].map(pauseAfterMs);
    expect(pauses).toEqual([1_000, 2_000, 5_000, 15_000, 60_000, 300_000, 300_000, 300_000]);
  });

  it('is a second where nothing was tried', () => expect(pauseAfterMs(0)).toBe(1_000));
});
