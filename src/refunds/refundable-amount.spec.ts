import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { refundableCents, refundRejection, type RefundableFacts } from './refundable-amount.js';

const unrefunded: RefundableFacts = {
  originalCents: 1_000n,
  refundedCents: 0n,
  reversedCents: 0n,
  pendingCents: 0n,
  hasUnattributedRefund: false,
  isDisputed: false,
};

describe('the refundable amount of a received Pix', () => {
  it.each([
    ['the whole amount at first', {}, 1_000n],
    ['less refunds on the statement', { refundedCents: 400n }, 600n],
    ['less pending refunds', { pendingCents: 400n }, 600n],
    ['less both', { refundedCents: 400n, pendingCents: 600n }, 0n],
    ['restored by a reversed refund', { refundedCents: 400n, reversedCents: 400n }, 1_000n],
    ['never more than the Pix', { reversedCents: 400n }, 1_000n],
  ])('is %s', (_, facts, refundable) =>
    expect(refundableCents({ ...unrefunded, ...facts })).toBe(refundable),
  );

  it('allows a refund of exactly that amount and rejects one cent more', () => {
    const facts = { ...unrefunded, refundedCents: 250n };
    expect(refundRejection(facts, 750n)).toBeNull();
    expect(refundRejection(facts, 751n)?.reason).toBe('refund_exceeds_original');
  });

  it('rejects every refund while a refund to the payer has no id of its Pix', () =>
    expect(refundRejection({ ...unrefunded, hasUnattributedRefund: true }, 1n)?.reason).toBe(
      'refund_frozen',
    ));

  it('rejects every refund while the Pix is disputed', () =>
    expect(refundRejection({ ...unrefunded, isDisputed: true }, 1n)?.reason).toBe('disputed'));

  it('is never exceeded by successive refunds', () => {
    const cents = fc.bigInt({ min: 1n, max: 2_000n });
    fc.assert(
      fc.property(cents, fc.array(cents), (originalCents, requests) => {
        let pendingCents = 0n;
        for (const requestedCents of requests) {
          const facts = { ...unrefunded, originalCents, pendingCents };
          if (refundRejection(facts, requestedCents) === null) pendingCents += requestedCents;
        }
        expect(pendingCents <= originalCents).toBe(true);
      }),
    );
  });
});
