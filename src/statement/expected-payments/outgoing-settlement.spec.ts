import { describe, expect, it } from '@jest/globals';
import { outgoingSettlement, shownSettlement } from './outgoing-settlement.js';

describe('outgoingSettlement', () => {
  it.each([
    [500n, 0n, 'settled'],
    [500n, 499n, 'partially_reversed'],
    [500n, 500n, 'reversed'],
  ])('with %s cents paid and %s reversed is %s', (paidCents, reversedCents, settlement) =>
    expect(outgoingSettlement({ paidCents, reversedCents })).toBe(settlement),
  );
});

describe('shownSettlement', () => {
  it.each([
    [undefined, false, 'open'],
    [undefined, true, 'withdrawn'],
    ['open', true, 'withdrawn'],
    ['withdrawn', false, 'open'],
    ['settled', true, 'settled'],
    ['partially_reversed', true, 'partially_reversed'],
    ['reversed', false, 'reversed'],
  ] as const)('of %s (withdrawn: %s) is %s', (stored, isWithdrawn, settlement) =>
    expect(shownSettlement(stored, isWithdrawn)).toBe(settlement),
  );
});
