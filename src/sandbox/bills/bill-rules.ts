import type { PlainDate } from '../../brazil/calendar.js';
import type { Bill } from './bill.js';
import { calculateBill } from './bill-calculation.js';

export interface BillRefusal {
  public: string;
  reason: 'own_charge' | 'bill_not_payable' | 'bill_already_scheduled' | 'amount_out_of_range';
}

/** Why an account cannot pay that much for a bill on a day, or null when it can. */
export function refusalOf(
  bill: Bill,
  { accountId, amountCents, day }: { accountId: number; amountCents: bigint; day: PlainDate },
): BillRefusal | null {
  if (bill.issued?.account.id === accountId)
    return { public: "The slip is one of the account's own.", reason: 'own_charge' };
  if (bill.status !== 'PENDING_PAYMENT')
    return { public: `The bill is ${bill.status}.`, reason: 'bill_not_payable' };
  const { minimumCents, maximumCents } = calculateBill(bill, day);
  if (amountCents >= minimumCents && amountCents <= maximumCents) return null;
  return {
    public: bill.isAllowPartialPayment
      ? 'The amount is outside the range that the bill allows.'
      : 'The amount is not the charged amount of the bill.',
    reason: 'amount_out_of_range',
  };
}
