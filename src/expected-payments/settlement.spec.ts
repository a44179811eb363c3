import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { settlementOfPayments } from './settlement.js';

const paymentOf = (amountCents: bigint, refundedCents = 0n) => ({ amountCents, refundedCents });
const cents = fc.bigInt({ min: 1n, max: 10n ** 12n });
const payment = fc.tuple(cents, cents).map(([a, b]) => (a < b ? paymentOf(b, a) : paymentOf(a, b)));
const slip = { amountCents: 1_000n, isMultiUse: false };

describe('settlementOfPayments', () => {
  it.each([
    [[paymentOf(999n)], slip, 'partially_settled'],
    [[paymentOf(1_000n)], slip, 'settled'],
    [[paymentOf(1_001n)], slip, 'overpaid'],
    [[paymentOf(2_000n)], { ...slip, isMultiUse: true }, 'settled'],
    [[paymentOf(1n)], { amountCents: null, isMultiUse: true }, 'settled'],
    [[paymentOf(1_000n, 1_000n)], slip, 'refunded'],
    [[paymentOf(1_000n, 1_000n), paymentOf(1_000n)], slip, 'settled'],
    [[paymentOf(1_000n, 1_000n), paymentOf(400n)], slip, 'partially_settled'],
    [[paymentOf(1_000n, 999n)], slip, 'settled'],
    [[paymentOf(1_200n, 200n)], slip, 'settled'],
    [[paymentOf(1_200n, 199n)], slip, 'overpaid'],
  ])('of %o for %o is %s', (payments, expected, settlement) =>
    expect(settlementOfPayments(expected, payments)).toBe(settlement),
  );

  it('never reports a multi-use QR code as overpaid', () => {
    fc.assert(
      fc.property(
        fc.option(cents),
        fc.array(payment, { minLength: 1 }),
        (amountCents, payments) => {
          const settlement = settlementOfPayments({ amountCents, isMultiUse: true }, payments);
          expect(settlement).not.toBe('overpaid');
        },
      ),
    );
  });
});
