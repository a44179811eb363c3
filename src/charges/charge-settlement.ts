// Settlement of a charge: derived from its expected amount and its matches when it is read, never
// stored.
import { isPastDue } from './charge-status.js';
import {
  settlementOfPayments,
  type ExpectedAmount,
  type PaymentWithRefunds,
} from '../expected-payments/settlement.js';

export const chargeSettlements = [
  'open',
  'partially_settled',
  'settled',
  'overpaid',
  'refunded',
  'expired',
  'cancelled',
] as const;
export type ChargeSettlement = (typeof chargeSettlements)[number];

export interface ChargeSettlementFacts extends ExpectedAmount {
  payments: readonly PaymentWithRefunds[];
  /** yyyy-mm-dd, or null when there is none. */
  dueDate: string | null;
  /** Today's date in bank time. */
  today: string;
  /** The bank's record, read by id, shows the charge as cancelled. */
  isCancelled: boolean;
  /** A status check found the charge expired. */
  isExpired: boolean;
}

export function chargeSettlement({
  payments,
  dueDate,
  today,
  isCancelled,
  isExpired,
  ...expected
}: ChargeSettlementFacts): ChargeSettlement {
  if (payments.length === 0) {
    if (isCancelled) return 'cancelled';
    return isExpired || isPastDue(dueDate, today) ? 'expired' : 'open';
  }
  // A payment received after the charge ended still counts.
  return settlementOfPayments(expected, payments);
}
