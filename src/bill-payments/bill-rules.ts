// What a bill allows, as far as it is certain before the bank is asked to pay it.
import type { BankProfile } from '../bank/profiles.js';
import { isBarCodeLong, parseBillCode } from '../brazil/bill-code.js';
import { parseAskedTime, nextBusinessHour, saoPauloInstant } from '../brazil/business-hours.js';
import { addDays, nextBusinessDay, type PlainDate } from '../brazil/calendar.js';
import { saoPauloDay } from '../brazil/statement-day.js';
import type { BillInformation, BillPaymentRequest } from '../contract/bill-payments.js';
import { invariant } from '../platform/errors.js';
import { owedOn, type AmountRange, type PricedBill } from './bill-amounts.js';

/** The bar code of a bill's code in either spelling: 44 digits, by which a bill is one. */
export function barCodeOf({
  barCode,
  digitableLine,
}: Pick<BillPaymentRequest, 'barCode' | 'digitableLine'>): string {
  const code = findBarCode(barCode ?? digitableLine ?? '');
  invariant(code, 'the route takes only codes that hold');
  return code;
}

/** Null where the text is no code that holds. */
export function findBarCode(text: string): string | null {
  const parsed = parseBillCode(text);
  return parsed.ok ? parsed.code.barCode : null;
}

/** Whether a text names a bill by its bar code itself. */
export function isBarCode(text: string): boolean {
  return isBarCodeLong(text) && findBarCode(text) === text;
}

export interface AskedPayment {
  amountCents: bigint;
  /** The day of São Paulo on which the bill was asked for. */
  today: PlainDate;
  /** The days for which the bank may reckon it: one, save where the day asked for is not one on which banks pay. */
  payDays: readonly PlainDate[];
}

export interface BillRefusal {
  reason: 'bill_not_payable' | 'amount_out_of_range';
  public: string;
}

type PayableBill = PricedBill & Pick<BillInformation, 'status' | 'isAllowPartialPayment'>;

/** Why the bill is not paid, or not with that much; null where nothing certain is against it. */
export function refusalOf(bill: PayableBill, asked: AskedPayment): BillRefusal | null {
  if (bill.status !== 'PENDING_PAYMENT')
    return { reason: 'bill_not_payable', public: 'The bill cannot be paid now.' };
  const { amountCents, today, payDays } = asked;
  const ranges = payDays.map((day) => rangeOn(bill, today, day));
  const isTooLittle = ranges.every(({ minimumCents }) => amountCents < minimumCents);
  const isTooMuch = ranges.every(({ maximumCents }) => amountCents > maximumCents);
  if (!isTooLittle && !isTooMuch) return null;
  return {
    reason: 'amount_out_of_range',
    public: isPartial(bill)
      ? 'The amount is outside the range that the bill allows.'
      : 'The amount is not the charged amount of the bill.',
  };
}

/** A bill that may be paid in part but does not say within which limits is paid whole. */
function isPartial({ isAllowPartialPayment, paymentCalculation }: PayableBill): boolean {
  const { minimumPaymentAmount, maximumPaymentAmount } = paymentCalculation;
  return isAllowPartialPayment && minimumPaymentAmount != null && maximumPaymentAmount != null;
}

function rangeOn(bill: PayableBill, today: PlainDate, day: PlainDate): AmountRange {
  const { chargedAmount, minimumPaymentAmount, maximumPaymentAmount } = bill.paymentCalculation;
  const owed =
    day === today
      ? { minimumCents: chargedAmount, maximumCents: chargedAmount }
      : owedOn(bill, today, day);
  if (!isPartial(bill)) return owed;
  // What is owed always lies within the range; its upper end may rise by what comes with the days.
  const risen = owed.maximumCents > chargedAmount ? owed.maximumCents - chargedAmount : 0n;
  const minimumCents = minimumPaymentAmount ?? chargedAmount;
  const maximumCents = (maximumPaymentAmount ?? chargedAmount) + risen;
  return {
    minimumCents: minimumCents < owed.minimumCents ? minimumCents : owed.minimumCents,
    maximumCents: maximumCents > owed.maximumCents ? maximumCents : owed.maximumCents,
  };
}

/** Whether what was asked for as `payAt` lies before the bank's present; of today any hour will do. */
export function isInThePast(payAt: string, now: Date): boolean {
  const asked = readAsked(payAt);
  return 'day' in asked ? asked.day < saoPauloDay(now) : asked.instant < now;
}

/** The days for which a payment that is asked for now may be reckoned: today's, or that of `payAt` and that it goes on. */
export function payDaysOf(payAt: string | null, now: Date): PlainDate[] {
  const today = saoPauloDay(now);
  if (payAt === null) return [today];
  const asked = readAsked(payAt);
  const day = 'day' in asked ? asked.day : saoPauloDay(asked.instant);
  return day === today ? [today] : [...new Set([day, saoPauloDay(expectedPayTime(payAt, now))])];
}

/** Hours of São Paulo in which banks pay bills, where the answer does not say when it will be. */
const usualHours = { open: 7, close: 20 };

/** When a payment that was accepted at that instant goes through, as far as the answer does not tell it. */
export function expectedPayTime(payAt: string | null, acceptedAt: Date): Date {
  const asked = payAt === null ? { instant: acceptedAt } : readAsked(payAt);
  const from = 'day' in asked ? saoPauloInstant(asked.day, 0) : asked.instant;
  return nextBusinessHour(from < acceptedAt ? acceptedAt : from, usualHours);
}

/** Until when a payment that was sent then may go through, whatever its answer was. */
export function latestPayTime(payAt: string | null, sentAt: Date, bank: BillHours): Date {
  return mayGoUntil(expectedPayTime(payAt, sentAt), bank);
}

type BillHours = Pick<BankProfile, 'paysBillsOnTime'>;

/**
 * Until when a bank may run late with what it has scheduled, or try again: the end of the next business day, because
 * its hours are its own, where it is not known to be on time.
 */
export function mayGoUntil(scheduledFor: Date, { paysBillsOnTime }: BillHours): Date {
  if (paysBillsOnTime) return scheduledFor;
  const day = nextBusinessDay(saoPauloDay(scheduledFor));
  return saoPauloInstant(addDays(day, 1), 0);
}

function readAsked(payAt: string) {
  const asked = parseAskedTime(payAt);
  invariant(asked, 'the route takes only what can be read');
  return asked;
}
