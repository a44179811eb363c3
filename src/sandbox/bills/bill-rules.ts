import type { PlainDate } from '../../brazil/calendar.js';
import type { Bill } from './bill.js';
import { calculateBill } from './bill-calculation.js';

export interface BillRefusal {
  public: string;
  reason: 'own_charge' | 'bill_not_payable' | 'bill_already_scheduled' | 'amount_out_of_range';
}

export interface AskedPayment {
  amountCents: bigint;
  /** For which the bill is reckoned. */
  day: PlainDate;
}

/** Why an account cannot pay a bill, or not that much, or null when it can. */
export function refusalOf(
  bill: Bill,
  accountId: number,
  asked: AskedPayment | null,
): BillRefusal | null {
  if (bill.issued?.account.id === accountId)
    return { public: "The slip is one of the account's own.", reason: 'own_charge' };
  if (bill.status !== 'PENDING_PAYMENT')
    return { public: `The bill is ${bill.status}.`, reason: 'bill_not_payable' };
  if (!asked) return null;
  const { minimumCents, maximumCents } = calculateBill(bill, asked.day);
  if (asked.amountCents >= minimumCents && asked.amountCents <= maximumCents) return null;
  return {
    public: bill.isAllowPartialPayment
      ? 'The amount is outside the range that the bill allows.'
      : 'The amount is not the charged amount of the bill.',
    reason: 'amount_out_of_range',
  };
}
