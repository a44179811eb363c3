import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { calculateBill } from './bill-calculation.js';

const plain = {
  amountCents: 10_000n,
  rebateCents: 0n,
  adjustments: { discounts: [], fine: null, interest: null },
  dueDate: '2026-11-18',
  isAllowPartialPayment: false,
  minimumPaymentCents: 10_000n,
  maximumPaymentCents: 10_000n,
};
const fixed = (amount: bigint, date: string) => ({ isPercentage: false, date, amount });

describe('calculateBill', () => {
  it('charges the amount when there are no adjustments, late or not', () => {
    for (const day of ['2026-11-01', '2026-11-18', '2026-12-31']) {
      const calculation = calculateBill(plain, day);
      expect(calculation).toMatchObject({ chargedCents: 10_000n, minimumCents: 10_000n });
      expect(calculation.maximumCents).toBe(10_000n);
    }
  });

  it('subtracts rebate and discount, and charges at least one cent', () => {
    const adjustments = { ...plain.adjustments, discounts: [fixed(9_500n, '2026-11-18')] };
    const bill = { ...plain, rebateCents: 1_000n, adjustments };
    expect(calculateBill(bill, '2026-11-18')).toMatchObject({
      rebateCents: 1_000n,
      discountCents: 8_999n,
      chargedCents: 1n,
    });
    expect(calculateBill(bill, '2026-11-19').chargedCents).toBe(9_000n);
  });

  it('widens the range of a partial payment to include the charged amount', () => {
    const part = { ...plain, isAllowPartialPayment: true, minimumPaymentCents: 2_000n };
    const fine = fixed(500n, '2026-11-19');
    const late = { ...part, adjustments: { ...plain.adjustments, fine } };
    expect(calculateBill(late, '2026-11-19')).toMatchObject({
      minimumCents: 2_000n,
      maximumCents: 10_500n,
    });
    const discounts = [fixed(9_000n, '2026-11-18')];
    const early = { ...part, adjustments: { ...plain.adjustments, discounts } };
    expect(calculateBill(early, '2026-11-18')).toMatchObject({
      minimumCents: 1_000n,
      maximumCents: 10_000n,
    });
  });

  it('charges the sum of its parts, at least one cent', () => {
    const cents = fc.bigInt({ min: 1n, max: 1_000_000n });
    const day = fc.integer({ min: 10, max: 28 }).map((dayOfMonth) => `2026-11-${dayOfMonth}`);
    const adjustment = fc.record({ isPercentage: fc.boolean(), date: day, amount: cents });
    const bills = fc.record({
      amountCents: cents,
      adjustments: fc.record({
        discounts: fc.array(adjustment, { maxLength: 3 }),
        fine: fc.option(adjustment),
        interest: fc.option(adjustment),
      }),
      rebate: fc.integer({ min: 0, max: 99 }),
    });
    fc.assert(
      fc.property(bills, day, ({ rebate, ...terms }, payday) => {
        const rebateCents = (terms.amountCents * BigInt(rebate)) / 100n;
        const calculation = calculateBill({ ...plain, ...terms, rebateCents }, payday);
        const { discountCents, fineCents, interestCents, chargedCents } = calculation;
        expect(chargedCents).toBe(
          terms.amountCents - rebateCents - discountCents + fineCents + interestCents,
        );
        expect(chargedCents > 0n).toBe(true);
        expect([discountCents, fineCents, interestCents].every((part) => part >= 0n)).toBe(true);
      }),
    );
  });
});
