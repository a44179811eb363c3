// Whether a charge is paid: derived from what was asked and what was matched, and kept nowhere.
export const settlements = [
  'open',
  'partially_settled',
  'settled',
  'overpaid',
  'expired',
  'cancelled',
] as const;
export type Settlement = (typeof settlements)[number];

export interface SettlementFacts {
  /** Null when the payer chooses. */
  amountCents: bigint | null;
  paidCents: bigint;
  /** A static QR code may be paid many times: no payment of it is one too many. */
  isMultiUse: boolean;
  /** yyyy-mm-dd, or null when there is none. */
  dueDate: string | null;
  /** The bank's day. */
  today: string;
}

export function settlementOf({
  amountCents,
  paidCents,
  isMultiUse,
  dueDate,
  today,
}: SettlementFacts): Settlement {
  if (paidCents === 0n) return dueDate !== null && dueDate < today ? 'expired' : 'open';
  if (amountCents === null || paidCents === amountCents) return 'settled';
  if (paidCents < amountCents) return 'partially_settled';
  return isMultiUse ? 'settled' : 'overpaid';
}
