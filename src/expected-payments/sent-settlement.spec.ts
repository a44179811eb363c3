import { describe, expect, it } from '@jest/globals';
import { settlementOfSent } from './sent-settlement.js';

describe('what the statement makes of money that was sent', () => {
  it.each([
    [0n, 0n, false, 'open'],
    [0n, 0n, true, 'withdrawn'],
    [500n, 0n, false, 'settled'],
    [500n, 0n, true, 'settled'],
    [500n, 499n, false, 'partially_reversed'],
    [500n, 500n, false, 'reversed'],
  ])(
    'of %s paid and %s returned (withdrawn: %s) is %s',
    (paidCents, returnedCents, isWithdrawn, is) =>
      expect(settlementOfSent({ paidCents, returnedCents, isWithdrawn })).toBe(is),
  );
});
