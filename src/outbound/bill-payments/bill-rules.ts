// Finds the rules of a bill that a payment certainly breaks, before the bank is requested to pay
// the bill.
import type { BankProfile } from '../../bank/profiles.js';
import { findBarCode } from '../../brazil/bill-code.js';
import {
  parseRequestedTime,
  nextBusinessHour,
  saoPauloInstant,
} from '../../brazil/business-hours.js';
import { addDays, nextBusinessDay, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { BillInformation, BillPaymentRequest } from '../../bank-contract/bill-payments.js';
import { invariant } from '../../platform/errors.js';
import { amountOwedOn, type AmountRange, type PricedBill } from './bill-amounts.js';

/**
 * The bar code of a bill, from its bar code or digitable line: the 44 digits that identify the
 * bill.
 */
export function barCodeOf(codes: Pick<BillPaymentRequest, 'barCode' | 'digitableLine'>): string {
  const code = findBarCode(codes.barCode ?? codes.digitableLine ?? '');
  invariant(code, 'the route accepts valid bill codes only');
  return code;
}

/** Whether the bank returned this bill: each code of it that can be read is the bill's. */
export function isOfBill(
  { barCode, digitableLine }: Pick<BillInformation, 'barCode' | 'digitableLine'>,
  wanted: string,
): boolean {
  const codes = [barCode, digitableLine].flatMap((code) => findBarCode(code ?? '') ?? []);
  return codes.length > 0 && codes.every((code) => code === wanted);
}

export interface RequestedBillPayment {
  amountCents: bigint;
  /** The day in São Paulo on which the bill was queried. */
  today: PlainDate;
  /**
   * The days for which the bank may calculate the amount: two days if banks do not pay on the
   * requested day, otherwise one day.
   */
  payDays: readonly PlainDate[];
}

export interface BillRuleViolation {
  reason: 'bill_not_payable' | 'amount_out_of_range';
  public: string;
}

type PayableBill = PricedBill & Pick<BillInformation, 'status' | 'isAllowPartialPayment'>;

/** The rule that a payment of the bill certainly breaks; null when the bank should decide. */
export function findBillRuleViolation(
  bill: PayableBill,
  payment: RequestedBillPayment,
): BillRuleViolation | null {
  if (bill.status !== 'PENDING_PAYMENT')
    return {
      reason: 'bill_not_payable',
      public: `The bill must be pending payment, its status is ${bill.status}.`,
    };
  const { amountCents, today, payDays } = payment;
  // The bank's own calculation is never refused here.
  if (amountCents === bill.paymentCalculation.chargedAmount) return null;
  const { minimumCents, maximumCents } = rangeOf(bill, { today, payDays });
  if (amountCents >= minimumCents && amountCents <= maximumCents) return null;
  return {
    reason: 'amount_out_of_range',
    public: isPartial(bill)
      ? 'The amount must be within the range that the bill allows.'
      : 'The amount must be the charged amount of the bill.',
  };
}

/** A bill that allows partial payment but gives no limits must be paid in full. */
function isPartial({ isAllowPartialPayment, paymentCalculation }: PayableBill): boolean {
  const { minimumPaymentAmount, maximumPaymentAmount } = paymentCalculation;
  return (
    isAllowPartialPayment === true && minimumPaymentAmount != null && maximumPaymentAmount != null
  );
}

/** What the bank may accept on one of the days. */
export function rangeOf(
  bill: PayableBill,
  { today, payDays }: Pick<RequestedBillPayment, 'today' | 'payDays'>,
): AmountRange {
  const ranges = payDays.map((day) => rangeOn(bill, today, day));
  const least = (a: bigint, b: bigint) => (a < b ? a : b);
  return ranges.reduce((all, one) => ({
    minimumCents: least(all.minimumCents, one.minimumCents),
    maximumCents: -least(-all.maximumCents, -one.maximumCents),
  }));
}

function rangeOn(bill: PayableBill, today: PlainDate, day: PlainDate): AmountRange {
  const { chargedAmount, minimumPaymentAmount, maximumPaymentAmount } = bill.paymentCalculation;
  const owed = amountOwedOn(bill, today, day);
  if (!isPartial(bill)) return owed;
  // The amount owed is always within the range. Fines and interest may raise the upper limit as
  // days pass.
  const increase = owed.maximumCents > chargedAmount ? owed.maximumCents - chargedAmount : 0n;
  const minimumCents = minimumPaymentAmount ?? chargedAmount;
  const maximumCents = (maximumPaymentAmount ?? chargedAmount) + increase;
  return {
    minimumCents: minimumCents < owed.minimumCents ? minimumCents : owed.minimumCents,
    maximumCents: maximumCents > owed.maximumCents ? maximumCents : owed.maximumCents,
  };
}

/**
 * Whether `payAt` is before the bank's current time. A `payAt` without a time is past only after
 * its day.
 */
export function isInThePast(payAt: string, now: Date): boolean {
  const requested = readPayTime(payAt);
  return 'day' in requested ? requested.day < saoPauloDay(now) : requested.instant < now;
}

/**
 * The days whose amount may apply to a payment requested now: today, or the day of `payAt`, and the
 * day of execution. Without `payAt` that is the next business day outside business hours.
 */
export function payDaysOf(payAt: string | null, now: Date): PlainDate[] {
  const today = saoPauloDay(now);
  const executedOn = saoPauloDay(expectedPayTime(payAt, now));
  if (payAt === null) return [...new Set([today, executedOn])];
  const requested = readPayTime(payAt);
  const day = 'day' in requested ? requested.day : saoPauloDay(requested.instant);
  return [...new Set([day, executedOn])];
}

/** Hours in São Paulo in which banks usually pay bills. Used where the response gives no time. */
const usualHours = { open: 7, close: 20 };

/** When a payment accepted at `acceptedAt` is executed, where the response gives no time. */
export function expectedPayTime(payAt: string | null, acceptedAt: Date): Date {
  const requested = payAt === null ? { instant: acceptedAt } : readPayTime(payAt);
  const from = 'day' in requested ? saoPauloInstant(requested.day, 0) : requested.instant;
  return nextBusinessHour(from < acceptedAt ? acceptedAt : from, usualHours);
}

/**
 * The latest time at which a payment sent at `sentAt` may be executed, whatever the response was.
 */
export function latestPayTime(payAt: string | null, sentAt: Date, bank: BillHours): Date {
  return latestExecutionAt(expectedPayTime(payAt, sentAt), bank);
}

type BillHours = Pick<BankProfile, 'paysBillsOnTime'>;

/**
 * The latest time at which the bank may execute a scheduled payment: the scheduled time where the
 * bank is known to be on time. Another bank has hours of its own and may run late or retry until
 * the end of the next business day.
 */
export function latestExecutionAt(scheduledFor: Date, { paysBillsOnTime }: BillHours): Date {
  if (paysBillsOnTime) return scheduledFor;
  const day = nextBusinessDay(saoPauloDay(scheduledFor));
  return saoPauloInstant(addDays(day, 1), 0);
}

function readPayTime(payAt: string) {
  const requested = parseRequestedTime(payAt);
  invariant(requested, 'the route accepts readable times only');
  return requested;
}
