import { describe, expect, it } from '@jest/globals';
import { settlementOf } from './settlement.js';

const none = { isWithdrawn: false, paidCents: 0n, returnedCents: 0n };

describe('settlementOf', () => {
  it.each(['requested', 'accepted', 'effective'] as const)('%s without a line is open', (state) =>
    expect(settlementOf({ ...none, state })).toBe('open'),
  );

  it.each(['failed', 'rejected'] as const)('%s without a line is withdrawn', (state) =>
    expect(settlementOf({ ...none, state })).toBe('withdrawn'),
  );

  it('is withdrawn where its expectation is', () =>
    expect(settlementOf({ ...none, state: 'accepted', isWithdrawn: true })).toBe('withdrawn'));

  it.each(['requested', 'accepted', 'effective', 'failed', 'rejected'] as const)(
    'believes the lines before any word: %s',
    (state) => {
      const debited = { state, isWithdrawn: true, paidCents: 100n };
      expect(settlementOf({ ...debited, returnedCents: 0n })).toBe('settled');
      expect(settlementOf({ ...debited, returnedCents: 99n })).toBe('partially_reversed');
      expect(settlementOf({ ...debited, returnedCents: 100n })).toBe('reversed');
    },
  );
});
