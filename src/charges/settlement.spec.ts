import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { settlementOf, settlements, type SettlementFacts } from './settlement.js';

const slip: SettlementFacts = {
  amountCents: 1_000n,
  paidCents: 0n,
  isMultiUse: false,
  dueDate: '2026-03-10',
  today: '2026-03-10',
  isCancelled: false,
  isExpired: false,
};
const paid = fc.bigInt({ min: 1n, max: 10n ** 12n });
const facts = fc.record<SettlementFacts>({
  amountCents: fc.option(fc.bigInt({ min: 1n, max: 10n ** 6n })),
  paidCents: fc.bigInt({ min: 0n, max: 10n ** 6n }),
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
    [{ isCancelled: true, paidCents: 1_000n }, 'settled'],
    [{ isExpired: true, paidCents: 1_001n }, 'overpaid'],
    [{ paidCents: 999n }, 'partially_settled'],
    [{ paidCents: 999n, today: '2026-03-11' }, 'partially_settled'],
    [{ paidCents: 1_000n }, 'settled'],
    [{ paidCents: 1_000n, today: '2026-03-11' }, 'settled'],
    [{ paidCents: 1_001n }, 'overpaid'],
    [{ paidCents: 2_000n, isMultiUse: true }, 'settled'],
    [{ paidCents: 1n, amountCents: null, isMultiUse: true }, 'settled'],
    [{ amountCents: null, isMultiUse: true, dueDate: null }, 'open'],
  ])('of a slip of 10.00 due on 10 March with %o is %s', (change, settlement) => {
    expect(settlementOf({ ...slip, ...change })).toBe(settlement);
  });

  it('is one of the words, and cents decide it exactly', () => {
    fc.assert(
      fc.property(facts, (one) => {
        const settlement = settlementOf(one);
        expect(settlements).toContain(settlement);
        const isUnpaid = ['open', 'expired', 'cancelled'].includes(settlement);
        expect(isUnpaid).toBe(one.paidCents === 0n);
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
      fc.property(facts, paid, (one, paidCents) => {
        const today = settlementOf({ ...one, paidCents });
        expect(settlementOf({ ...one, paidCents, today: '2099-12-31' })).toBe(today);
      }),
    );
  });
});
