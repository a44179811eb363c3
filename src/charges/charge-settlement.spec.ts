import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  chargeSettlement,
  chargeSettlements,
  type ChargeSettlementFacts,
} from './charge-settlement.js';

const paymentOf = (amountCents: bigint, refundedCents = 0n) => ({ amountCents, refundedCents });
const slip: ChargeSettlementFacts = {
  amountCents: 1_000n,
  payments: [],
  isMultiUse: false,
  dueDate: '2026-03-10',
  today: '2026-03-10',
  isCancelled: false,
  isExpired: false,
};
const cents = fc.bigInt({ min: 1n, max: 10n ** 12n });
const payment = fc.tuple(cents, cents).map(([a, b]) => (a < b ? paymentOf(b, a) : paymentOf(a, b)));
const chargeFacts = fc.record<ChargeSettlementFacts>({
  amountCents: fc.option(fc.bigInt({ min: 1n, max: 10n ** 6n })),
  payments: fc.array(payment, { maxLength: 3 }),
  isMultiUse: fc.boolean(),
  dueDate: fc.constantFrom(null, '2026-03-09', '2026-03-10', '2026-03-11'),
  today: fc.constant('2026-03-10'),
  isCancelled: fc.boolean(),
  isExpired: fc.boolean(),
});

describe('chargeSettlement', () => {
  it.each<[Partial<ChargeSettlementFacts>, string]>([
    [{}, 'open'],
    [{ dueDate: null }, 'open'],
    [{ today: '2026-03-11' }, 'expired'],
    [{ today: '2027-01-01', dueDate: '2026-12-31' }, 'expired'],
    [{ today: '2026-03-09' }, 'open'],
    [{ dueDate: '2026-03-07', today: '2026-03-09' }, 'open'],
    [{ dueDate: '2026-03-07', today: '2026-03-10' }, 'expired'],
    [{ isExpired: true }, 'expired'],
    [{ isCancelled: true }, 'cancelled'],
    [{ isCancelled: true, isExpired: true, today: '2026-03-11' }, 'cancelled'],
    [{ isCancelled: true, payments: [paymentOf(1_000n)] }, 'settled'],
    [{ isExpired: true, payments: [paymentOf(1_001n)] }, 'overpaid'],
    [{ payments: [paymentOf(999n)] }, 'partially_settled'],
    [{ payments: [paymentOf(999n)], today: '2026-03-11' }, 'partially_settled'],
    [{ payments: [paymentOf(1_000n)] }, 'settled'],
    [{ payments: [paymentOf(1_000n)], today: '2026-03-11' }, 'settled'],
    [{ payments: [paymentOf(1_001n)] }, 'overpaid'],
    [{ payments: [paymentOf(2_000n)], isMultiUse: true }, 'settled'],
    [{ payments: [paymentOf(1n)], amountCents: null, isMultiUse: true }, 'settled'],
    [{ amountCents: null, isMultiUse: true, dueDate: null }, 'open'],
    [{ payments: [paymentOf(1_000n, 1_000n)] }, 'refunded'],
    [{ payments: [paymentOf(1_000n, 1_000n), paymentOf(1_000n)] }, 'settled'],
    [{ payments: [paymentOf(1_000n, 1_000n), paymentOf(400n)] }, 'partially_settled'],
    [{ payments: [paymentOf(1_000n, 999n)] }, 'settled'],
    [{ payments: [paymentOf(1_200n, 200n)] }, 'settled'],
    [{ payments: [paymentOf(1_200n, 199n)] }, 'overpaid'],
  ])('of a slip of 10.00 due on 10 March with %o is %s', (changes, settlement) => {
    expect(chargeSettlement({ ...slip, ...changes })).toBe(settlement);
  });

  it('is open, expired or cancelled exactly when there is no payment', () => {
    fc.assert(
      fc.property(chargeFacts, (charge) => {
        const settlement = chargeSettlement(charge);
        expect(chargeSettlements).toContain(settlement);
        const isUnpaid = ['open', 'expired', 'cancelled'].includes(settlement);
        expect(isUnpaid).toBe(charge.payments.length === 0);
      }),
    );
  });

  it('never reports a multi-use QR code as overpaid', () => {
    fc.assert(
      fc.property(chargeFacts, (charge) => {
        expect(chargeSettlement({ ...charge, isMultiUse: true })).not.toBe('overpaid');
      }),
    );
  });

  it('does not change with the date once there is a payment', () => {
    fc.assert(
      fc.property(chargeFacts, payment, (charge, last) => {
        const payments = [...charge.payments, last];
        const settlementToday = chargeSettlement({ ...charge, payments });
        expect(chargeSettlement({ ...charge, payments, today: '2099-12-31' })).toBe(
          settlementToday,
        );
      }),
    );
  });
});
