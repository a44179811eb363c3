// The one definition of settlement of a payment that we expect to receive. Charges, matching and
// events all use it.
import { amountOwed } from '../../brazil/amount-owed.js';
import { rollToBusinessDay, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { parseAdjustments } from '../../bank-contract/charge-terms.js';
import { dueDateAt, dueDatesDuring, type DueDates } from './due-dates.js';
import type { CreditedLine } from './credit-days.js';
import { possiblePaymentDays } from './payment-days.js';

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

export interface ExpectedTerms extends DueDates {
  /** Null when the payer chooses the amount. */
  amountCents: bigint | null;
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
 * The total owed when `paidCents` was credited by the line. If exactly `paidCents` was owed on a
 * day on which it may have been paid, this is `paidCents`. Otherwise it is the amount owed on the
 * day of the line. Null when the payer chooses the amount.
 */
export function owedCentsWhenPaid(
  expected: ExpectedTerms,
  paidCents: bigint,
  line: CreditedLine,
): bigint | null {
  const { amountCents, dueDate, terms, accepted = null } = expected;
  if (accepted !== null) return acceptedCents(accepted, amountCents, paidCents);
  if (amountCents === null || terms === null || dueDate === null) return amountCents;
  const owedOn = amountsOwedOf(expected);
  const isExact = possiblePaymentDays(line).some((possible) =>
    dueDatesDuring(expected, possible).some((due) => owedOn(possible.day, due) === paidCents),
  );
  if (isExact) return paidCents;
  return owedOn(saoPauloDay(line.occurredAt), dueDateAt(expected, line.occurredAt));
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

/** Whether `paidCents`, credited by the line, may be exactly the amount owed when it was paid. */
export function isExactAmountOwed(
  expected: ExpectedTerms,
  paidCents: bigint,
  line: CreditedLine,
): boolean {
  return owedCentsWhenPaid(expected, paidCents, line) === paidCents;
}

/** Whether the line may have been paid by the due date that was in force then. */
export function mayBePaidInTime(expected: DueDates, line: CreditedLine): boolean {
  return possiblePaymentDays(line).some((possible) =>
    dueDatesDuring(expected, possible).some(
      (due) => due !== null && possible.day <= rollToBusinessDay(due),
    ),
  );
}

/**
 * Splits `paidCents` over several expected payments by the amounts owed on the first possible
 * payment day whose total is exactly `paidCents`. Null when there is no such day. An amount that
 * the payer chooses counts as zero.
 */
export function splitExactAmountOwed(
  expected: readonly ExpectedTerms[],
  paidCents: bigint,
  line: CreditedLine,
): bigint[] | null {
  for (const possible of possiblePaymentDays(line))
    // Of due dates that changed that day, those after all changes, or those before all of them.
    for (const at of [0, -1]) {
      const owed = expected.map((payment) =>
        amountsOwedOf(payment)(possible.day, dueDatesDuring(payment, possible).at(at) ?? null),
      );
      if (totalCents(owed) === paidCents) return owed;
    }
  return null;
}

/** What is owed on a day by a due date, in cents. */
function amountsOwedOf({ amountCents, terms }: ExpectedTerms) {
  if (amountCents === null) return () => 0n;
  if (terms === null) return () => amountCents;
  const adjustments = parseAdjustments(terms);
  return (day: PlainDate, dueDate: PlainDate | null): bigint =>
    dueDate === null ? amountCents : amountOwed({ amountCents, dueDate, ...adjustments }, day);
}

function totalCents(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, cents) => total + cents, 0n);
}
