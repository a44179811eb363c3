// The one definition of settlement of a payment that we expect to receive. Charges, matching and
// events all use it.
import { amountOwed } from '../brazil/amount-owed.js';
import { addBusinessDays } from '../brazil/calendar.js';
import { parseAdjustments } from '../contract/charge-terms.js';

export type PaidSettlement = 'partially_settled' | 'settled' | 'overpaid';

export interface ExpectedAmount {
  /** Null when the payer chooses the amount. */
  amountCents: bigint | null;
  /** A static QR code may be paid many times: further payments do not overpay it. */
  isMultiUse: boolean;
}

/** `paidCents` is the total of all matched payments, of which there is at least one. */
export function settlementOfPaidAmount(
  { amountCents, isMultiUse }: ExpectedAmount,
  paidCents: bigint,
): PaidSettlement {
  if (amountCents === null || paidCents === amountCents) return 'settled';
  if (paidCents < amountCents) return 'partially_settled';
  return isMultiUse ? 'settled' : 'overpaid';
}

export interface PaymentWithRefunds {
  amountCents: bigint;
  /** The part of the payment that was refunded to the payer. */
  refundedCents: bigint;
}

/** Whether a payment was not refunded in full. */
export const isUnrefunded = ({ amountCents, refundedCents }: PaymentWithRefunds): boolean =>
  amountCents > refundedCents;

/** Leaves out payments that were refunded in full: they count as never received. */
export function unrefundedPayments<Payment extends PaymentWithRefunds>(
  payments: readonly Payment[],
): Payment[] {
  return payments.filter(isUnrefunded);
}

/**
 * The amount that decides the settlement. It depends on the day of the payment: the last payment
 * that was not refunded in full decides. Null when the payer chooses the amount.
 */
export function decidingOwedCents(
  { amountCents }: Pick<ExpectedAmount, 'amountCents'>,
  payments: readonly (PaymentWithRefunds & { owedCents: bigint | null })[],
): bigint | null {
  return unrefundedPayments(payments).at(-1)?.owedCents ?? amountCents;
}

/**
 * The settlement of at least one payment, net of refunds. A partly refunded payment still settles
 * its whole amount. The payments are overpaid only while their total less refunds exceeds what was
 * owed.
 */
export function settlementOfPayments(
  expected: ExpectedAmount,
  payments: readonly PaymentWithRefunds[],
): PaidSettlement | 'refunded' {
  const unrefunded = unrefundedPayments(payments);
  if (unrefunded.length === 0) return 'refunded';
  let [grossCents, netCents] = [0n, 0n];
  for (const { amountCents, refundedCents } of unrefunded) {
    grossCents += amountCents;
    netCents += amountCents - refundedCents;
  }
  const settlement = settlementOfPaidAmount(expected, grossCents);
  return settlement === 'overpaid' && netCents <= (expected.amountCents ?? netCents)
    ? 'settled'
    : settlement;
}

export interface ExpectedTerms {
  /** Null when the payer chooses the amount. */
  amountCents: bigint | null;
  dueDate: string | null;
  /** Discount, fine and interest, from `serializeAdjustments`; null when there are none. */
  terms: string | null;
  /** Set where another system declared what it accepts. */
  accepted?: AcceptedAmounts | null;
}

/** Each amount from one to the other settles the payment exactly. */
export interface AcceptedAmounts {
  fromCents: bigint;
  toCents: bigint;
}

/**
 * A bank slip is credited up to this many business days after its payment. Its line does not show
 * the payment day.
 */
const creditDelayDays = 5;

/**
 * The total owed when `paidCents` was credited on `day`. If exactly `paidCents` was owed on `day`
 * or on a possible payment day before it, this is `paidCents`. Otherwise it is the amount owed on
 * `day`. Null when the payer chooses the amount.
 */
export function owedCentsWhenPaid(
  { amountCents, dueDate, terms, accepted = null }: ExpectedTerms,
  paidCents: bigint,
  day: string,
): bigint | null {
  if (accepted !== null) return acceptedCents(accepted, amountCents, paidCents);
  if (amountCents === null || terms === null || dueDate === null) return amountCents;
  const expected = { amountCents, dueDate, terms };
  const isExact = possiblePaymentDays(day).some((each) => owedOn(expected, each) === paidCents);
  return isExact ? paidCents : owedOn(expected, day);
}

/** What is owed where each amount of a range is exact: the nearest of them. */
function acceptedCents(
  { fromCents, toCents }: AcceptedAmounts,
  amountCents: bigint | null,
  paidCents: bigint,
): bigint {
  if (paidCents >= fromCents && paidCents <= toCents) return paidCents;
  return amountCents ?? (paidCents < fromCents ? fromCents : toCents);
}

/** Whether `paidCents`, credited on `day`, may be exactly the amount owed when it was paid. */
export function isExactAmountOwed(
  expected: ExpectedTerms,
  paidCents: bigint,
  day: string,
): boolean {
  return owedCentsWhenPaid(expected, paidCents, day) === paidCents;
}

/**
 * Splits `paidCents` over several expected payments by the amounts owed on the first possible
 * payment day whose total is exactly `paidCents`. Null when there is no such day. An amount that
 * the payer chooses counts as zero.
 */
export function splitExactAmountOwed(
  expected: readonly ExpectedTerms[],
  paidCents: bigint,
  day: string,
): bigint[] | null {
  for (const paymentDay of possiblePaymentDays(day)) {
    const owed = expected.map((payment) => owedOn(payment, paymentDay));
    if (totalCents(owed) === paidCents) return owed;
  }
  return null;
}

/** The days on which a payment credited on `day` may have been made, the latest first. */
function possiblePaymentDays(day: string): string[] {
  const before = Array.from({ length: creditDelayDays }, (_, index) =>
    addBusinessDays(day, -(index + 1)),
  );
  return [day, ...before];
}

function owedOn({ amountCents, dueDate, terms }: ExpectedTerms, day: string): bigint {
  if (amountCents === null) return 0n;
  if (terms === null || dueDate === null) return amountCents;
  return amountOwed({ amountCents, dueDate, ...parseAdjustments(terms) }, day);
}

function totalCents(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, cents) => total + cents, 0n);
}
