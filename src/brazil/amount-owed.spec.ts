import fc from 'fast-check';
import { addDays } from './calendar.js';
import { amountOwed, type ChargeTerms } from './amount-owed.js';

/** The due date is a Wednesday. */
const terms: ChargeTerms = {
  amountCents: 15_075n,
  dueDate: '2026-12-02',
  discounts: [
    { isPercentage: false, date: '2026-12-01', amount: 100n },
    { isPercentage: false, date: '2026-11-29', amount: 300n },
    { isPercentage: true, date: '2026-11-30', amount: 1_500_000n },
  ],
  fine: { isPercentage: true, date: '2026-12-03', amount: 2_000_000n },
  interest: { isPercentage: false, date: '2026-12-03', amount: 10n },
};

it.each([
  ['2026-11-28', 14_775n],
  ['2026-11-29', 14_775n],
  // 1.5 % of 150.75 is 2.26125.
  ['2026-11-30', 14_849n],
  ['2026-12-01', 14_975n],
  ['2026-12-02', 15_075n],
  // 2 % of 150.75 is 3.015, and half a cent is rounded up.
  ['2026-12-03', 15_387n],
  ['2026-12-12', 15_477n],
])('applies the discount, or the fine and interest, of %s', (day, owed) => {
  expect(amountOwed(terms, day)).toBe(owed);
});

it('moves a weekend due date to the next business day, and counts later interest from the due date', () => {
  const saturday = { ...terms, dueDate: '2026-12-05', discounts: [], fine: null };
  expect(amountOwed(saturday, '2026-12-07')).toBe(15_075n);
  expect(amountOwed(saturday, '2026-12-08')).toBe(15_075n + 30n);
});

it('charges percentage interest by the day, for a month of thirty days', () => {
  const interest = { isPercentage: true, date: '2026-12-03', amount: 1_000_000n };
  const late = { ...terms, amountCents: 30_000n, fine: null, interest };
  expect(amountOwed(late, '2026-12-03')).toBe(30_010n);
  expect(amountOwed(late, '2027-01-01')).toBe(30_300n);
});

it('applies fine and interest from their own date when that is later than the due date', () => {
  const date = '2026-12-10';
  const fine = { isPercentage: false, date, amount: 500n };
  const late = { ...terms, fine, interest: { isPercentage: false, date, amount: 10n } };
  expect(amountOwed(late, '2026-12-09')).toBe(15_075n);
  expect(amountOwed(late, '2026-12-10')).toBe(15_075n + 500n + 10n);
});

it('leaves at least one cent to pay after a discount', () => {
  const discounts = [{ isPercentage: true, date: '2026-12-02', amount: 100_000_000n }];
  expect(amountOwed({ ...terms, discounts }, '2026-12-02')).toBe(1n);
});

it('never owes less on a later day', () => {
  fc.assert(
    fc.property(fc.integer({ min: -40, max: 400 }), fc.bigInt(1n, 10_000_000n), (days, amount) => {
      const discounts = [
        { isPercentage: true, date: '2026-11-25', amount: 5_000_000n },
        { isPercentage: true, date: '2026-11-30', amount: 2_000_000n },
      ];
      const day = addDays(terms.dueDate, days);
      const charge = { ...terms, amountCents: amount, discounts };
      expect(amountOwed(charge, addDays(day, 1))).toBeGreaterThanOrEqual(amountOwed(charge, day));
    }),
  );
});
