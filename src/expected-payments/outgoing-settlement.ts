// Settlement of money that we sent: derived from its matches when it is read, never stored.
export const outgoingSettlements = [
  'open',
  'settled',
  'partially_reversed',
  'reversed',
  'withdrawn',
] as const;
export type OutgoingSettlement = (typeof outgoingSettlements)[number];

export interface OutgoingTotals {
  /** Total of the lines matched as the payment. */
  paidCents: bigint;
  /** Total of the lines matched as reversals of the payment. */
  reversedCents: bigint;
  /** The operation was rejected or failed: no payment is expected any more. */
  isWithdrawn: boolean;
}

export function outgoingSettlement({
  paidCents,
  reversedCents,
  isWithdrawn,
}: OutgoingTotals): OutgoingSettlement {
  if (paidCents === 0n) return isWithdrawn ? 'withdrawn' : 'open';
  if (reversedCents === 0n) return 'settled';
  return reversedCents < paidCents ? 'partially_reversed' : 'reversed';
}
