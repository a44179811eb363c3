// Which expected payment a line pays. The ids that it carries decide, the surest first; a debit that carries none of
// ours is told by what it shares with a payment whose answer never came.
import { saoPauloDay } from '../brazil/statement-day.js';
import { referenceKinds } from '../expected-payments/references.js';
import { owedByOne, owedTogether } from '../expected-payments/settlement.js';
import type { Candidate, LineFacts, LineBreakKind, OpenDebit, PaidBy, PaidTotals } from './line-outcome.js';

const rankOf = new Map<string, number>(referenceKinds.map((kind, rank) => [kind, rank]));

/** The candidates that the surest of their references name. */
export function surest<Named extends Candidate>(candidates: readonly Named[]): Named[] {
  const rank = ({ referenceKind }: Named) => rankOf.get(referenceKind) ?? rankOf.size;
  const best = Math.min(...candidates.map(rank));
  return candidates.filter((candidate) => rank(candidate) === best);
}

/** The expected payments that the line's own references name, where they may be what it pays. */
export function payable(line: LineFacts, candidates: readonly Candidate[]): Candidate[] {
  const able = candidates.filter(
    (candidate) =>
      !candidate.isOriginal && candidate.isCredit === line.isCredit && !isOut(candidate),
  );
  // An id that a client uses again names what it named when the line came about, whenever the line is judged.
  const known = able.filter(({ isLater }) => !isLater);
  return known.length > 0 ? known : able;
}

/**
 * What the bank rejected is not what a line shows. A debit that it accepted, and was said to have failed, may be: the
 * money is gone, whatever was said.
 */
function isOut({ isWithdrawn, isCredit, operationState }: Candidate): boolean {
  if (!isWithdrawn) return false;
  return isCredit ? operationState !== 'not_executed' : operationState === 'rejected';
}

export type Paying =
  | { of: 'one'; paid: Candidate; displaces: boolean }
  /** All of them, each with what is owed of it. */
  | { of: 'all'; parts: { paid: Candidate; amountCents: bigint }[] }
  | { of: 'none'; kind: Exclude<LineBreakKind, 'unexpected'>; named: readonly Candidate[] };

/** What a line pays of those that its references name, at least one. */
export function choosePaid(
  line: LineFacts,
  candidates: readonly Candidate[],
  totals: PaidTotals,
): Paying {
  if (!line.isCredit) return chooseDebited(line, distinct(surest(candidates)), totals);
  // Who pays us chooses what he names: where that names two records of ours, none of its ids is surer.
  const named = distinct(candidates);
  const parts = named.length > 1 ? partsOf(line, named) : null;
  if (parts) return { of: 'all', parts };
  const paying = oneOf(named);
  return paying.of === 'one' ? { ...paying, displaces: isHeldByRule(paying.paid, totals) } : paying;
}

/** Whether what only a rule has said to be paid is now named: the rule's match gives way, once. */
export function isHeldByRule(candidate: Candidate, totals: PaidTotals): boolean {
  const { isCredit, heldByRuleCents = 0n, expectedPaymentId } = candidate;
  return isCredit && heldByRuleCents > 0n && !totals.isDisplaced(expectedPaymentId);
}

/**
 * What one credit pays of several payments that it names: all of them, where just that is owed in all, and none of them
 * alone comes to it. What was paid of them before does not count: whoever pays one twice has paid it twice, and which of
 * both lines was read first changes nothing.
 */
function partsOf({ amountCents, occurredAt }: LineFacts, named: readonly Candidate[]) {
  if (named.some(({ isMultiUse, amountCents: owed }) => isMultiUse || owed === null)) return null;
  const day = saoPauloDay(occurredAt);
  if (named.some((each) => owedByOne(each, amountCents, day))) return null;
  const owed = owedTogether(named, amountCents, day);
  return owed && named.map((paid, index) => ({ paid, amountCents: owed[index] ?? 0n }));
}

/** We say what is debited, and how often: all else is a disagreement, however surely the line names a payment. */
function chooseDebited(line: LineFacts, named: readonly Candidate[], totals: PaidTotals): Paying {
  const exact = named.filter(
    ({ amountCents }) => amountCents === null || amountCents === line.amountCents,
  );
  if (exact.length === 0) return { of: 'none', kind: 'amount_mismatch', named };
  const unpaid = exact.filter((each) => each.isMultiUse || totals.paidCents(each) === 0n);
  // What failed is asked for again, sometimes under the same ids.
  const awaited = unpaid.filter(({ isWithdrawn }) => !isWithdrawn);
  if (unpaid.length > 0) return oneOf(awaited.length > 0 ? awaited : unpaid);
  const [first, ...others] = exact.filter((each) => comesFirst(line, totals.paidBefore(each)));
  if (first && others.length === 0) return { of: 'one', paid: first, displaces: true };
  return { of: 'none', kind: 'duplicate_payment', named: exact };
}

function oneOf(could: readonly Candidate[]): Paying {
  const [first, ...others] = could;
  if (first && others.length === 0) return { of: 'one', paid: first, displaces: false };
  return { of: 'none', kind: 'ambiguous', named: could };
}

/** Of two debits of one payment the later is one too many, whichever was read first; what ids say is before a rule. */
function comesFirst(line: LineFacts, paidBy: PaidBy | null): boolean {
  if (paidBy === null || paidBy.rule === 'manual') return false;
  if (paidBy.rule === 'declared' && paidBy.isClosed) return false;
  return paidBy.rule !== 'reference' || byTime(line, paidBy) < 0;
}

type Happened = Pick<LineFacts, 'nsu' | 'occurredAt'>;

export function byTime(a: Happened, b: Happened): number {
  return a.occurredAt.getTime() - b.occurredAt.getTime() || (a.nsu < b.nsu ? -1 : 1);
}

/** Each expected payment once, by the first reference that names it. */
export function distinct<Named extends Candidate>(candidates: readonly Named[]): Named[] {
  const first = new Map<string, Named>();
  for (const candidate of candidates)
    if (!first.has(candidate.expectedPaymentId)) first.set(candidate.expectedPaymentId, candidate);
  return [...first.values()];
}

export type Explanation =
  | { by: 'rule'; rule: 'original' | 'counterparty'; paid: OpenDebit }
  /** Several could be it, and none of them can become surer. */
  | { by: 'several'; could: OpenDebit[] }
  /** What is under way could be it. */
  | { by: 'waiting' }
  | { by: 'nothing' };

/** The bank may yet answer with ids, and then the line is told by those. */
const statesBeingSent: readonly (string | null)[] = ['received', 'sending'];

/** What explains a debit that names nothing of ours. */
export function explainUnnamed(
  line: LineFacts,
  debits: readonly OpenDebit[],
  totals: PaidTotals,
): Explanation {
  const open = debits.filter(
    (debit) =>
      debit.amountCents === line.amountCents &&
      totals.paidCents(debit) === 0n &&
      debit.from <= line.occurredAt,
  );
  const isUnderWay = open.some((debit) => mayStillBe(line, debit));
  const tied = open.filter((debit) => !debit.isKnownToBank && line.occurredAt <= debit.until);
  const byOriginal = tied.filter(({ tie }) => tie === 'original').sort(byAge);
  const could = byOriginal.length > 0 ? byOriginal : tied.filter(({ tie }) => tie !== null);
  const [oldest] = could;
  if (!oldest) return isUnderWay ? { by: 'waiting' } : { by: 'nothing' };
  if (could.some(({ operationState }) => statesBeingSent.includes(operationState)))
    return { by: 'waiting' };
  // Refunds of one Pix and one amount are the same to everyone; payments to one account are not.
  if (byOriginal.length > 0) return { by: 'rule', rule: 'original', paid: oldest };
  if (could.length === 1) return { by: 'rule', rule: 'counterparty', paid: oldest };
  return isUnderWay ? { by: 'waiting' } : { by: 'several', could };
}

/** A line that came later than a payment of unknown outcome could have its effect is not that payment. */
function mayStillBe(line: LineFacts, { operationState, until }: OpenDebit): boolean {
  if (statesBeingSent.includes(operationState)) return true;
  return operationState === 'unknown' && line.occurredAt <= until;
}

function byAge(a: OpenDebit, b: OpenDebit): number {
  const age = a.createdAt.getTime() - b.createdAt.getTime();
  return age || (a.expectedPaymentId < b.expectedPaymentId ? -1 : 1);
}
