// Debits that refund a received Pix without a request of ours, as when the bank returns it for
// fraud.
import type {
  LineFacts,
  Matched,
  OriginalCredit,
  OriginalCreditPayment,
  PaidTotals,
  ReferenceEvidence,
} from './line-outcome.js';

export type RefundChoice =
  | {
      refunds: 'payments';
      creditNsu: bigint;
      parts: { paid: OriginalCreditPayment; amountCents: bigint; evidence: ReferenceEvidence }[];
      /** Whether the whole credit is refunded after this line. */
      isFull: boolean;
    }
  /** The credit may still arrive, or it is decided again. */
  | { refunds: 'unseen' }
  /** Several credits or payments fit. */
  | { refunds: 'several'; creditNsu: bigint | null }
  | { refunds: 'nothing'; creditNsu: bigint | null };

/** The credits that a debit references, with the payments that credits of the same batch make. */
export function withBatchPayments(
  credits: readonly OriginalCredit[],
  paymentsByCredit: ReadonlyMap<bigint, readonly Matched[]>,
): OriginalCredit[] {
  return credits.flatMap((credit) => {
    const matched = paymentsByCredit.get(credit.creditNsu);
    if (!matched) return [credit];
    return matched.map(({ operation, expectedPaymentId, amountCents, rule }) => ({
      ...credit,
      paid: { ...operation, expectedPaymentId, amountCents, rule },
    }));
  });
}

/** The payments that a debit refunds, up to the unrefunded part of the credit. */
export function chooseRefund(
  line: LineFacts,
  credits: readonly OriginalCredit[],
  totals: PaidTotals,
): RefundChoice {
  const [first] = credits;
  const hasOriginal = line.originalEndToEndId !== null;
  if (!first)
    return hasOriginal && line.isFresh
      ? { refunds: 'unseen' }
      : { refunds: 'nothing', creditNsu: null };
  const { creditNsu, creditCents, endToEndId } = first;
  if (credits.some((each) => each.creditNsu !== creditNsu))
    return { refunds: 'several', creditNsu: null };
  const paid = credits.flatMap((each) => each.paid ?? []);
  // Another line displaced this match of the credit. The credit is decided again, and its refund
  // after it.
  if (paid.some((each) => each.rule === 'declared' && totals.isDisplaced(each.expectedPaymentId)))
    return { refunds: 'unseen' };
  const unrefundedCents = creditCents - first.refundedCents - totals.refundedCents(creditNsu);
  if (paid.length === 0 || line.amountCents > unrefundedCents)
    return { refunds: 'nothing', creditNsu };
  const isWholeCredit = line.amountCents === creditCents;
  if (paid.length > 1 && !isWholeCredit) return { refunds: 'several', creditNsu };
  const parts = paid.map((each) => ({
    paid: each,
    amountCents: paid.length > 1 ? each.amountCents : line.amountCents,
  }));
  // A person may have matched the refund to another line.
  if (parts.some((part) => isMoreThanPaid(part, totals))) return { refunds: 'nothing', creditNsu };
  const evidence = { referenceKind: 'original_end_to_end_id', referenceValue: endToEndId };
  return {
    refunds: 'payments',
    creditNsu,
    parts: parts.map((part) => ({ ...part, evidence })),
    isFull: line.amountCents === unrefundedCents,
  };
}

function isMoreThanPaid(
  { paid, amountCents }: { paid: OriginalCreditPayment; amountCents: bigint },
  totals: PaidTotals,
): boolean {
  const { leftCents, expectedPaymentId } = paid;
  if (leftCents === undefined) return false;
  return amountCents > leftCents + totals.netCentsInBatch(expectedPaymentId);
}
