// Whether a charge is paid: derived from what was asked and what was matched, and kept nowhere.
import { isPastDue } from './life.js';
import { settlementOfPaid, type ExpectedAmount } from '../expected-payments/settlement.js';

export const settlements = [
  'open',
  'partially_settled',
  'settled',
  'overpaid',
  'expired',
  'cancelled',
] as const;
export type Settlement = (typeof settlements)[number];

export interface SettlementFacts extends ExpectedAmount {
  paidCents: bigint;
  /** yyyy-mm-dd, or null when there is none. */
  dueDate: string | null;
  /** The bank's day. */
  today: string;
  /** The bank said, read by its id, that it was withdrawn, or that its day has passed. */
  isCancelled: boolean;
  isExpired: boolean;
}

export function settlementOf({
  paidCents,
  dueDate,
  today,
  isCancelled,
  isExpired,
  ...expected
}: SettlementFacts): Settlement {
  if (paidCents === 0n) {
    if (isCancelled) return 'cancelled';
    return isExpired || isPastDue(dueDate, today) ? 'expired' : 'open';
  }
  // Money that came after the end is money all the same.
  return settlementOfPaid(expected, paidCents);
}
