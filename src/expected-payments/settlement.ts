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
  const adjusted = { amountCents, dueDate, ...readAdjustments(terms) };
  const days = Array.from({ length: creditDelayDays }, (_, index) =>
    addBusinessDays(day, -(index + 1)),
  );
  const isExact = [day, ...days].some((one) => amountOwed(adjusted, one) === paidCents);
  return isExact ? paidCents : amountOwed(adjusted, day);
}
