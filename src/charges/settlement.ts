// Whether a charge is paid: derived from what was asked and what was matched, and kept nowhere.
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
}

export function settlementOf({
  paidCents,
  dueDate,
  today,
  ...expected
}: SettlementFacts): Settlement {
  if (paidCents === 0n) return dueDate !== null && dueDate < today ? 'expired' : 'open';
  return settlementOfPaid(expected, paidCents);
}
