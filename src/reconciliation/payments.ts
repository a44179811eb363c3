// Which expected payment a line pays. The ids that it carries decide, the surest first; a debit that carries none of
// ours is told by what it shares with a payment whose answer never came.
import { referenceKinds } from '../expected-payments/references.js';
import type { Candidate, JudgedLine, OpenDebit, Tally } from './judged.js';

const rankOf = new Map<string, number>(referenceKinds.map((kind, rank) => [kind, rank]));

/** The candidates that the surest of their references name. */
export function surest<Named extends Candidate>(candidates: readonly Named[]): Named[] {
  const rank = ({ referenceKind }: Named) => rankOf.get(referenceKind) ?? rankOf.size;
  const best = Math.min(...candidates.map(rank));
  return candidates.filter((candidate) => rank(candidate) === best);
}

/** The expected payments that the line's own references name, where they may be what it pays. */
export function payable(line: JudgedLine, candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(
    ({ isOriginal, isCredit, isWithdrawn }) =>
      !isOriginal && isCredit === line.isCredit && !isWithdrawn,
  );
}

/** The one that the line pays, or all that it could. */
export function choosePaid(
  line: JudgedLine,
  candidates: readonly Candidate[],
  tally: Tally,
): Candidate[] {
  // Who pays us chooses what he names: where that names two records of ours, none of its ids is surer.
  if (line.isCredit) return distinct(candidates);
  const named = distinct(surest(candidates));
  if (named.length === 1) return named;
  const exact = named.filter(
    (each) => each.amountCents === line.amountCents && tally.paidCents(each) === 0n,
  );
  return exact.length === 1 ? exact : named;
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

const statesUnderWay: readonly (string | null)[] = ['received', 'sending', 'unknown'];
/** The bank may yet answer with ids, and then the line is told by those. */
const statesBeingSent: readonly (string | null)[] = ['received', 'sending'];

/** What explains a debit that names nothing of ours. */
export function explainUnnamed(
  line: JudgedLine,
  debits: readonly OpenDebit[],
  tally: Tally,
): Explanation {
  const open = debits.filter(
    (debit) =>
      debit.amountCents === line.amountCents &&
      tally.paidCents(debit) === 0n &&
      debit.from <= line.occurredAt,
  );
  const isUnderWay = open.some(({ operationState }) => statesUnderWay.includes(operationState));
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

function byAge(a: OpenDebit, b: OpenDebit): number {
  const age = a.createdAt.getTime() - b.createdAt.getTime();
  return age || (a.expectedPaymentId < b.expectedPaymentId ? -1 : 1);
}
