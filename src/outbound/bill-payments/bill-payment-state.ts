// The states of a bill payment. A known state is never replaced by an earlier state, and only
// evidence makes a payment fail.
import type { BillPaymentResponse } from '../../bank-contract/bill-payments.js';
import type { BillPaymentState } from '../../generated/service/client.js';

/**
 * Reads an unknown status as scheduled, not as paid: the payment is then checked until its debit
 * shows.
 */
export function stateOfBillPaymentResponse(
  response: Pick<BillPaymentResponse, 'status' | 'transactionNsu'>,
): 'scheduled' | 'paid' {
  return response.status === 'PAID' || response.transactionNsu != null ? 'paid' : 'scheduled';
}

/**
 * The state after an acceptance, which may be a repeated acceptance. A payment that was proven not
 * executed, or failed, is revived by later proof: a response to a request, or the debit on the
 * statement.
 */
export function nextBillPaymentState(
  current: BillPaymentState,
  reported: 'scheduled' | 'paid',
): BillPaymentState {
  switch (current) {
    case 'requested':
    case 'rejected':
      return reported;
    case 'scheduled':
    case 'failed':
      return reported === 'paid' ? 'paid' : current;
    case 'paid':
      return 'paid';
  }
}

const firstPauseMs = 5_000;
const longestPauseMs = 3_600_000;
const hourlyChecks = 40;
const dailyPauseMs = 86_400_000;

/**
 * The bank is asked this often about an overdue payment: for a day, then once a day for a month.
 * After that, the payment waits for a line of the statement alone.
 */
export const maxStatusChecks = hourlyChecks + 30;

/** The pause after the nth status check of an overdue payment. */
export function statusCheckPauseMs(checks: number, canBeProven: boolean): number {
  if (checks >= hourlyChecks) return dailyPauseMs;
  if (!canBeProven) return longestPauseMs;
  return Math.min(firstPauseMs * 2 ** Math.min(checks - 1, 20), longestPauseMs);
}
