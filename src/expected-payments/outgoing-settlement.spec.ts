import { describe, expect, it } from '@jest/globals';
import { outgoingSettlement } from './outgoing-settlement.js';

describe('outgoingSettlement', () => {
  it.each([
    [0n, 0n, false, 'open'],
    [0n, 0n, true, 'withdrawn'],
    [500n, 0n, false, 'settled'],
    [500n, 0n, true, 'settled'],
    [500n, 499n, false, 'partially_reversed'],
    [500n, 500n, false, 'reversed'],
  ])(
    'with %s cents paid and %s reversed (withdrawn: %s) is %s',
    (paidCents, reversedCents, isWithdrawn, settlement) =>
      expect(outgoingSettlement({ paidCents, reversedCents, isWithdrawn })).toBe(settlement),
  );
});
