// Settlement of a charge: as it is stored with the totals of its payments. Without a payment, it
// follows from the charge.
import type { Settlement } from '../../generated/service/client.js';
import { isPastDue } from './charge-status.js';

const paidSettlements = ['partially_settled', 'settled', 'overpaid', 'refunded'] as const;
export const chargeSettlements = ['open', ...paidSettlements, 'expired', 'cancelled'] as const;
export type ChargeSettlement = (typeof chargeSettlements)[number];

export interface UnpaidCharge {
  /** yyyy-mm-dd, or null when there is none. */
  dueDate: string | null;
  /** Today's date in bank time. */
  today: string;
  /** The bank's record, read by id, shows the charge as cancelled. */
  isCancelled: boolean;
  /** A status check found the charge expired. */
  isExpired: boolean;
}

/** A payment received after the charge ended still counts. */
export function chargeSettlement(
  stored: Settlement | undefined,
  { dueDate, today, isCancelled, isExpired }: UnpaidCharge,
): ChargeSettlement {
  const paid = paidSettlements.find((one) => one === stored);
  if (paid !== undefined) return paid;
  if (isCancelled) return 'cancelled';
  return isExpired || isPastDue(dueDate, today) ? 'expired' : 'open';
}
