// The amount of a bill on another day than the day of its query: It is exact if the bill has enough
// data. Otherwise it is a range, and an amount outside the range is certainly wrong. As days pass,
// fines and interest are added and discounts end.
import {
  amountOwed,
  amountParts,
  type Adjustment,
  type ChargeTerms,
} from '../../brazil/amount-owed.js';
import { daysBetween, parsePlainDate, type PlainDate } from '../../brazil/calendar.js';
import type { BillInformation } from '../../bank-contract/bill-payments.js';
import { centsOfMillionths } from '../../bank-contract/wire.js';

export type PricedBill = Pick<
  BillInformation,
  | ('amount' | 'dueDate' | 'paymentCalculation' | 'discounts')
  | ('overduePaymentInterest' | 'overduePaymentFine')
>;

/** Cents, both ends inclusive. */
export interface AmountRange {
  minimumCents: bigint;
  maximumCents: bigint;
}

/** The amount owed on a day, calculated from the bill as it was queried today. */
export function amountOwedOn(bill: PricedBill, today: PlainDate, day: PlainDate): AmountRange {
  const charged = bill.paymentCalculation.chargedAmount;
  if (day === today) return exactly(charged);
  const terms = readTerms(bill);
  if (!terms) return { minimumCents: 1n, maximumCents: 2n * larger(bill.amount ?? 0n, charged) };
  const [now, then] = [amountParts(terms, today), amountParts(terms, day)];
  const isUnchanged =
    then.interestCents === 0n &&
    now.discountCents === then.discountCents &&
    now.fineCents === then.fineCents &&
    now.interestCents === 0n;
  if (isUnchanged) return exactly(charged);
  // Banks calculate interest in different ways. Our calculation is used only if it gives the bank's
  // amount for today.
  const rebate = bill.paymentCalculation.rebateAmount ?? 0n;
  const isSameAsBank = amountOwed(terms, today) - rebate === charged;
  if (isSameAsBank && (then.interestCents === 0n || now.interestCents > 0n))
    return exactly(amountOwed(terms, day) - rebate);
  return boundsOf(terms, charged, rebate, day);
}

function boundsOf(
  terms: ChargeTerms,
  charged: bigint,
  rebate: bigint,
  day: PlainDate,
): AmountRange {
  const { amountCents, discounts, fine, interest, dueDate } = terms;
  const since = interest && interest.date < dueDate ? interest.date : dueDate;
  const lateDays = BigInt(Math.max(0, daysBetween(since, day) + 1));
  // The rate may be monthly or daily. A daily rate gives the higher bound.
  const late = partOf(amountCents, fine) + partOf(amountCents, interest) * lateDays;
  const discounted = discounts.reduce(
    (left, discount) => left - partOf(amountCents, discount),
    amountCents - rebate,
  );
  const least = discounted < charged ? discounted : charged;
  return {
    minimumCents: larger(least, 1n),
    maximumCents: larger(amountCents, charged) + late,
  };
}

/** Null where a field that changes the amount cannot be read. */
function readTerms(bill: PricedBill): ChargeTerms | null {
  const dueDate = parsePlainDate((bill.dueDate ?? '').slice(0, 10));
  const fine = readAdjustment(bill.overduePaymentFine);
  const interest = readAdjustment(bill.overduePaymentInterest);
  const discounts = (bill.discounts ?? []).map(readAdjustment);
  if (!dueDate || bill.amount == null || fine === undefined || interest === undefined) return null;
  if (discounts.includes(undefined)) return null;
  const known = discounts.filter((discount): discount is Adjustment => Boolean(discount));
  return { amountCents: bill.amount, dueDate, fine, interest, discounts: known };
}

/** Null where the bill has no such adjustment, undefined where it cannot be read. */
function readAdjustment(
  adjustment: BillInformation['overduePaymentFine'],
): Adjustment | null | undefined {
  if (!adjustment || adjustment.amount === 0n) return null;
  const date = parsePlainDate((adjustment.date ?? '').slice(0, 10));
  const type = adjustment.type?.toUpperCase();
  const { amount } = adjustment;
  if (amount == null || !date || (type !== 'FIXED' && type !== 'PERCENTAGE')) return undefined;
  if (type === 'PERCENTAGE') return { date, amount, isPercentage: true };
  const cents = centsOfMillionths(amount);
  return cents === null ? undefined : { date, amount: cents, isPercentage: false };
}

/** The upper bound of an adjustment: a percentage is rounded up. */
function partOf(amountCents: bigint, adjustment: Adjustment | null): bigint {
  if (!adjustment) return 0n;
  const { isPercentage, amount } = adjustment;
  return isPercentage ? (amountCents * amount + 99_999_999n) / 100_000_000n : amount;
}

const exactly = (cents: bigint): AmountRange => ({ minimumCents: cents, maximumCents: cents });
const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);
