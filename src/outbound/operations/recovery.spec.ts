import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { recoveryDelayAfterResponseMs, recoveryDelayMs, recoveryMethodsFor } from './recovery.js';

const anyOperation = fc.record({
  repeat: fc.constantFrom('keyed' as const, 'unkeyed' as const, 'never' as const),
  hasLookUp: fc.boolean(),
  isOutgoing: fc.boolean(),
  isKnownToBank: fc.boolean(),
  hasRequest: fc.boolean(),
  hasRefusedRepeat: fc.boolean(),
  isRestored: fc.boolean(),
});
const anyBank = fc.record({
  isRepeatSafe: fc.boolean(),
  hasStatusById: fc.boolean(),
  visibilityBoundMs: fc.constantFrom(null, 10_000),
});
type Facts = Parameters<typeof recoveryMethodsFor>[0] & Parameters<typeof recoveryMethodsFor>[1];
const forAll = (check: (methods: ReturnType<typeof recoveryMethodsFor>, facts: Facts) => void) => {
  fc.assert(
    fc.property(anyOperation, anyBank, (operation, bank) => {
      check(recoveryMethodsFor(operation, bank), { ...operation, ...bank });
    }),
  );
};

describe('recovery methods', () => {
  it('resend only where both the kind and the bank treat a repeat as the same request', () => {
    forAll((methods, { repeat, isRepeatSafe }) => {
      if (repeat !== 'keyed' || !isRepeatSafe) expect(methods.canResend).toBe(false);
    });
  });

  it('do not resend again after the bank refused a repeat', () => {
    forAll((methods, { hasRefusedRepeat }) => {
      if (hasRefusedRepeat) expect(methods.canResend).toBe(false);
    });
  });

  it('send no money again after the database was set back', () => {
    forAll((methods, { isRestored, isOutgoing }) => {
      if (isRestored && isOutgoing) expect(methods.canResend).toBe(false);
    });
  });

  it('do not resend an operation whose request is no longer stored', () => {
    forAll((methods, { hasRequest }) => {
      if (!hasRequest) expect(methods.canResend).toBe(false);
    });
  });

  it('prove absence only of outgoing money unknown to the bank, with a visibility bound', () => {
    forAll((methods, { visibilityBoundMs, isOutgoing, isKnownToBank }) => {
      if (visibilityBoundMs === null || !isOutgoing || isKnownToBank)
        expect(methods.canProveAbsence).toBe(false);
    });
  });

  it('ask an operator at once, after 15 minutes, or after a day', () => {
    forAll((methods, { repeat }) => {
      const hasMethod = methods.canLookUp || methods.canResend || methods.canProveAbsence;
      const minutes = repeat === 'never' ? 0 : hasMethod ? 24 * 60 : 15;
      expect(methods.askOperatorAfterMs).toBe(minutes * 60_000);
    });
  });
});

describe('the delay until the next recovery', () => {
  it('grows to 15 seconds, is one minute after ten minutes, and five minutes after an hour', () => {
    const agesSeconds = [0, 1, 3, 8, 18, 599, 600, 3_599, 3_600, 86_400];
    expect(agesSeconds.map((seconds) => recoveryDelayMs(seconds * 1_000) / 1_000)).toEqual([
      1, 2, 5, 10, 15, 15, 60, 60, 300, 300,
    ]);
  });

  it('is the Retry-After of the bank where that is longer, up to an hour', () => {
    expect(recoveryDelayAfterResponseMs(0, 30_000)).toBe(30_000);
    expect(recoveryDelayAfterResponseMs(20_000, 3_000)).toBe(15_000);
    expect(recoveryDelayAfterResponseMs(0, Number.MAX_SAFE_INTEGER)).toBe(3_600_000);
    expect(recoveryDelayAfterResponseMs(0)).toBe(1_000);
  });
});
