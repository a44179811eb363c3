import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pauseAfterAnswerMs, pauseAtMs, waysOf } from './recovery.js';

const anyOperation = fc.record({
  repeat: fc.constantFrom('keyed' as const, 'another' as const, 'never' as const),
  hasLookUp: fc.boolean(),
  isOutgoing: fc.boolean(),
  isKnownToBank: fc.boolean(),
  hasRefusedRepeat: fc.boolean(),
});
const anyBank = fc.record({
  isRepeatSafe: fc.boolean(),
  hasStatusById: fc.boolean(),
  visibilityBoundMs: fc.constantFrom(null, 10_000),
});
const always = (check: (ways: ReturnType<typeof waysOf>, facts: Facts) => void) => {
  fc.assert(
    fc.property(anyOperation, anyBank, (operation, bank) => {
      check(waysOf(operation, bank), { ...operation, ...bank });
    }),
  );
};
type Facts = Parameters<typeof waysOf>[0] & Parameters<typeof waysOf>[1];

describe('the ways to recover an operation', () => {
  it('lead to a second sending only where the kind and the bank both take a repeat for the same', () => {
    always((ways, { repeat, isRepeatSafe }) => {
      if (repeat !== 'keyed' || !isRepeatSafe) expect(ways.canResend).toBe(false);
    });
  });

  it('lead to no third where the bank refused the second', () => {
    always((ways, { hasRefusedRepeat }) => {
      if (hasRefusedRepeat) expect(ways.canResend).toBe(false);
    });
  });

  it('prove no absence without a bound, of no money, or of what the bank has shown to know', () => {
    always((ways, { visibilityBoundMs, isOutgoing, isKnownToBank }) => {
      if (visibilityBoundMs === null || !isOutgoing || isKnownToBank)
        expect(ways.canProveAbsence).toBe(false);
    });
  });

  it('end with a person: at once, after 15 minutes, or after a day', () => {
    always((ways, { repeat }) => {
      const canIdentify = ways.canLookUp || ways.canResend || ways.canProveAbsence;
      const minutes = repeat === 'never' ? 0 : canIdentify ? 24 * 60 : 15;
      expect(ways.patienceMs).toBe(minutes * 60_000);
    });
  });
});

describe('the pause until the next look', () => {
  it('grows to 15 seconds, is a minute after ten, and five minutes after an hour', () => {
    const ages = [0, 1, 3, 8, 18, 599, 600, 3_599, 3_600, 86_400];
    expect(ages.map((seconds) => pauseAtMs(seconds * 1_000) / 1_000)).toEqual([
      1, 2, 5, 10, 15, 15, 60, 60, 300, 300,
    ]);
  });

  it('is what the bank asked for when that is longer, up to an hour', () => {
    expect(pauseAfterAnswerMs(0, 30_000)).toBe(30_000);
    expect(pauseAfterAnswerMs(20_000, 3_000)).toBe(15_000);
    expect(pauseAfterAnswerMs(0, Number.MAX_SAFE_INTEGER)).toBe(3_600_000);
    expect(pauseAfterAnswerMs(0)).toBe(1_000);
  });
});
