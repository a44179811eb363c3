import { describe, expect, it } from '@jest/globals';
import { amountOwedOn, type PricedBill } from './bill-amounts.js';

const today = '2026-11-23';
const bill: PricedBill = {
  amount: 10_000n,
  dueDate: '2026-11-25T00:00:00',
  paymentCalculation: { chargedAmount: 10_000n },
};
const fine = { date: '2026-11-26', amount: 2_000_000n, type: 'PERCENTAGE' };
const interest = { date: '2026-11-26', amount: 100_000n, type: 'FIXED' };
const owed = (of: PricedBill, day: string): [bigint, bigint] => {
  const { minimumCents, maximumCents } = amountOwedOn(of, today, day);
  return [minimumCents, maximumCents];
};

describe('the amount of a bill on another day', () => {
  it('is today’s charged amount where nothing changes, however the bank calculated it', () => {
    const odd = { ...bill, paymentCalculation: { chargedAmount: 10_003n } };
    expect(owed({ ...odd, overduePaymentFine: fine }, '2026-11-25')).toEqual([10_003n, 10_003n]);
    expect(owed(odd, '2027-02-01')).toEqual([10_003n, 10_003n]);
  });

  it('includes only the discounts that still apply on that day', () => {
    const discounts = [
      { date: '2026-11-23', amount: 5_000_000n, type: 'FIXED' },
      { date: '2026-11-24', amount: 2_000_000n, type: 'Percentage' },
    ];
    const discounted = { ...bill, discounts, paymentCalculation: { chargedAmount: 9_500n } };
    expect(owed(discounted, '2026-11-24')).toEqual([9_800n, 9_800n]);
    expect(owed(discounted, '2026-11-25')).toEqual([10_000n, 10_000n]);
  });

  it('includes the rebate and the fine', () => {
    const paymentCalculation = { chargedAmount: 9_900n, rebateAmount: 100n };
    const fined = { ...bill, paymentCalculation, overduePaymentFine: fine };
    expect(owed(fined, '2026-11-26')).toEqual([10_100n, 10_100n]);
  });

  it('includes the interest when our calculation gives the bank’s amount for today', () => {
    const late = {
      ...bill,
      dueDate: '2026-11-19T00:00:00',
      overduePaymentInterest: { ...interest, date: '2026-11-20' },
      paymentCalculation: { chargedAmount: 10_040n },
    };
    expect(owed(late, '2026-11-24')).toEqual([10_050n, 10_050n]);
  });

  it('is a range once interest starts, with an upper bound at a daily rate', () => {
    expect(owed({ ...bill, overduePaymentInterest: interest }, '2026-11-27')).toEqual([
      10_000n,
      10_030n,
    ]);
    const monthly = { ...interest, amount: 1_000_000n, type: 'PERCENTAGE' };
    const both = { ...bill, overduePaymentInterest: monthly, overduePaymentFine: fine };
    expect(owed(both, '2026-11-27')).toEqual([10_000n, 10_500n]);
  });

  it('is a range down to all discounts when the bank’s calculation differs from ours', () => {
    const discounts = [{ date: '2026-11-23', amount: 5_000_000n, type: 'FIXED' }];
    const odd = { ...bill, discounts, paymentCalculation: { chargedAmount: 9_700n } };
    expect(owed(odd, '2026-11-24')).toEqual([9_500n, 10_000n]);
  });

  it.each([
    ['the type of an adjustment', { overduePaymentFine: { ...fine, type: 'OTHER' } }],
    ['the date of an adjustment', { overduePaymentInterest: { ...interest, date: 'soon' } }],
    ['the due date', { dueDate: 'soon' }],
    ['a discount', { discounts: [{ date: null, amount: 10_000n, type: 'FIXED' }] }],
  ])('is any amount up to twice the bill’s amount when %s cannot be read', (_, fields) =>
    expect(owed({ ...bill, ...fields }, '2026-11-27')).toEqual([1n, 20_000n]),
  );
});
