// Which lines give back more than is paid of what they are of. Pure.
import { byTime } from './payments.js';

export interface GivenBack {
  expectedPaymentId: string;
  nsu: bigint;
  amountCents: bigint;
  occurredAt: Date;
  isByHand: boolean;
  /** What is paid of the expected payment, in all. */
  paidCents: bigint;
  /** Where it names the credit that it gives back: that one pays the same. */
  isOfPaid: boolean;
}

/** What a person linked keeps its place first, and then what happened first, as when all were judged at once. */
export function surplusOf(givenBack: readonly GivenBack[]): bigint[] {
  const ordered = [...givenBack].sort(
    (a, b) => Number(b.isByHand) - Number(a.isByHand) || byTime(a, b),
  );
  const keptCents = new Map<string, bigint>();
  const surplus = new Set<bigint>();
  for (const { expectedPaymentId, nsu, amountCents, isByHand, isOfPaid, paidCents } of ordered) {
    const kept = (keptCents.get(expectedPaymentId) ?? 0n) + amountCents;
    if (kept <= paidCents && (isByHand || isOfPaid)) keptCents.set(expectedPaymentId, kept);
    else surplus.add(nsu);
  }
  return [...surplus];
}
