// Decides which sent payment a credit reverses, in whole or in part, and never more than was paid.
import type { Candidate, LineFacts, PaidTotals } from './line-outcome.js';
import { distinctPayments, withStrongestReference } from './payments.js';

/**
 * The contract's types of received money. The two legs of a Pix or transfer between our own
 * accounts share one id: a line of these types is the incoming leg, never a reversal.
 */
export const incomingTypes: string[] = ['CREDIT_PIX', 'CREDIT_TRANSFER_INTERNAL'];
/** A refund of our Pix by its receiver: its own id is the refund's, its original id is our Pix. */
const refundOfSentPix = 'CREDIT_PIX_REFUND';

/** The ids that a payment shares with its reversal. A client may reuse the ids that it chooses. */
const referencesSharedWithReversal: readonly string[] = [
  'idempotency_key',
  'movement_id',
  'end_to_end_id',
  'bill_code',
];

export function mayBeReversal({ isCredit, typeName }: LineFacts): boolean {
  return isCredit && !incomingTypes.includes(typeName);
}

/** The payments that the line may reverse, referenced by its own ids or as its original. */
export function reversibleCandidates(
  line: LineFacts,
  candidates: readonly Candidate[],
): Candidate[] {
  if (!mayBeReversal(line)) return [];
  const sent = candidates.filter(({ isCredit }) => !isCredit);
  const byOwnIds = sent.filter(
    ({ isOriginal, referenceKind }) =>
      !isOriginal && referencesSharedWithReversal.includes(referenceKind),
  );
  if (byOwnIds.length > 0 && line.typeName !== refundOfSentPix)
    return distinctPayments(withStrongestReference(byOwnIds));
  return distinctPayments(sent.filter(({ isOriginal }) => isOriginal));
}

export type ReversalChoice =
  | { reverses: 'payment'; candidate: Candidate }
  /** Its payment is not on the statement yet. */
  | { reverses: 'unseen' }
  | { reverses: 'several' }
  | { reverses: 'nothing' };

export function chooseReversed(
  line: LineFacts,
  candidates: readonly Candidate[],
  totals: PaidTotals,
): ReversalChoice {
  const unreversedCents = (each: Candidate) => totals.paidCents(each) - totals.reversedCents(each);
  const able = candidates.filter((each) => unreversedCents(each) >= line.amountCents);
  const [first] = able;
  // When the bank debited a payment twice, a reversal may be of either debit.
  if (able.some((each) => totals.isDebitedAgain(each, line.occurredAt)))
    return { reverses: 'several' };
  if (first)
    return able.length === 1 ? { reverses: 'payment', candidate: first } : { reverses: 'several' };
  const isUnseen = candidates.some((each) => totals.paidCents(each) === 0n);
  return isUnseen && line.isFresh ? { reverses: 'unseen' } : { reverses: 'nothing' };
}
