import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addDays } from '../brazil/calendar.js';
import { saoPauloInstant } from '../brazil/business-hours.js';
import { serializeAdjustments } from '../contract/charge-terms.js';
import { dueDateAt, dueDatesDuring } from './due-dates.js';
import { isExactAmountOwed, owedCentsWhenPaid, settlementOfPayments } from './settlement.js';

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

/** R$ 100 with a fine of 2 % and R$ 1 a day. */
const fined = {
  amountCents: 100_00n,
  terms: serializeAdjustments({
    discounts: [],
    fine: { isPercentage: true, date: '2026-01-01', amount: 200n },
    interest: { isPercentage: false, date: '2026-01-01', amount: 100n },
  }),
};
const noon = (day: string) => saoPauloInstant(day, 12 * 3_600_000);
const moved = (first: string, second: string, on: string, possibleFrom = on) => ({
  ...fined,
  dueDate: second,
  dueDates: [
    { day: first, possibleFrom: new Date(0), from: new Date(0) },
    { day: second, possibleFrom: noon(possibleFrom), from: noon(on) },
  ],
});
const dayOf2026 = (min: number, max: number) =>
  fc.integer({ min, max }).map((days) => addDays('2026-01-01', days));

describe('a due date that was changed', () => {
  it('counts for payments after the change, and the earlier one for those before it', () => {
    const charge = moved('2026-12-04', '2026-12-31', '2026-12-10');
    const owed = (day: string) => owedCentsWhenPaid(charge, 0n, { occurredAt: noon(day) });
    expect(owed('2026-12-21')).toBe(100_00n);
    expect(owed('2026-12-09')).toBe(107_00n);
    expect(dueDateAt(charge, noon('2026-12-09'))).toBe('2026-12-04');
    expect(dueDateAt(charge, noon('2026-12-10'))).toBe('2026-12-31');
  });

  it('is one of two while nobody knows when it changed', () => {
    const charge = moved('2026-12-04', '2026-12-31', '2026-12-20', '2026-12-07');
    const at = (day: string) => dueDatesDuring(charge, { from: noon(day), until: noon(day) });
    expect(at('2026-12-06')).toEqual(['2026-12-04']);
    expect(at('2026-12-08')).toEqual(['2026-12-31', '2026-12-04']);
    expect(at('2026-12-20')).toEqual(['2026-12-31']);
    const line = { occurredAt: noon('2026-12-15') };
    expect(isExactAmountOwed(charge, 100_00n, line)).toBe(true);
    expect(isExactAmountOwed(charge, 113_00n, line)).toBe(true);
    expect(isExactAmountOwed(charge, 112_50n, line)).toBe(false);
  });

  it('never makes a payment in time underpaid, when it moves to a later day', () => {
    fc.assert(
      fc.property(
        dayOf2026(30, 300),
        fc.nat({ max: 60 }),
        fc.nat({ max: 60 }),
        fc.nat({ max: 60 }),
        (first, later, changedAfter, paidBefore) => {
          const second = addDays(first, later);
          const charge = moved(first, second, addDays(first, changedAfter - 30));
          const paid = noon(addDays(second, -paidBefore));
          const due = dueDateAt(charge, paid) ?? '';
          fc.pre(paid <= noon(due));
          expect(isExactAmountOwed(charge, 100_00n, { occurredAt: paid })).toBe(true);
        },
      ),
    );
  });
});
