// What a bill allows, as far as it is certain before the bank is asked to pay it.
import { isBarCodeLong, parseBillCode } from '../brazil/bill-code.js';
import { parseAskedTime, nextBusinessHour, saoPauloInstant } from '../brazil/business-hours.js';
import { addDays, nextBusinessDay } from '../brazil/calendar.js';
import { saoPauloDay } from '../brazil/statement-day.js';
import type { BillInformation, BillPaymentRequest } from '../contract/bill-payments.js';
import { invariant } from '../platform/errors.js';

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
  /** Whether it is reckoned for another day than that on which the bill was asked for. */
  isForAnotherDay: boolean;
}

export interface BillRefusal {
  reason: 'bill_not_payable' | 'amount_out_of_range';
  public: string;
}

type PayableBill = Pick<BillInformation, 'status' | 'isAllowPartialPayment' | 'paymentCalculation'>;

/** Why the bill is not paid, or not with that much; null where nothing certain is against it. */
export function refusalOf(bill: PayableBill, asked: AskedPayment): BillRefusal | null {
  if (bill.status !== 'PENDING_PAYMENT')
    return { reason: 'bill_not_payable', public: 'The bill cannot be paid now.' };
  const { amountCents, isForAnotherDay } = asked;
  const range = rangeOf(bill);
  // With the days, interest and fines come and discounts go: what is owed on another day is the bank's to say. A
  // range's lower end does not fall.
  if (isForAnotherDay && !range.isPartial) return null;
  const isTooMuch = !isForAnotherDay && amountCents > range.maximumCents;
  if (amountCents >= range.minimumCents && !isTooMuch) return null;
  return {
    reason: 'amount_out_of_range',
    public: range.isPartial
      ? 'The amount is outside the range that the bill allows.'
      : 'The amount is not the charged amount of the bill.',
  };
}

/** A bill that may be paid in part but does not say within which limits is paid whole. */
function rangeOf({ isAllowPartialPayment, paymentCalculation }: PayableBill) {
  const { chargedAmount, minimumPaymentAmount, maximumPaymentAmount } = paymentCalculation;
  if (!isAllowPartialPayment || minimumPaymentAmount == null || maximumPaymentAmount == null)
    return { isPartial: false, minimumCents: chargedAmount, maximumCents: chargedAmount };
  return {
    isPartial: true,
    minimumCents: minimumPaymentAmount < chargedAmount ? minimumPaymentAmount : chargedAmount,
    maximumCents: maximumPaymentAmount > chargedAmount ? maximumPaymentAmount : chargedAmount,
  };
}

/** Whether what was asked for as `payAt` lies before the bank's present; of today any hour will do. */
export function isInThePast(payAt: string, now: Date): boolean {
  const asked = readAsked(payAt);
  return 'day' in asked ? asked.day < saoPauloDay(now) : asked.instant < now;
}

/** Whether `payAt` asks for another day of São Paulo than the bank's present one. */
export function isForAnotherDay(payAt: string | null, now: Date): boolean {
  if (payAt === null) return false;
  const asked = readAsked(payAt);
  return ('day' in asked ? asked.day : saoPauloDay(asked.instant)) !== saoPauloDay(now);
}

/** Hours of São Paulo in which banks pay bills, where the answer does not say when it will be. */
const usualHours = { open: 7, close: 20 };

/** When a payment that was accepted at that instant goes through, as far as the answer does not tell it. */
export function expectedPayTime(payAt: string | null, acceptedAt: Date): Date {
  const asked = payAt === null ? { instant: acceptedAt } : readAsked(payAt);
  const from = 'day' in asked ? saoPauloInstant(asked.day, 0) : asked.instant;
  return nextBusinessHour(from < acceptedAt ? acceptedAt : from, usualHours);
}

/**
 * Until when a payment that was sent then may go through, whatever its answer was: not before the end of the next
 * business day, because the bank's hours are its own.
 */
export function latestPayTime(payAt: string | null, sentAt: Date): Date {
  return mayGoUntil(expectedPayTime(payAt, sentAt));
}

/** Until when a bank may run late with what it has scheduled, or try again: the end of the next business day. */
export function mayGoUntil(scheduledFor: Date): Date {
  const day = nextBusinessDay(saoPauloDay(scheduledFor));
  return saoPauloInstant(addDays(day, 1), 0);
}

function readAsked(payAt: string) {
  const asked = parseAskedTime(payAt);
  invariant(asked, 'the route takes only what can be read');
  return asked;
}
