import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { refusalOf, roomOf, type RefundFacts } from './refundable-amount.js';

const untouched: RefundFacts = {
  originalCents: 1_000n,
  refundedCents: 0n,
  reversedCents: 0n,
  pendingCents: 0n,
  hasUntiedRefund: false,
};

describe('what is left of a received Pix', () => {
  it.each([
    ['all of it at first', {}, 1_000n],
    ['less what went back', { refundedCents: 400n }, 600n],
    ['less what is on its way', { pendingCents: 400n }, 600n],
    ['less both', { refundedCents: 400n, pendingCents: 600n }, 0n],
    ['again what came back of a refund', { refundedCents: 400n, reversedCents: 400n }, 1_000n],
    ['never more than it was', { reversedCents: 400n }, 1_000n],
  ])('is %s', (_, facts, room) => expect(roomOf({ ...untouched, ...facts })).toBe(room));

  it('is given back to the cent and not beyond', () => {
    const facts = { ...untouched, refundedCents: 250n };
    expect(refusalOf(facts, 750n)).toBeNull();
    expect(refusalOf(facts, 751n)?.reason).toBe('refund_exceeds_original');
  });

  it('is not known while a refund to its payer names no Pix', () =>
    expect(refusalOf({ ...untouched, hasUntiedRefund: true }, 1n)?.reason).toBe('refund_frozen'));

  it('is never exceeded by refunds that are asked for one after another', () => {
    const cents = fc.bigInt({ min: 1n, max: 2_000n });
    fc.assert(
      fc.property(cents, fc.array(cents), (originalCents, asked) => {
        let pendingCents = 0n;
        for (const one of asked)
          if (refusalOf({ ...untouched, originalCents, pendingCents }, one) === null)
            pendingCents += one;
        expect(pendingCents <= originalCents).toBe(true);
      }),
    );
  });
});
