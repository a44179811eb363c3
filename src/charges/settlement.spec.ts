import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { settlementOf, settlements, type SettlementFacts } from './settlement.js';

const paying = (amountCents: bigint, refundedCents = 0n) => ({ amountCents, refundedCents });
const slip: SettlementFacts = {
  amountCents: 1_000n,
  payments: [],
  isMultiUse: false,
  dueDate: '2026-03-10',
  today: '2026-03-10',
  isCancelled: false,
  isExpired: false,
};
const paid = fc.bigInt({ min: 1n, max: 10n ** 12n });
const payment = fc
  .tuple(paid, paid)
  .map(([one, other]) => (one < other ? paying(other, one) : paying(one, other)));
const facts = fc.record<SettlementFacts>({
  amountCents: fc.option(fc.bigInt({ min: 1n, max: 10n ** 6n })),
  payments: fc.array(payment, { maxLength: 3 }),
  isMultiUse: fc.boolean(),
  dueDate: fc.constantFrom(null, '2026-03-09', '2026-03-10', '2026-03-11'),
  today: fc.constant('2026-03-10'),
  isCancelled: fc.boolean(),
  isExpired: fc.boolean(),
});

describe('settlementOf', () => {
  it.each<[Partial<SettlementFacts>, string]>([
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
    [{ isCancelled: true, payments: [paying(1_000n)] }, 'settled'],
    [{ isExpired: true, payments: [paying(1_001n)] }, 'overpaid'],
    [{ payments: [paying(999n)] }, 'partially_settled'],
    [{ payments: [paying(999n)], today: '2026-03-11' }, 'partially_settled'],
    [{ payments: [paying(1_000n)] }, 'settled'],
    [{ payments: [paying(1_000n)], today: '2026-03-11' }, 'settled'],
    [{ payments: [paying(1_001n)] }, 'overpaid'],
    [{ payments: [paying(2_000n)], isMultiUse: true }, 'settled'],
    [{ payments: [paying(1n)], amountCents: null, isMultiUse: true }, 'settled'],
    [{ amountCents: null, isMultiUse: true, dueDate: null }, 'open'],
    [{ payments: [paying(1_000n, 1_000n)] }, 'refunded'],
    [{ payments: [paying(1_000n, 1_000n), paying(1_000n)] }, 'settled'],
    [{ payments: [paying(1_000n, 1_000n), paying(400n)] }, 'partially_settled'],
    [{ payments: [paying(1_000n, 999n)] }, 'settled'],
    [{ payments: [paying(1_200n, 200n)] }, 'settled'],
    [{ payments: [paying(1_200n, 199n)] }, 'overpaid'],
  ])('of a slip of 10.00 due on 10 March with %o is %s', (change, settlement) => {
    expect(settlementOf({ ...slip, ...change })).toBe(settlement);
  });

  it('is one of the words, and cents decide it exactly', () => {
    fc.assert(
      fc.property(facts, (one) => {
        const settlement = settlementOf(one);
        expect(settlements).toContain(settlement);
        const isUnpaid = ['open', 'expired', 'cancelled'].includes(settlement);
        expect(isUnpaid).toBe(one.payments.length === 0);
      }),
    );
  });

  it('finds no payment of a QR code one too many', () => {
    fc.assert(
      fc.property(facts, (one) => {
        expect(settlementOf({ ...one, isMultiUse: true })).not.toBe('overpaid');
      }),
    );
  });

  it('forgets no payment because a day went by', () => {
    fc.assert(
      fc.property(facts, payment, (one, last) => {
        const payments = [...one.payments, last];
        const today = settlementOf({ ...one, payments });
        expect(settlementOf({ ...one, payments, today: '2099-12-31' })).toBe(today);
      }),
    );
  });
});
