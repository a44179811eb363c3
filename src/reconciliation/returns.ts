// Which payment of ours a credit brings back: whole or in part, and never more than was paid.
import type { Candidate, LineFacts, PaidTotals } from './line-outcome.js';
import { distinct, surest } from './payments.js';

/**
 * The contract's own types of money that is received. A Pix or transfer to an account of ours has both its legs under
 * one id: these are its incoming leg, and no return.
 */
export const receipts: string[] = ['CREDIT_PIX', 'CREDIT_TRANSFER_INTERNAL'];
/** Names by its own id the refund that somebody else made of our Pix, and by the original what comes back. */
const refundOfOurs = 'CREDIT_PIX_REFUND';

/** The ids that a movement shares with its return; an id that the client chose may be used again. */
const sharedWithReturn: readonly string[] = [
  'idempotency_key',
  'movement_id',
  'end_to_end_id',
  'bill_code',
];

export function mayBeReturn({ isCredit, typeName }: LineFacts): boolean {
  return isCredit && !receipts.includes(typeName);
}

/** The payments that the line may bring back, named by its own ids or as what it gives back. */
export function returnable(line: LineFacts, candidates: readonly Candidate[]): Candidate[] {
  if (!mayBeReturn(line)) return [];
  const sent = candidates.filter(({ isCredit }) => !isCredit);
  const named = sent.filter(
    ({ isOriginal, referenceKind }) => !isOriginal && sharedWithReturn.includes(referenceKind),
  );
  if (named.length > 0 && line.typeName !== refundOfOurs) return distinct(surest(named));
  return distinct(sent.filter(({ isOriginal }) => isOriginal));
}

export type ReturnOf =
  | { of: 'payment'; candidate: Candidate }
  /** Its payment is not on the statement yet. */
  | { of: 'unseen' }
  | { of: 'several' }
  | { of: 'none' };

export function chooseReturned(
  line: LineFacts,
  candidates: readonly Candidate[],
  totals: PaidTotals,
): ReturnOf {
  const left = (each: Candidate) => totals.paidCents(each) - totals.returnedCents(each);
  const able = candidates.filter((each) => left(each) >= line.amountCents);
  const [first] = able;
  // A bank that takes back its second debit has not given the payment back: which of both it is, nobody can tell.
  if (able.some((each) => totals.isDebitedAgain(each, line.occurredAt))) return { of: 'several' };
  if (first) return able.length === 1 ? { of: 'payment', candidate: first } : { of: 'several' };
  const isUnseen = candidates.some((each) => totals.paidCents(each) === 0n);
  return isUnseen && line.isFresh ? { of: 'unseen' } : { of: 'none' };
}
