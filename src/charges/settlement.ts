// Whether a charge is paid: derived from what was asked and what was matched, and kept nowhere.
import { isPastDue } from './life.js';
import {
  settlementOfPayments,
  type ExpectedAmount,
  type NetPayment,
} from '../expected-payments/settlement.js';

export const settlements = [
  'open',
  'partially_settled',
  'settled',
  'overpaid',
  'refunded',
  'expired',
  'cancelled',
] as const;
export type Settlement = (typeof settlements)[number];

export interface SettlementFacts extends ExpectedAmount {
  payments: readonly NetPayment[];
  /** yyyy-mm-dd, or null when there is none. */
  dueDate: string | null;
  /** The bank's day. */
  today: string;
  /** The bank said, read by its id, that it was withdrawn, or that its day has passed. */
  isCancelled: boolean;
  isExpired: boolean;
}

export function settlementOf({
  payments,
  dueDate,
  today,
  isCancelled,
  isExpired,
  ...expected
}: SettlementFacts): Settlement {
  if (payments.length === 0) {
    if (isCancelled) return 'cancelled';
    return isExpired || isPastDue(dueDate, today) ? 'expired' : 'open';
  }
  // Money that came after the end is money all the same.
  return settlementOfPayments(expected, payments);
}
