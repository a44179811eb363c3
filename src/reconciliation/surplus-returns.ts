// Which lines give back more than is paid of what they are of. Pure.
import { byTime } from './payments.js';

export interface RefundedCredit {
  expectedPaymentId: string;
  nsu: bigint;
  amountCents: bigint;
  occurredAt: Date;
  isManual: boolean;
  /** What is paid of the expected payment, in all. */
  paidCents: bigint;
  /** Where it names the credit that it gives back: that one pays the same. */
  isOfPaid: boolean;
}

/** What a person linked keeps its place first, and then what happened first, as when all were judged at once. */
export function surplusOf(refundedCredits: readonly RefundedCredit[]): bigint[] {
  const ordered = [...refundedCredits].sort(
    (a, b) => Number(b.isManual) - Number(a.isManual) || byTime(a, b),
  );
  const remainingCents = new Map<string, bigint>();
  const surplus = new Set<bigint>();
  for (const { expectedPaymentId, nsu, amountCents, isManual, isOfPaid, paidCents } of ordered) {
    const kept = (remainingCents.get(expectedPaymentId) ?? 0n) + amountCents;
    if (kept <= paidCents && (isManual || isOfPaid)) remainingCents.set(expectedPaymentId, kept);
    else surplus.add(nsu);
  }
  return [...surplus];
}
