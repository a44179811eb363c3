// How a bill payment goes on: never back from what was known, and to a failure by evidence alone.
import type { BillPaymentAnswer } from '../contract/bill-payments.js';

export const paymentStates = ['requested', 'scheduled', 'paid', 'failed', 'rejected'] as const;
export type PaymentState = (typeof paymentStates)[number];

/** What an answer says of a payment. A word that is not known is not taken for a payment made: it is followed. */
export function stateReportedBy(
  answer: Pick<BillPaymentAnswer, 'status' | 'transactionNsu'>,
): 'scheduled' | 'paid' {
  return answer.status === 'PAID' || answer.transactionNsu != null ? 'paid' : 'scheduled';
}

/**
 * The state after the bank's acceptance was told, perhaps again. What was proven not to have been executed, or to
 * have failed, is revived by a later proof: an answer to a request, or the money on the statement.
 */
export function stateAfter(current: PaymentState, told: 'scheduled' | 'paid'): PaymentState {
  switch (current) {
    case 'requested':
    case 'rejected':
      return told;
    case 'scheduled':
    case 'failed':
      return told === 'paid' ? 'paid' : current;
    case 'paid':
      return 'paid';
  }
}

const firstPauseMs = 5_000;
const longestPauseMs = 3_600_000;

/** How long to wait after the nth look at a payment that is overdue. */
export function pauseAfterMs(checks: number, canBeProven: boolean): number {
  if (!canBeProven) return longestPauseMs;
  return Math.min(firstPauseMs * 2 ** Math.min(checks - 1, 20), longestPauseMs);
}
