import { describe, expect, it } from '@jest/globals';
import { owedOn, type PricedBill } from './bill-amounts.js';

const today = '2026-11-23';
const bill: PricedBill = {
  amount: 10_000n,
  dueDate: '2026-11-25T00:00:00',
  paymentCalculation: { chargedAmount: 10_000n },
};
const fine = { date: '2026-11-26', amount: 200n, type: 'PERCENTAGE' };
const interest = { date: '2026-11-26', amount: 10n, type: 'FIXED' };
const owed = (of: PricedBill, day: string): [bigint, bigint] => {
  const { minimumCents, maximumCents } = owedOn(of, today, day);
  return [minimumCents, maximumCents];
};

describe('what a bill costs on another day', () => {
  it('is what it costs today where nothing changes, however the bank has reckoned that', () => {
    const odd = { ...bill, paymentCalculation: { chargedAmount: 10_003n } };
    expect(owed({ ...odd, overduePaymentFine: fine }, '2026-11-25')).toEqual([10_003n, 10_003n]);
    expect(owed(odd, '2027-02-01')).toEqual([10_003n, 10_003n]);
  });

  it('is what is left of its discounts then', () => {
    const discounts = [
      { date: '2026-11-23', amount: 500n, type: 'FIXED' },
      { date: '2026-11-24', amount: 200n, type: 'Percentage' },
    ];
    const discounted = { ...bill, discounts, paymentCalculation: { chargedAmount: 9_500n } };
    expect(owed(discounted, '2026-11-24')).toEqual([9_800n, 9_800n]);
    expect(owed(discounted, '2026-11-25')).toEqual([10_000n, 10_000n]);
  });

  it('is with its rebate and its fine', () => {
    const paymentCalculation = { chargedAmount: 9_900n, rebateAmount: 100n };
    const fined = { ...bill, paymentCalculation, overduePaymentFine: fine };
    expect(owed(fined, '2026-11-26')).toEqual([10_100n, 10_100n]);
  });

  it('has the interest that the bank has shown to reckon like us', () => {
    const late = {
      ...bill,
      dueDate: '2026-11-19T00:00:00',
      overduePaymentInterest: { ...interest, date: '2026-11-20' },
      paymentCalculation: { chargedAmount: 10_040n },
    };
    expect(owed(late, '2026-11-24')).toEqual([10_050n, 10_050n]);
  });

  it('is bounded where interest begins, by the day whatever the bank means', () => {
    expect(owed({ ...bill, overduePaymentInterest: interest }, '2026-11-27')).toEqual([
      10_000n,
      10_030n,
    ]);
    const monthly = { ...interest, amount: 100n, type: 'PERCENTAGE' };
    const both = { ...bill, overduePaymentInterest: monthly, overduePaymentFine: fine };
    expect(owed(both, '2026-11-27')).toEqual([10_000n, 10_500n]);
  });

  it('is bounded by all its discounts where the bank reckons unlike us', () => {
    const discounts = [{ date: '2026-11-23', amount: 500n, type: 'FIXED' }];
    const odd = { ...bill, discounts, paymentCalculation: { chargedAmount: 9_700n } };
    expect(owed(odd, '2026-11-24')).toEqual([9_500n, 10_000n]);
  });

  it.each([
    ['a word', { overduePaymentFine: { ...fine, type: 'OTHER' } }],
    ['a date', { overduePaymentInterest: { ...interest, date: 'soon' } }],
    ['a due date', { dueDate: 'soon' }],
    ['a discount', { discounts: [{ date: null, amount: 1n, type: 'FIXED' }] }],
  ])('is left to the bank, but not twice the amount, where %s cannot be read', (_, fields) =>
    expect(owed({ ...bill, ...fields }, '2026-11-27')).toEqual([1n, 20_000n]),
  );
});
