// What the money that came makes of what was expected: the one rule, for charges, matching and events.
import { amountOwed } from '../brazil/amount-owed.js';
import { addBusinessDays } from '../brazil/calendar.js';
import { readAdjustments } from '../contract/charge-terms.js';

export type PaidSettlement = 'partially_settled' | 'settled' | 'overpaid';

export interface ExpectedAmount {
  /** Null when the payer chooses. */
  amountCents: bigint | null;
  /** A static QR code may be paid many times: no payment of it is one too many. */
  isMultiUse: boolean;
}

/** `paidCents` is all that was matched, at least one payment. */
export function settlementOfPaid(
  { amountCents, isMultiUse }: ExpectedAmount,
  paidCents: bigint,
): PaidSettlement {
  if (amountCents === null || paidCents === amountCents) return 'settled';
  if (paidCents < amountCents) return 'partially_settled';
  return isMultiUse ? 'settled' : 'overpaid';
}

export interface NetPayment {
  amountCents: bigint;
  /** What of it has gone back to the payer. */
  refundedCents: bigint;
}

/** The payments of which anything is left: what went back whole is as if it had never come. */
export function paymentsLeft<Payment extends NetPayment>(payments: readonly Payment[]): Payment[] {
  return payments.filter(({ amountCents, refundedCents }) => amountCents > refundedCents);
}

/**
 * What is told of payments, at least one. One of which a part went back has settled what it paid all the same; too much
 * is what was kept beyond what was owed.
 */
export function settlementOfPayments(
  expected: ExpectedAmount,
  payments: readonly NetPayment[],
): PaidSettlement | 'refunded' {
  const kept = paymentsLeft(payments);
  if (kept.length === 0) return 'refunded';
  const grossCents = kept.reduce((sum, { amountCents }) => sum + amountCents, 0n);
  const netCents = kept.reduce((sum, one) => sum + one.amountCents - one.refundedCents, 0n);
  const settlement = settlementOfPaid(expected, grossCents);
  return settlement === 'overpaid' && netCents <= (expected.amountCents ?? netCents)
    ? 'settled'
    : settlement;
}

export interface ExpectedTerms {
  /** Null when the payer chooses. */
  amountCents: bigint | null;
  dueDate: string | null;
  /** Discount, fine and interest as they were written with the charge; null when there are none. */
  terms: string | null;
}

/** A slip is credited some days after it was paid, and its line does not say when that was. */
const creditDelayDays = 5;

/**
 * What was owed in all when this much had been paid: the amount of the day, or of one of the business days
 * before it on which just this was owed. Null when the payer chooses.
 */
export function owedWhenPaid(
  { amountCents, dueDate, terms }: ExpectedTerms,
  paidCents: bigint,
  day: string,
): bigint | null {
  if (amountCents === null || terms === null || dueDate === null) return amountCents;
  const expected = { amountCents, dueDate, terms };
  const isExact = daysOfPayment(day).some((one) => owedOn(expected, one) === paidCents);
  return isExact ? paidCents : owedOn(expected, day);
}

/** Whether just this may have been owed on the day that it was paid. */
export function owedByOne(expected: ExpectedTerms, paidCents: bigint, day: string): boolean {
  return owedWhenPaid(expected, paidCents, day) === paidCents;
}

/** What was owed of each on the day when just this was owed of all; null when it was on none, or the payer chooses. */
export function owedTogether(
  expected: readonly ExpectedTerms[],
  paidCents: bigint,
  day: string,
): bigint[] | null {
  for (const one of daysOfPayment(day)) {
    const owed = expected.map((each) => owedOn(each, one));
    if (owed.reduce((sum, cents) => sum + cents, 0n) === paidCents) return owed;
  }
  return null;
}

/** The days on which what was credited on this day may have been paid. */
function daysOfPayment(day: string): string[] {
  const before = Array.from({ length: creditDelayDays }, (_, index) =>
    addBusinessDays(day, -(index + 1)),
  );
  return [day, ...before];
}

function owedOn({ amountCents, dueDate, terms }: ExpectedTerms, day: string): bigint {
  if (amountCents === null) return 0n;
  if (terms === null || dueDate === null) return amountCents;
  return amountOwed({ amountCents, dueDate, ...readAdjustments(terms) }, day);
}
