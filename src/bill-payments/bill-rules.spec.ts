import { describe, expect, it } from '@jest/globals';
import { expectedPayTime, isInThePast, latestPayTime, payDaysOf, refusalOf } from './bill-rules.js';

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
  refusalOf(of, { amountCents, today, payDays: payDays.length > 0 ? payDays : [today] })?.reason ??
  null;

describe('what a bill allows', () => {
  it.each(['PAID', 'BLOCKED_PAYMENT', 'PAYMENT_DEADLINE_EXCEEDED', 'A_NEW_WORD'])(
    'is nothing when it is %s',
    (status) => expect(reasonOf({ ...bill, status }, 8_000n)).toBe('bill_not_payable'),
  );

  it.each([
    [7_999n, 'amount_out_of_range'],
    [8_000n, null],
    [8_001n, 'amount_out_of_range'],
  ])('is the charged amount alone: %s is %s', (cents, reason) =>
    expect(reasonOf(bill, cents)).toBe(reason),
  );

  it.each([
    [999n, 'amount_out_of_range'],
    [1_000n, null],
    [9_000n, null],
    [9_001n, 'amount_out_of_range'],
  ])('is its range where it may be paid in part: %s is %s', (cents, reason) =>
    expect(reasonOf(partial, cents)).toBe(reason),
  );

  it('is the charged amount where a range has no ends, or only one', () => {
    const open = { ...partial, paymentCalculation: { ...calculation, minimumPaymentAmount: 1n } };
    expect(reasonOf(open, 7_999n)).toBe('amount_out_of_range');
    expect(reasonOf(open, 8_000n)).toBeNull();
  });

  it('is all that is owed, whatever its range says', () => {
    const late = { ...partial, paymentCalculation: { ...partial.paymentCalculation } };
    late.paymentCalculation.chargedAmount = 9_500n;
    expect(reasonOf(late, 9_500n)).toBeNull();
  });

  it('is on another day what is owed then', () => {
    expect(reasonOf(bill, 8_000n, '2026-11-24')).toBeNull();
    expect(reasonOf(bill, 8_001n, '2026-11-24')).toBe('amount_out_of_range');
    expect(reasonOf(bill, 7_999n, '2026-12-24')).toBe('amount_out_of_range');
    expect(reasonOf({ ...bill, status: 'PAID' }, 8_000n, '2026-11-24')).toBe('bill_not_payable');
  });

  it('is what is owed on the day asked for, or on that on which banks pay', () => {
    const fine = { date: '2026-11-26', amount: 160n, type: 'FIXED' };
    const fined = { ...bill, overduePaymentFine: fine };
    for (const cents of [8_000n, 8_160n])
      expect(reasonOf(fined, cents, '2026-11-25', '2026-11-26')).toBeNull();
    expect(reasonOf(fined, 8_161n, '2026-11-25', '2026-11-26')).toBe('amount_out_of_range');
  });

  it('rises at the upper end of a range by what comes with the days', () => {
    const fine = { date: '2026-11-26', amount: 160n, type: 'FIXED' };
    const fined = { ...partial, overduePaymentFine: fine };
    expect(reasonOf(partial, 9_001n, '2026-11-26')).toBe('amount_out_of_range');
    expect(reasonOf(fined, 9_160n, '2026-11-26')).toBeNull();
    expect(reasonOf(fined, 9_161n, '2026-11-26')).toBe('amount_out_of_range');
    expect(reasonOf(partial, 999n, '2026-11-26')).toBe('amount_out_of_range');
  });
});

describe('when a payment is asked for', () => {
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
    ['2026-11-24T02:59:59Z', ['2026-11-23']],
    ['2026-11-24T03:00:00Z', ['2026-11-24']],
    ['2026-11-24', ['2026-11-24']],
    ['2026-11-28', ['2026-11-28', '2026-11-30']],
  ])('%s is reckoned for %j', (payAt, days) => expect(payDaysOf(payAt, now)).toEqual(days));

  it.each([
    [null, '2026-11-23T15:00:00.000Z'],
    ['2026-11-23', '2026-11-23T15:00:00.000Z'],
    ['2026-11-24', '2026-11-24T10:00:00.000Z'],
    ['2026-11-28', '2026-11-30T10:00:00.000Z'],
    ['2026-11-24T23:30:00Z', '2026-11-25T10:00:00.000Z'],
  ])('asked for %s it is paid at %s', (payAt, at) =>
    expect(expectedPayTime(payAt, now).toISOString()).toBe(at),
  );

  it.each([
    [null, '2026-11-25T03:00:00.000Z'],
    ['2026-11-27', '2026-12-01T03:00:00.000Z'],
  ])('asked for %s it may still go through until %s', (payAt, until) =>
    expect(latestPayTime(payAt, now, { paysBillsOnTime: false }).toISOString()).toBe(until),
  );

  it('goes through at its time, at a bank that is known to be on time', () => {
    const latest = latestPayTime('2026-11-27', now, { paysBillsOnTime: true });
    expect(latest).toEqual(expectedPayTime('2026-11-27', now));
  });
});
