// What the statement makes of money that was sent: derived from its matches when it is read, and kept nowhere.
export const sentSettlements = [
  'open',
  'settled',
  'partially_reversed',
  'reversed',
  'withdrawn',
] as const;
export type SentSettlement = (typeof sentSettlements)[number];

export interface SentFacts {
  /** All that was matched as the payment itself. */
  paidCents: bigint;
  /** All that was matched as its money coming back. */
  returnedCents: bigint;
  /** Nothing is expected any more: it was rejected, or failed. */
  isWithdrawn: boolean;
}

export function settlementOfSent({
  paidCents,
  returnedCents,
  isWithdrawn,
}: SentFacts): SentSettlement {
  if (paidCents === 0n) return isWithdrawn ? 'withdrawn' : 'open';
  if (returnedCents === 0n) return 'settled';
  return returnedCents < paidCents ? 'partially_reversed' : 'reversed';
}

/** The lines of one payment by what they are, and what they come to. */
export function totalsOfSent<Line extends { role: 'payment' | 'reversal'; amountCents: bigint }>(
  lines: readonly Line[],
) {
  const payments = lines.filter(({ role }) => role === 'payment');
  const returns = lines.filter(({ role }) => role === 'reversal');
  return { payments, returns, paidCents: sumOf(payments), returnedCents: sumOf(returns) };
}

function sumOf(lines: readonly { amountCents: bigint }[]): bigint {
  return lines.reduce((sum, { amountCents }) => sum + amountCents, 0n);
}
