// Decides which expected payment a line pays. The references on the line decide, the strongest
// first. A debit without a reference can only match a payment whose operation has no response from
// the bank. It must share the original or the counterparty with that payment.
import { saoPauloDay } from '../brazil/statement-day.js';
import { referenceKinds } from '../expected-payments/references.js';
import { isExactAmountOwed, splitExactAmountOwed } from '../expected-payments/settlement.js';
import type {
  Candidate,
  LineFacts,
  LineBreakKind,
  OpenDebit,
  PayingLine,
  PaidTotals,
} from './line-outcome.js';

const rankOf = new Map<string, number>(referenceKinds.map((kind, rank) => [kind, rank]));

/** The candidates of the strongest kind of reference among them. */
export function withStrongestReference<Each extends Candidate>(
  candidates: readonly Each[],
): Each[] {
  const rank = ({ referenceKind }: Each) => rankOf.get(referenceKind) ?? rankOf.size;
  const best = Math.min(...candidates.map(rank));
  return candidates.filter((candidate) => rank(candidate) === best);
}

/** The candidates that the line may pay: referenced by its own ids and still payable. */
export function payableCandidates(line: LineFacts, candidates: readonly Candidate[]): Candidate[] {
  const able = candidates.filter(
    (candidate) =>
      !candidate.isOriginal && candidate.isCredit === line.isCredit && isPayable(candidate),
  );
  // Clients may reuse an id. The line pays the payment that had the id when the line happened,
  // whenever the line is decided.
  const earlier = able.filter(({ isLater }) => !isLater);
  return earlier.length > 0 ? earlier : able;
}

/**
 * A line cannot pay what the bank rejected. It can pay a debit that the bank accepted and later
 * reported as failed: the statement shows that the money left the account.
 */
function isPayable({ isWithdrawn, isCredit, operationState }: Candidate): boolean {
  if (!isWithdrawn) return true;
  return isCredit ? operationState === 'not_executed' : operationState !== 'rejected';
}

export type PaymentChoice =
  | { pays: 'one'; paid: Candidate; displaces: boolean }
  /** All candidates, each with the amount owed. */
  | { pays: 'all'; parts: { paid: Candidate; amountCents: bigint }[] }
  | { pays: 'none'; kind: Exclude<LineBreakKind, 'unexpected'>; candidates: readonly Candidate[] };

/** Decides which of its referenced candidates a line pays. There is at least one candidate. */
export function choosePayment(
  line: LineFacts,
  candidates: readonly Candidate[],
  totals: PaidTotals,
): PaymentChoice {
  if (!line.isCredit)
    return chooseDebited(line, distinctPayments(withStrongestReference(candidates)), totals);
  // A payer chooses the references of a credit: no kind of reference is stronger than another.
  const distinct = distinctPayments(candidates);
  const parts = distinct.length > 1 ? splitOverAll(line, distinct) : null;
  if (parts) return { pays: 'all', parts };
  const choice = onlyOne(distinct);
  if (choice.pays !== 'one') return choice;
  return { ...choice, displaces: hasProvisionalRuleMatch(choice.paid, totals) };
}

/** Whether a credit is matched only by a rule so far: a reference displaces that match, once. */
export function hasProvisionalRuleMatch(candidate: Candidate, totals: PaidTotals): boolean {
  const { isCredit, provisionalRuleCents = 0n, expectedPaymentId } = candidate;
  return isCredit && provisionalRuleCents > 0n && !totals.isDisplaced(expectedPaymentId);
}

/**
 * One credit pays all of several referenced payments if it equals their total owed, and equals the
 * amount owed of none of them. Earlier payments do not count: a second payment is a duplicate, and
 * the order in which the lines are read must not change the result.
 */
function splitOverAll({ amountCents, occurredAt }: LineFacts, candidates: readonly Candidate[]) {
  if (candidates.some(({ isMultiUse, amountCents: owed }) => isMultiUse || owed === null))
    return null;
  const day = saoPauloDay(occurredAt);
  if (candidates.some((each) => isExactAmountOwed(each, amountCents, day))) return null;
  const owed = splitExactAmountOwed(candidates, amountCents, day);
  return owed && candidates.map((paid, index) => ({ paid, amountCents: owed[index] ?? 0n }));
}

/**
 * A debit must have the requested amount and happen once; any other referenced debit is a break.
 */
function chooseDebited(
  line: LineFacts,
  candidates: readonly Candidate[],
  totals: PaidTotals,
): PaymentChoice {
  const exact = candidates.filter(
    ({ amountCents }) => amountCents === null || amountCents === line.amountCents,
  );
  if (exact.length === 0) return { pays: 'none', kind: 'amount_mismatch', candidates };
  const unpaid = exact.filter((each) => each.isMultiUse || totals.paidCents(each) === 0n);
  // A failed payment is sometimes requested again under the same ids.
  const expected = unpaid.filter(({ isWithdrawn }) => !isWithdrawn);
  if (unpaid.length > 0) return onlyOne(expected.length > 0 ? expected : unpaid);
  const [first, ...others] = exact.filter((each) =>
    hasPrecedence(line, totals.payingLineBefore(each)),
  );
  if (first && others.length === 0) return { pays: 'one', paid: first, displaces: true };
  return { pays: 'none', kind: 'duplicate_payment', candidates: exact };
}

function onlyOne(candidates: readonly Candidate[]): PaymentChoice {
  const [first, ...others] = candidates;
  if (first && others.length === 0) return { pays: 'one', paid: first, displaces: false };
  return { pays: 'none', kind: 'ambiguous', candidates };
}

/**
 * Of two debits of one payment the later is the duplicate; a match by reference precedes one by
 * rule.
 */
function hasPrecedence(line: LineFacts, payingLine: PayingLine | null): boolean {
  if (payingLine === null || payingLine.rule === 'manual') return false;
  if (payingLine.rule === 'declared' && payingLine.isClosed) return false;
  return payingLine.rule !== 'reference' || compareByTime(line, payingLine) < 0;
}

type TimedLine = Pick<LineFacts, 'nsu' | 'occurredAt'>;

export function compareByTime(a: TimedLine, b: TimedLine): number {
  return a.occurredAt.getTime() - b.occurredAt.getTime() || (a.nsu < b.nsu ? -1 : 1);
}

/** Each expected payment once, with its first reference. */
export function distinctPayments<Each extends Candidate>(candidates: readonly Each[]): Each[] {
  const first = new Map<string, Each>();
  for (const candidate of candidates)
    if (!first.has(candidate.expectedPaymentId)) first.set(candidate.expectedPaymentId, candidate);
  return [...first.values()];
}

export type DebitExplanation =
  | { by: 'rule'; rule: 'original' | 'counterparty'; paid: OpenDebit }
  /** Several payments fit, and no further response can decide between them. */
  | { by: 'several'; candidates: OpenDebit[] }
  /** An operation in progress may explain the line. */
  | { by: 'pending' }
  | { by: 'nothing' };

/** The bank's response may still contain ids. Those ids then decide. */
const statesBeingSent: readonly (string | null)[] = ['received', 'sending'];

/** What explains a debit without a reference to an expected payment. */
export function explainUnreferencedDebit(
  line: LineFacts,
  debits: readonly OpenDebit[],
  totals: PaidTotals,
): DebitExplanation {
  const open = debits.filter(
    (debit) =>
      debit.amountCents === line.amountCents &&
      totals.paidCents(debit) === 0n &&
      debit.from <= line.occurredAt,
  );
  const isInProgress = open.some((debit) => mayStillExplain(line, debit));
  const fitting = open.filter((debit) => !debit.isKnownToBank && line.occurredAt <= debit.until);
  const byOriginal = fitting
    .filter(({ sharedReference }) => sharedReference === 'original')
    .sort(compareByAge);
  const candidates =
    byOriginal.length > 0
      ? byOriginal
      : fitting.filter(({ sharedReference }) => sharedReference !== null);
  const [oldest] = candidates;
  if (!oldest) return isInProgress ? { by: 'pending' } : { by: 'nothing' };
  if (candidates.some(({ operationState }) => statesBeingSent.includes(operationState)))
    return { by: 'pending' };
  // Refunds of one Pix with one amount are interchangeable; payments to one account are not.
  if (byOriginal.length > 0) return { by: 'rule', rule: 'original', paid: oldest };
  if (candidates.length === 1) return { by: 'rule', rule: 'counterparty', paid: oldest };
  return isInProgress ? { by: 'pending' } : { by: 'several', candidates };
}

/** A payment of unknown outcome cannot explain a line after its last possible effect. */
function mayStillExplain(line: LineFacts, { operationState, until }: OpenDebit): boolean {
  if (statesBeingSent.includes(operationState)) return true;
  return operationState === 'unknown' && line.occurredAt <= until;
}

function compareByAge(a: OpenDebit, b: OpenDebit): number {
  const age = a.createdAt.getTime() - b.createdAt.getTime();
  return age || (a.expectedPaymentId < b.expectedPaymentId ? -1 : 1);
}
