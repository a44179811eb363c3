import type { PlainDate } from '../../brazil/calendar.js';
import type { Bill } from './bill.js';
import { calculateBill } from './bill-calculation.js';

export interface BillRefusal {
  public: string;
  reason: 'own_charge' | 'bill_not_payable' | 'bill_already_scheduled' | 'amount_out_of_range';
}

export interface SandboxBillPaymentRequest {
  amountCents: bigint;
  /** The day for which the bill is calculated. */
  day: PlainDate;
}

/** Why an account cannot pay a bill, or cannot pay this amount. Null when it can. */
export function refusalOfBillPayment(
  bill: Bill,
  accountId: number,
  requested: SandboxBillPaymentRequest | null,
): BillRefusal | null {
  if (bill.issuedSlip?.account.id === accountId)
    return { public: 'An account cannot pay a slip that it issued.', reason: 'own_charge' };
  if (bill.status !== 'PENDING_PAYMENT')
    return {
      public: `The bill has status ${bill.status}; it must be PENDING_PAYMENT.`,
      reason: 'bill_not_payable',
    };
  if (!requested) return null;
  const { minimumCents, maximumCents } = calculateBill(bill, requested.day);
  if (requested.amountCents >= minimumCents && requested.amountCents <= maximumCents) return null;
  return {
    public: bill.isAllowPartialPayment
      ? `The amount must be within the bill's minimum and maximum payment amounts.`
      : 'The amount must equal the charged amount of the bill.',
    reason: 'amount_out_of_range',
  };
}
