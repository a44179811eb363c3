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

/** Splits the lines of one payment by role, with the total of each. */
export function outgoingTotals<Line extends { role: 'payment' | 'reversal'; amountCents: bigint }>(
  lines: readonly Line[],
) {
  const payments = lines.filter(({ role }) => role === 'payment');
  const reversals = lines.filter(({ role }) => role === 'reversal');
  return { payments, reversals, paidCents: totalOf(payments), reversedCents: totalOf(reversals) };
}

function totalOf(lines: readonly { amountCents: bigint }[]): bigint {
  return lines.reduce((total, { amountCents }) => total + amountCents, 0n);
}
