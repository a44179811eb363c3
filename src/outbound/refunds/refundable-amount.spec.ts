import { describe, expect, it } from '@jest/globals';
import { refundRejection, refundableCentsOf, type RefundableFacts } from './refundable-amount.js';

const pendingOf = (amountCents: bigint) => ({
  debits: [],
  pending: [{ expectedPaymentId: 'p', amountCents, references: [], isOver: false, matches: [] }],
});

const unrefunded: RefundableFacts = {
  originalCents: 1_000n,
  refunds: { debits: [], pending: [] },
  hasUnattributedRefund: false,
  isDisputed: false,
};

describe('a refund of a received Pix', () => {
  it('is allowed of exactly what is left and refused of one cent more', () => {
    const facts = { ...unrefunded, refunds: pendingOf(250n) };
    expect(refundRejection(facts, 750n)).toBeNull();
    expect(refundRejection(facts, 751n)?.reason).toBe('refund_exceeds_original');
  });

  it('is refused of a single cent where more was refunded than received', () => {
    const facts = { ...unrefunded, refunds: pendingOf(1_001n) };
    expect(refundableCentsOf(facts)).toBe(0n);
    expect(refundRejection(facts, 1n)?.reason).toBe('refund_exceeds_original');
  });

  it('is refused while a refund to the payer has no id of its Pix', () =>
    expect(refundRejection({ ...unrefunded, hasUnattributedRefund: true }, 1n)?.reason).toBe(
      'refund_frozen',
    ));

  it('is refused while the Pix is disputed', () =>
    expect(refundRejection({ ...unrefunded, isDisputed: true }, 1n)?.reason).toBe('disputed'));
});
