import { addDays, daysBetween, rollToBusinessDay, type PlainDate } from './calendar.js';

/** A discount, fine or interest. */
export interface Adjustment {
  isPercentage: boolean;
  date: PlainDate;
  /** Cents, or hundredths of a percent. */
  amount: bigint;
}

export interface Adjustments {
  /** Each holds up to and including its date. */
  discounts: Adjustment[];
  /** Once, when late and from its date on. */
  fine: Adjustment | null;
  /** Fixed: for each day late. Percentage: a month of thirty days, counted by days. Both from their date on. */
  interest: Adjustment | null;
}

export interface ChargeTerms extends Adjustments {
  amountCents: bigint;
  dueDate: PlainDate;
}

const hundredPercent = 10_000n;
const daysOfMonth = 30n;

/** What makes a slip cost another amount than its own on a day, each in cents and never negative. */
export interface AmountParts {
  discountCents: bigint;
  fineCents: bigint;
  interestCents: bigint;
}

/**
 * The discount, fine and interest of a day. A due date that is no business day moves to the next one, without fine.
 * A discount leaves a cent at least: nobody pays nothing.
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
  const asked = discount ? partOf(amountCents, discount) : 0n;
  const discountCents = asked < amountCents ? asked : amountCents - 1n;
  return { discountCents, fineCents: 0n, interestCents: 0n };
}

/** What a slip costs on a day, in cents. */
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
  return rounded(amountCents * interest.amount * days, hundredPercent * daysOfMonth);
}

function partOf(amountCents: bigint, { isPercentage, amount }: Adjustment): bigint {
  return isPercentage ? rounded(amountCents * amount, hundredPercent) : amount;
}

/** Half a cent goes up; both are positive. */
function rounded(dividend: bigint, divisor: bigint): bigint {
  return (dividend * 2n + divisor) / (divisor * 2n);
}
