// Finds the reversals that exceed the paid amount of their expected payment. Pure.
import { compareByTime } from './payments.js';

export interface ReversalMatch {
  expectedPaymentId: string;
  nsu: bigint;
  amountCents: bigint;
  occurredAt: Date;
  isManual: boolean;
  /** The total paid of the expected payment. */
  paidCents: bigint;
  /** Whether the line references a credit as its original that still pays the expected payment. */
  isOfPaidCredit: boolean;
}

/**
 * The nsus of the surplus reversals. Manual matches come first, then the order of time, as in one
 * batch.
 */
export function findSurplusReversals(reversals: readonly ReversalMatch[]): bigint[] {
  const ordered = [...reversals].sort(
    (a, b) => Number(b.isManual) - Number(a.isManual) || compareByTime(a, b),
  );
  const reversedCents = new Map<string, bigint>();
  const surplus = new Set<bigint>();
  for (const {
    expectedPaymentId,
    nsu,
    amountCents,
    isManual,
    isOfPaidCredit,
    paidCents,
  } of ordered) {
    const total = (reversedCents.get(expectedPaymentId) ?? 0n) + amountCents;
    if (total <= paidCents && (isManual || isOfPaidCredit))
      reversedCents.set(expectedPaymentId, total);
    else surplus.add(nsu);
  }
  return [...surplus];
}
