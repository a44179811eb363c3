// Settlement of money that we sent: computed with the totals of its expected payment, and stored
// there.
import type { Settlement } from '../../generated/service/client.js';

const shownByLines = ['settled', 'partially_reversed', 'reversed'] as const;
export const outgoingSettlements = ['open', ...shownByLines, 'withdrawn'] as const;
export type OutgoingSettlement = (typeof outgoingSettlements)[number];

/** Of a payment that lines show: the totals of those matched as it, and as its reversal. */
export function outgoingSettlement({
  paidCents,
  reversedCents,
}: {
  paidCents: bigint;
  reversedCents: bigint;
}): (typeof shownByLines)[number] {
  if (reversedCents === 0n) return 'settled';
  return reversedCents < paidCents ? 'partially_reversed' : 'reversed';
}

/**
 * The stored settlement. Without a line, the operation says whether one is expected: what is stored
 * follows when reconciliation has decided the payment again.
 */
export function shownSettlement(
  stored: Settlement | undefined,
  isWithdrawn: boolean,
): OutgoingSettlement {
  const unpaid = isWithdrawn ? 'withdrawn' : 'open';
  return shownByLines.find((one) => one === stored) ?? unpaid;
}
