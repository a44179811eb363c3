import { describe, expect, it } from '@jest/globals';
import {
  expectedPayTime,
  isInThePast,
  latestPayTime,
  payDaysOf,
  findBillRuleViolation,
} from './bill-rules.js';

const calculation = { chargedAmount: 8_000n };
const bill = {
  status: 'PENDING_PAYMENT',
  amount: 8_000n,
  dueDate: '2026-11-25T00:00:00',
  isAllowPartialPayment: false,
  paymentCalculation: calculation,
};
const partial = {
  ...bill,
  isAllowPartialPayment: true,
  paymentCalculation: {
    ...calculation,
    minimumPaymentAmount: 1_000n,
    maximumPaymentAmount: 9_000n,
  },
};
const today = '2026-11-23';
const reasonOf = (of: typeof bill, amountCents: bigint, ...payDays: string[]) =>
  findBillRuleViolation(of, { amountCents, today, payDays: payDays.length > 0 ? payDays : [today] })
    ?.reason ?? null;

describe('the rules of a bill', () => {
  it.each(['PAID', 'BLOCKED_PAYMENT', 'PAYMENT_DEADLINE_EXCEEDED', 'A_NEW_WORD'])(
    'allow no payment of a bill that is %s',
    (status) => expect(reasonOf({ ...bill, status }, 8_000n)).toBe('bill_not_payable'),
  );

  it.each([
    [7_999n, 'amount_out_of_range'],
    [8_000n, null],
    [8_001n, 'amount_out_of_range'],
  ])('allow only the charged amount: %s gives %s', (cents, reason) =>
    expect(reasonOf(bill, cents)).toBe(reason),
  );

  it.each([
    [999n, 'amount_out_of_range'],
    [1_000n, null],
    [9_000n, null],
    [9_001n, 'amount_out_of_range'],
  ])('allow a range where the bill may be paid in part: %s gives %s', (cents, reason) =>
    expect(reasonOf(partial, cents)).toBe(reason),
  );

  it('allow only the charged amount where a limit of the range is missing', () => {
    const open = { ...partial, paymentCalculation: { ...calculation, minimumPaymentAmount: 1n } };
    expect(reasonOf(open, 7_999n)).toBe('amount_out_of_range');
    expect(reasonOf(open, 8_000n)).toBeNull();
  });

  it('allow the full amount owed, whatever the range says', () => {
    const late = { ...partial, paymentCalculation: { ...partial.paymentCalculation } };
    late.paymentCalculation.chargedAmount = 9_500n;
    expect(reasonOf(late, 9_500n)).toBeNull();
  });

  it('allow a payment on another day with the amount owed on that day', () => {
    expect(reasonOf(bill, 8_000n, '2026-11-24')).toBeNull();
    expect(reasonOf(bill, 8_001n, '2026-11-24')).toBe('amount_out_of_range');
    expect(reasonOf(bill, 7_999n, '2026-12-24')).toBe('amount_out_of_range');
    expect(reasonOf({ ...bill, status: 'PAID' }, 8_000n, '2026-11-24')).toBe('bill_not_payable');
  });

  it('allow the amount owed on the requested day or on the day of execution', () => {
    const fine = { date: '2026-11-26', amount: 1_600_000n, type: 'FIXED' };
    const fined = { ...bill, overduePaymentFine: fine };
    for (const cents of [8_000n, 8_160n])
      expect(reasonOf(fined, cents, '2026-11-25', '2026-11-26')).toBeNull();
    expect(reasonOf(fined, 8_161n, '2026-11-25', '2026-11-26')).toBe('amount_out_of_range');
  });

  it('never refuse the amount that the bank has calculated', () => {
    const fine = { date: '2026-11-26', amount: 1_600_000n, type: 'FIXED' };
    const fined = { ...bill, overduePaymentFine: fine };
    expect(reasonOf(fined, 8_000n, '2026-11-26')).toBeNull();
  });

  it('raise the upper limit of a range by the fines of later days', () => {
    const fine = { date: '2026-11-26', amount: 1_600_000n, type: 'FIXED' };
    const fined = { ...partial, overduePaymentFine: fine };
    expect(reasonOf(partial, 9_001n, '2026-11-26')).toBe('amount_out_of_range');
    expect(reasonOf(fined, 9_160n, '2026-11-26')).toBeNull();
    expect(reasonOf(fined, 9_161n, '2026-11-26')).toBe('amount_out_of_range');
    expect(reasonOf(partial, 999n, '2026-11-26')).toBe('amount_out_of_range');
  });
});

describe('the time of a payment', () => {
  const now = new Date('2026-11-23T15:00:00Z'); // a Monday, noon in São Paulo

  it.each([
    ['2026-11-23T14:59:59Z', true],
    ['2026-11-23T15:00:00Z', false],
    ['2026-11-23T11:59:59', true],
    ['2026-11-23', false],
    ['2026-11-22', true],
  ])('%s is in the past: %s', (payAt, isPast) => expect(isInThePast(payAt, now)).toBe(isPast));

  it.each([
    [null, ['2026-11-23']],
    ['2026-11-23', ['2026-11-23']],
    ['2026-11-24T02:59:59Z', ['2026-11-23', '2026-11-24']],
    ['2026-11-24T03:00:00Z', ['2026-11-24']],
    ['2026-11-24', ['2026-11-24']],
    ['2026-11-28', ['2026-11-28', '2026-11-30']],
  ])('%s gives the pay days %j', (payAt, days) => expect(payDaysOf(payAt, now)).toEqual(days));

  it('without payAt may be that of the next business day outside business hours', () => {
    const friday = new Date('2026-11-27T23:30:00Z');
    expect(payDaysOf(null, friday)).toEqual(['2026-11-27', '2026-11-30']);
  });

  it.each([
    [null, '2026-11-23T15:00:00.000Z'],
    ['2026-11-23', '2026-11-23T15:00:00.000Z'],
    ['2026-11-24', '2026-11-24T10:00:00.000Z'],
    ['2026-11-28', '2026-11-30T10:00:00.000Z'],
    ['2026-11-24T23:30:00Z', '2026-11-25T10:00:00.000Z'],
  ])('requested for %s is expected at %s', (payAt, at) =>
    expect(expectedPayTime(payAt, now).toISOString()).toBe(at),
  );

  it.each([
    [null, '2026-11-25T03:00:00.000Z'],
    ['2026-11-27', '2026-12-01T03:00:00.000Z'],
  ])('requested for %s is at the latest %s', (payAt, until) =>
    expect(latestPayTime(payAt, now, { paysBillsOnTime: false }).toISOString()).toBe(until),
  );

  it('is exactly the scheduled time at a bank that is known to be on time', () => {
    const latest = latestPayTime('2026-11-27', now, { paysBillsOnTime: true });
    expect(latest).toEqual(expectedPayTime('2026-11-27', now));
  });
});
