import { amountParts } from '../../brazil/amount-owed.js';
import type { PlainDate } from '../../brazil/calendar.js';
import type { Bill } from './bill.js';

/** What a bill costs on a day and of what that is made, in cents. */
export interface BillCalculation {
  rebateCents: bigint;
  discountCents: bigint;
  fineCents: bigint;
  interestCents: bigint;
  chargedCents: bigint;
  minimumCents: bigint;
  maximumCents: bigint;
}

type Terms = Pick<
  Bill,
  | 'amountCents'
  | 'rebateCents'
  | 'adjustments'
  | 'dueDate'
  | 'isAllowPartialPayment'
  | 'minimumPaymentCents'
  | 'maximumPaymentCents'
>;

/**
 * Amount − rebate − discount + fine + interest, with a cent left at least. Paid in part, a bill takes its own range,
 * in which all that is owed always lies; else that alone.
 */
export function calculateBill(bill: Terms, day: PlainDate): BillCalculation {
  const { amountCents, rebateCents, dueDate, adjustments } = bill;
  const parts = amountParts({ amountCents, dueDate, ...adjustments }, day);
  const { fineCents, interestCents } = parts;
  const room = amountCents - rebateCents - 1n;
  const discountCents = parts.discountCents < room ? parts.discountCents : room;
  const chargedCents = amountCents - rebateCents - discountCents + fineCents + interestCents;
  const made = { rebateCents, discountCents, fineCents, interestCents, chargedCents };
  if (!bill.isAllowPartialPayment)
    return { ...made, minimumCents: chargedCents, maximumCents: chargedCents };
  const { minimumPaymentCents, maximumPaymentCents } = bill;
  const minimumCents = minimumPaymentCents < chargedCents ? minimumPaymentCents : chargedCents;
  const maximumCents = maximumPaymentCents > chargedCents ? maximumPaymentCents : chargedCents;
  return { ...made, minimumCents, maximumCents };
}
