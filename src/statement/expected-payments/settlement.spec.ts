import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addBusinessDays, addDays, isBusinessDay } from '../../brazil/calendar.js';
import { amountOwed } from '../../brazil/amount-owed.js';
import { buildEndToEndId } from '../../brazil/end-to-end-id.js';
import { saoPauloInstant } from '../../brazil/business-hours.js';
import { parseAdjustments, serializeAdjustments } from '../../bank-contract/charge-terms.js';
import { possiblePaymentDays } from './payment-days.js';
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
    fine: { isPercentage: true, date: '2026-01-01', amount: 2_000_000n },
    interest: { isPercentage: false, date: '2026-01-01', amount: 100n },
  }),
};
const noon = (day: string) => saoPauloInstant(day, 12 * 3_600_000);
const bySlip = { endToEndId: null, typeName: 'CREDIT_BANKSLIP', paidOn: null };
const slipOn = (day: string, slipDays = 1) => ({
  ...bySlip,
  occurredAt: noon(day),
  creditDays: { slip: slipDays, pix: 0, other: 1 },
});
const pixAt = (time: string, madeAt = time) => ({
  ...slipOn('2026-01-01'),
  occurredAt: new Date(time),
  typeName: 'CREDIT_PIX',
  endToEndId: buildEndToEndId({
    ...{ kind: 'E' as const, ispb: '12345678', sequence: 'abcdefghijk' },
    at: new Date(madeAt),
  }),
});
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
    const owed = (day: string) => owedCentsWhenPaid(charge, 0n, slipOn(day));
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
    const line = pixAt('2026-12-15T15:00:00Z');
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
          expect(isExactAmountOwed(charge, 100_00n, { ...slipOn(due), occurredAt: paid })).toBe(
            true,
          );
        },
      ),
    );
  });
});

describe('the days on which a line may have been paid', () => {
  const daysOf = (line: Parameters<typeof possiblePaymentDays>[0]) =>
    possiblePaymentDays(line).map(({ day }) => day.slice(5));

  // 2026-12-07 is a Monday, and 2026-12-25 a Friday.
  it.each([
    ['2026-12-08', 0, ['12-08']],
    ['2026-12-07', 0, ['12-07', '12-06', '12-05']],
    ['2026-12-07', 1, ['12-07', '12-06', '12-05', '12-04']],
    ['2026-12-08', 1, ['12-08', '12-07', '12-06', '12-05']],
    ['2026-12-28', 1, ['12-28', '12-27', '12-26', '12-25', '12-24']],
    ['2026-12-29', 2, ['12-29', '12-28', '12-27', '12-26', '12-25', '12-24']],
  ])('of a slip credited on %s after %s business days are %s', (day, slip, days) => {
    expect(daysOf(slipOn(day, slip))).toEqual(days);
  });

  it('of a slip whose payment day the bank shows are that day, or the business day after it', () => {
    expect(daysOf({ ...slipOn('2026-12-09', 3), paidOn: '2026-12-07' })).toEqual(['12-07']);
    const weekend = { ...slipOn('2026-12-09', 3), paidOn: '2026-12-05' };
    expect(daysOf(weekend)).toEqual(['12-07', '12-06', '12-05']);
  });

  it('of a Pix are its own day, and the day before if its id was made just before midnight', () => {
    // Midnight in São Paulo is 03:00Z.
    expect(daysOf(pixAt('2026-12-07T15:00:00Z'))).toEqual(['12-07']);
    expect(daysOf(pixAt('2026-12-08T03:05:30Z', '2026-12-08T02:56:00Z'))).toEqual([
      '12-08',
      '12-07',
    ]);
    expect(daysOf(pixAt('2026-12-08T03:05:30Z', '2026-12-08T02:54:00Z'))).toEqual(['12-08']);
    expect(daysOf({ ...slipOn('2026-12-07'), typeName: 'CREDIT_PIX' })).toEqual(['12-07']);
  });

  it('make a payment exact if it was right on one of them', () => {
    const charge = { ...fined, dueDate: '2026-12-04', dueDates: [] };
    const owed = (line: Parameters<typeof possiblePaymentDays>[0], cents: bigint) =>
      owedCentsWhenPaid(charge, cents, line);
    // A Pix three days late.
    expect(owed(pixAt('2026-12-07T15:00:00Z'), 100_00n)).toBe(105_00n);
    expect(owed(pixAt('2026-12-07T15:00:00Z'), 105_00n)).toBe(105_00n);
    // A slip that was paid on Saturday, with the fine and one day, and credited on Monday.
    expect(owed(slipOn('2026-12-07'), 103_00n)).toBe(103_00n);
    expect(owed(slipOn('2026-12-08'), 103_00n)).toBe(103_00n);
    expect(owed(slipOn('2026-12-09'), 103_00n)).toBe(107_00n);
    expect(owed(slipOn('2026-12-09', 2), 103_00n)).toBe(103_00n);
  });

  it('settle a payment in full on any of them', () => {
    const creditDays = fc.nat({ max: 5 });
    fc.assert(
      fc.property(dayOf2026(30, 300), dayOf2026(30, 330), creditDays, (dueDate, paid, days) => {
        const charge = { ...fined, dueDate, dueDates: [] };
        const { amountCents } = fined;
        const cents = amountOwed({ amountCents, dueDate, ...parseAdjustments(fined.terms) }, paid);
        const counted = isBusinessDay(paid) ? paid : addBusinessDays(paid, 1);
        const credited = addBusinessDays(counted, days);
        expect(isExactAmountOwed(charge, cents, slipOn(credited, days))).toBe(true);
      }),
    );
  });
});
