// What a debit gives back that nobody here has asked for: a received Pix, as when the bank returns it for fraud.
import type { Evidence, LineFacts, Matched, Received, ReceivedPayment, PaidTotals } from './line-outcome.js';

export type PaidBack =
  | {
      of: 'payments';
      creditNsu: bigint;
      parts: { paid: ReceivedPayment; amountCents: bigint; evidence: Evidence }[];
      /** Nothing of the credit is left. */
      isWhole: boolean;
    }
  /** The credit may still be on its way. */
  | { of: 'unseen' }
  /** Which of several it gives back, nobody can tell. */
  | { of: 'several'; creditNsu: bigint | null }
  | { of: 'nothing'; creditNsu: bigint | null };

/** The credits that a debit names, with what those of the same batch pay. */
export function receivedAs(
  known: readonly Received[],
  inBatch: ReadonlyMap<bigint, readonly Matched[]>,
): Received[] {
  return known.flatMap((received) => {
    const matched = inBatch.get(received.creditNsu);
    if (!matched) return [received];
    return matched.map(({ operation, expectedPaymentId, amountCents, rule }) => ({
      ...received,
      paid: { ...operation, expectedPaymentId, amountCents, rule },
    }));
  });
}

/** Which payments a debit gives back, and never more than is left of the credit. */
export function choosePaidBack(
  line: LineFacts,
  received: readonly Received[],
  totals: PaidTotals,
): PaidBack {
  const [first] = received;
  const isFromOriginal = line.originalEndToEndId !== null;
  if (!first)
    return isFromOriginal && line.isFresh ? { of: 'unseen' } : { of: 'nothing', creditNsu: null };
  const { creditNsu, creditCents, endToEndId } = first;
  if (received.some((each) => each.creditNsu !== creditNsu))
    return { of: 'several', creditNsu: null };
  const paid = received.flatMap((each) => each.paid ?? []);
  // Another line has taken the place of the credit, which is judged anew: what gives it back is judged after it.
  if (paid.some((each) => each.rule === 'declared' && totals.isDisplaced(each.expectedPaymentId)))
    return { of: 'unseen' };
  const left = creditCents - first.refundedCents - totals.refundedCents(creditNsu);
  if (paid.length === 0 || line.amountCents > left) return { of: 'nothing', creditNsu };
  const isAll = line.amountCents === creditCents;
  if (paid.length > 1 && !isAll) return { of: 'several', creditNsu };
  const parts = paid.map((each) => ({
    paid: each,
    amountCents: paid.length > 1 ? each.amountCents : line.amountCents,
  }));
  // A person may have said that another line gave it back.
  if (parts.some((part) => isMoreThanPaid(part, totals))) return { of: 'nothing', creditNsu };
  const evidence = { referenceKind: 'original_end_to_end_id', referenceValue: endToEndId };
  return {
    of: 'payments',
    creditNsu,
    parts: parts.map((part) => ({ ...part, evidence })),
    isWhole: line.amountCents === left,
  };
}

function isMoreThanPaid(
  { paid, amountCents }: { paid: ReceivedPayment; amountCents: bigint },
  totals: PaidTotals,
): boolean {
  const { leftCents, expectedPaymentId } = paid;
  return leftCents !== undefined && amountCents > leftCents + totals.remainingCents(expectedPaymentId);
}
