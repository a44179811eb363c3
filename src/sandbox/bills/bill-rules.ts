import type { PlainDate } from '../../brazil/calendar.js';
import { ruleBroken } from '../../platform/errors.js';
import type { Bill } from './bill.js';
import { calculateBill } from './bill-calculation.js';

/**
 * Throws `rule_broken` when an account cannot pay a bill, or cannot pay this amount on the day for
 * which the bill is calculated.
 */
export function assertPayable(
  bill: Bill,
  accountId: number,
  requested: { amountCents: bigint; day: PlainDate } | null,
): void {
  if (bill.issuedSlip?.account.id === accountId)
    throw ruleBroken('own_charge', 'An account cannot pay a slip that it issued.');
  if (bill.status !== 'PENDING_PAYMENT')
    throw ruleBroken(
      'bill_not_payable',
      `The bill has status ${bill.status}; it must be PENDING_PAYMENT.`,
    );
  if (!requested) return;
  const { minimumCents, maximumCents } = calculateBill(bill, requested.day);
  if (requested.amountCents >= minimumCents && requested.amountCents <= maximumCents) return;
  throw ruleBroken(
    'amount_out_of_range',
    bill.isAllowPartialPayment
      ? `The amount must be within the bill's minimum and maximum payment amounts.`
      : 'The amount must equal the charged amount of the bill.',
  );
}
