// What a bill may cost on another day than that on which it was asked for: exactly, where it tells enough, else within
// bounds outside of which it is certainly wrong. Fines and interest come with the days, and discounts go.
import { amountParts, type Adjustment, type ChargeTerms } from '../brazil/amount-owed.js';
import { daysBetween, parsePlainDate, type PlainDate } from '../brazil/calendar.js';
import type { BillInformation } from '../contract/bill-payments.js';

export type PricedBill = Pick<
  BillInformation,
  | 'amount'
  | 'dueDate'
  | 'paymentCalculation'
  | 'overduePaymentInterest'
  | 'overduePaymentFine'
  | 'discounts'
>;

/** In cents, both ends within. */
export interface AmountRange {
  minimumCents: bigint;
  maximumCents: bigint;
}

/** What is owed on a day, by what the bill tells today. */
export function owedOn(bill: PricedBill, today: PlainDate, day: PlainDate): AmountRange {
  const charged = bill.paymentCalculation.chargedAmount;
  const terms = readTerms(bill);
  if (!terms) return { minimumCents: 1n, maximumCents: 2n * larger(bill.amount, charged) };
  const [now, then] = [amountParts(terms, today), amountParts(terms, day)];
  const isAsToday =
    then.interestCents === 0n &&
    now.discountCents === then.discountCents &&
    now.fineCents === then.fineCents &&
    now.interestCents === 0n;
  if (isAsToday) return exactly(charged);
  // Banks reckon interest in ways of their own: ours is believed where it has shown to be this bank's.
  const rebate = bill.paymentCalculation.rebateAmount ?? 0n;
  const isReckonedAlike =
    terms.amountCents - rebate - now.discountCents + now.fineCents + now.interestCents === charged;
  if (isReckonedAlike && (then.interestCents === 0n || now.interestCents > 0n))
    return exactly(
      terms.amountCents - rebate - then.discountCents + then.fineCents + then.interestCents,
    );
  return boundsOf(terms, { charged, rebate, day });
}

function boundsOf(
  terms: ChargeTerms,
  { charged, rebate, day }: { charged: bigint; rebate: bigint; day: PlainDate },
): AmountRange {
  const { amountCents, discounts, fine, interest, dueDate } = terms;
  const since = interest && interest.date < dueDate ? interest.date : dueDate;
  const lateDays = BigInt(Math.max(0, daysBetween(since, day) + 1));
  // Told by the month or by the day: by the day is more.
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

/** Null where something that changes the amount cannot be read. */
function readTerms(bill: PricedBill): ChargeTerms | null {
  const dueDate = parsePlainDate(bill.dueDate.slice(0, 10));
  const fine = readAdjustment(bill.overduePaymentFine);
  const interest = readAdjustment(bill.overduePaymentInterest);
  const discounts = (bill.discounts ?? []).map(readAdjustment);
  if (!dueDate || fine === undefined || interest === undefined) return null;
  if (discounts.includes(undefined)) return null;
  const known = discounts.filter((discount): discount is Adjustment => Boolean(discount));
  return { amountCents: bill.amount, dueDate, fine, interest, discounts: known };
}

/** Null where there is none, undefined where it cannot be read. */
function readAdjustment(
  told: BillInformation['overduePaymentFine'],
): Adjustment | null | undefined {
  if (!told?.amount) return null;
  const date = parsePlainDate((told.date ?? '').slice(0, 10));
  const type = told.type?.toUpperCase();
  if (!date || (type !== 'FIXED' && type !== 'PERCENTAGE')) return undefined;
  return { date, amount: told.amount, isPercentage: type === 'PERCENTAGE' };
}

/** At most; rounded up. */
function partOf(amountCents: bigint, adjustment: Adjustment | null): bigint {
  if (!adjustment) return 0n;
  const { isPercentage, amount } = adjustment;
  return isPercentage ? (amountCents * amount + 9_999n) / 10_000n : amount;
}

const exactly = (cents: bigint): AmountRange => ({ minimumCents: cents, maximumCents: cents });
const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);
