// The judge: given a line of the statement and what it could be, says what it is. Pure, so that the same
// lines and records give the same book whenever and however often they are judged.
import { saoPauloDay } from '../brazil/statement-day.js';
import {
  owedWhenPaid,
  settlementOfPaid,
  type PaidSettlement,
} from '../expected-payments/settlement.js';

export interface JudgedLine {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  occurredAt: Date;
}

/** An expected payment that a reference on the line names. */
export interface Candidate {
  expectedPaymentId: string;
  isCredit: boolean;
  /** Null when the payer chooses. */
  amountCents: bigint | null;
  /** Live matches before this line, in cents. */
  paidCents: bigint;
  isMultiUse: boolean;
  dueDate: string | null;
  terms: string | null;
  /** Nothing was to come any more: the bank had rejected the operation. */
  isWithdrawn: boolean;
  referenceKind: string;
  referenceValue: string;
}

export interface Evidence {
  referenceKind: string;
  referenceValue: string;
}

export type Verdict =
  | {
      verdict: 'matched';
      nsu: bigint;
      expectedPaymentId: string;
      amountCents: bigint;
      rule: 'reference';
      evidence: Evidence;
      /** What was owed in all on the day; null when the payer chose. */
      owedCents: bigint | null;
      settlement: PaidSettlement;
    }
  | { verdict: 'classified'; nsu: bigint; rule: 'opening_line' }
  | {
      verdict: 'break';
      nsu: bigint;
      kind: 'unexpected' | 'ambiguous';
      amountCents: bigint;
      /** The expected payments that a reference names, where that did not decide it. */
      candidates: Evidence[];
    };

/** Judges lines in the order in which they happened; a payment counts for those of the same batch after it. */
export function judge(
  lines: readonly JudgedLine[],
  candidatesByNsu: ReadonlyMap<bigint, readonly Candidate[]>,
  goLiveAt: Date,
): Verdict[] {
  const paid = new Map<string, bigint>();
  return [...lines].sort(byTime).map((line) => {
    const verdict = judgeLine(line, candidatesByNsu.get(line.nsu) ?? [], goLiveAt, paid);
    if (verdict.verdict === 'matched') {
      const before = paid.get(verdict.expectedPaymentId) ?? 0n;
      paid.set(verdict.expectedPaymentId, before + verdict.amountCents);
    }
    return verdict;
  });
}

function judgeLine(
  line: JudgedLine,
  candidates: readonly Candidate[],
  goLiveAt: Date,
  paid: ReadonlyMap<string, bigint>,
): Verdict {
  const { nsu, amountCents } = line;
  const fitting = candidates.filter(
    ({ isCredit, isWithdrawn }) => isCredit === line.isCredit && !isWithdrawn,
  );
  const [first] = fitting;
  const isOne =
    first &&
    fitting.every(({ expectedPaymentId }) => expectedPaymentId === first.expectedPaymentId);
  if (!isOne) {
    // What names a record of ours is matched whenever it came; only the rest of the past is left alone.
    if (line.occurredAt < goLiveAt) return { verdict: 'classified', nsu, rule: 'opening_line' };
    const kind = first ? 'ambiguous' : 'unexpected';
    return { verdict: 'break', nsu, kind, amountCents, candidates: candidates.map(evidenceOf) };
  }
  const paidCents = first.paidCents + (paid.get(first.expectedPaymentId) ?? 0n) + amountCents;
  const owedCents = owedWhenPaid(first, paidCents, saoPauloDay(line.occurredAt));
  return {
    verdict: 'matched',
    nsu,
    expectedPaymentId: first.expectedPaymentId,
    amountCents,
    rule: 'reference',
    evidence: evidenceOf(first),
    owedCents,
    settlement: settlementOfPaid(
      { amountCents: owedCents, isMultiUse: first.isMultiUse },
      paidCents,
    ),
  };
}

function evidenceOf({ referenceKind, referenceValue }: Candidate): Evidence {
  return { referenceKind, referenceValue };
}

function byTime(a: JudgedLine, b: JudgedLine): number {
  return a.occurredAt.getTime() - b.occurredAt.getTime() || (a.nsu < b.nsu ? -1 : 1);
}
