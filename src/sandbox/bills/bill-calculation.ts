import { amountParts } from '../../brazil/amount-owed.js';
import type { PlainDate } from '../../brazil/calendar.js';
import type { Bill } from './bill.js';

type Terms = Pick<
  Bill,
  | ('amountCents' | 'rebateCents' | 'adjustments' | 'dueDate')
  | ('isAllowPartialPayment' | 'minimumPaymentCents' | 'maximumPaymentCents')
>;

/**
 * The charged amount of a bill on a day, and its parts, in cents.
 *
 * Charges amount − rebate − discount + fine + interest, at least one cent. A bill that allows
 * partial payment accepts its own range, widened to include the charged amount. Any other bill
 * accepts exactly the charged amount.
 */
export function calculateBill(bill: Terms, day: PlainDate) {
  const { amountCents, rebateCents, dueDate, adjustments } = bill;
  const parts = amountParts({ amountCents, dueDate, ...adjustments }, day);
  const { fineCents, interestCents } = parts;
  const maxDiscountCents = amountCents - rebateCents - 1n;
  const discountCents =
    parts.discountCents < maxDiscountCents ? parts.discountCents : maxDiscountCents;
  const chargedCents = amountCents - rebateCents - discountCents + fineCents + interestCents;
  const common = { rebateCents, discountCents, fineCents, interestCents, chargedCents };
  if (!bill.isAllowPartialPayment)
    return { ...common, minimumCents: chargedCents, maximumCents: chargedCents };
  const { minimumPaymentCents, maximumPaymentCents } = bill;
  const minimumCents = minimumPaymentCents < chargedCents ? minimumPaymentCents : chargedCents;
  const maximumCents = maximumPaymentCents > chargedCents ? maximumPaymentCents : chargedCents;
  return { ...common, minimumCents, maximumCents };
}
