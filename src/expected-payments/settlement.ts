// What the money that came makes of what was expected: the one rule, for charges, matching and events.
export type PaidSettlement = 'partially_settled' | 'settled' | 'overpaid';

export interface ExpectedAmount {
  /** Null when the payer chooses. */
  amountCents: bigint | null;
  /** A static QR code may be paid many times: no payment of it is one too many. */
  isMultiUse: boolean;
}

/** `paidCents` is all that was matched, at least one payment. */
export function settlementOfPaid(
  { amountCents, isMultiUse }: ExpectedAmount,
  paidCents: bigint,
): PaidSettlement {
  if (amountCents === null || paidCents === amountCents) return 'settled';
  if (paidCents < amountCents) return 'partially_settled';
  return isMultiUse ? 'settled' : 'overpaid';
}
