import { addDays, daysBetween, rollToBusinessDay, type PlainDate } from './calendar.js';

/** A discount, fine or interest. */
export interface Adjustment {
  isPercentage: boolean;
  date: PlainDate;
  /** Cents, or millionths of a percent. */
  amount: bigint;
}

export type InterestPeriod = 'day' | 'month';

export interface Interest extends Adjustment {
  /** Of a percentage: per day, or per month of thirty days, charged by the day. */
  period?: InterestPeriod;
}

export interface Adjustments {
  /**
   * Each discount applies until its date, inclusive. If several discounts apply, only the discount
   * with the earliest date counts.
   */
  discounts: Adjustment[];
  /** Applies once to a late payment, from its date on. */
  fine: Adjustment | null;
  /**
   * Applies to each late day, from its date on. A fixed amount is per day. A percentage is per
   * month where nothing else is given.
   */
  interest: Interest | null;
}

export interface ChargeTerms extends Adjustments {
  amountCents: bigint;
  dueDate: PlainDate;
}

const hundredPercent = 100_000_000n;
const daysOf: Record<InterestPeriod, bigint> = { day: 1n, month: 30n };

/**
 * The differences between the amount of a charge and the amount owed on a day, in cents, never
 * negative.
 */
export interface AmountParts {
  discountCents: bigint;
  fineCents: bigint;
  interestCents: bigint;
}

/**
 * The discount, fine and interest on a day. A due date that is not a business day moves to the next
 * business day: until then there is no fine and no interest. A discount leaves at least one cent to
 * pay.
 */
export function amountParts(terms: ChargeTerms, day: PlainDate): AmountParts {
  const { amountCents, dueDate } = terms;
  if (day > rollToBusinessDay(dueDate)) {
    return {
      discountCents: 0n,
      fineCents: fineOn(terms, day),
      interestCents: interestOn(terms, day),
    };
  }
  const [discount] = terms.discounts
    .filter((candidate) => candidate.date >= day)
    .sort((a, b) => (a.date < b.date ? -1 : 1));
  const fullDiscountCents = discount ? partOf(amountCents, discount) : 0n;
  const discountCents = fullDiscountCents < amountCents ? fullDiscountCents : amountCents - 1n;
  return { discountCents, fineCents: 0n, interestCents: 0n };
}

/** The amount that a payer owes on a day, in cents. */
export function amountOwed(terms: ChargeTerms, day: PlainDate): bigint {
  const { discountCents, fineCents, interestCents } = amountParts(terms, day);
  return terms.amountCents - discountCents + fineCents + interestCents;
}

function fineOn({ amountCents, fine }: ChargeTerms, day: PlainDate): bigint {
  return fine && day >= fine.date ? partOf(amountCents, fine) : 0n;
}

function interestOn({ amountCents, dueDate, interest }: ChargeTerms, day: PlainDate): bigint {
  if (!interest || day < interest.date) return 0n;
  const firstLateDay = addDays(dueDate, 1);
  const from = interest.date > firstLateDay ? interest.date : firstLateDay;
  const days = BigInt(daysBetween(from, day) + 1);
  if (!interest.isPercentage) return interest.amount * days;
  return rounded(
    amountCents * interest.amount * days,
    hundredPercent * daysOf[interest.period ?? 'month'],
  );
}

function partOf(amountCents: bigint, { isPercentage, amount }: Adjustment): bigint {
  return isPercentage ? rounded(amountCents * amount, hundredPercent) : amount;
}

/** The quotient of two positive numbers, rounded half up. */
function rounded(dividend: bigint, divisor: bigint): bigint {
  return (dividend * 2n + divisor) / (divisor * 2n);
}
