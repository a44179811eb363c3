// The judge: given lines of the statement and what they could be, says what each is. Pure, so that the same lines and
// records give the same book whenever and however often they are judged.
import { saoPauloDay } from '../brazil/statement-day.js';
import { owedWhenPaid, settlementOfPaid } from '../expected-payments/settlement.js';
import {
  evidenceOf,
  Tally,
  type Broken,
  type Candidate,
  type JudgedLine,
  type Matched,
  type OpenDebit,
  type Verdict,
} from './judged.js';
import { byTime, choosePaid, explainUnnamed, payable } from './payments.js';
import { chooseReturned, mayBeReturn, returnable } from './returns.js';

/** What lines could be, by their nsu. */
export interface Records {
  /** Named by references on the line. */
  named: ReadonlyMap<bigint, readonly Candidate[]>;
  /** Of the same amount, for debits that name nothing of ours. */
  open: ReadonlyMap<bigint, readonly OpenDebit[]>;
}

/** Whether a line is told by nothing that it carries, so that open debits are to be gathered for it. */
export function isUnnamedDebit(line: JudgedLine, named: readonly Candidate[]): boolean {
  return !line.isCredit && payable(line, named).length === 0;
}

/** Judges lines in the order in which they happened; a payment counts for those of the same batch after it. */
export function judge(lines: readonly JudgedLine[], records: Records, goLiveAt: Date): Verdict[] {
  const batch = new Batch(records, goLiveAt);
  const ordered = [...lines].sort(byTime);
  // Payments first: what is given back may bear an earlier number, or the same instant, as what it gives back. Of
  // those, what ids tell first: a rule takes what they leave.
  const payments = ordered.filter((line) => !batch.isReturn(line));
  const verdicts = [
    ...payments.filter((line) => batch.isNamed(line)).map((line) => batch.judgeNamed(line)),
    ...payments.filter((line) => !batch.isNamed(line)).map((line) => batch.judgeUnnamed(line)),
    ...ordered.filter((line) => batch.isReturn(line)).map((line) => batch.judgeReturn(line)),
  ];
  const byNsu = new Map(verdicts.map((verdict) => [verdict.nsu, verdict]));
  return ordered.map(({ nsu }) => byNsu.get(nsu) as Verdict);
}

class Batch {
  private readonly tally = new Tally();
  /** Debits of this batch, by the id under which what is returned of them comes back. */
  private readonly paidAs = new Map<string, Candidate>();

  constructor(
    private readonly records: Records,
    private readonly goLiveAt: Date,
  ) {}

  /** Whether its references name what it may pay. */
  isNamed(line: JudgedLine): boolean {
    return payable(line, this.namedBy(line)).length > 0;
  }

  isReturn(line: JudgedLine): boolean {
    return mayBeReturn(line) && !this.isNamed(line);
  }

  judgeNamed(line: JudgedLine): Verdict {
    const paying = choosePaid(line, payable(line, this.namedBy(line)), this.tally);
    if (paying.of === 'one') return this.pay(line, paying.paid, 'reference', paying.displaces);
    const { kind, named } = paying;
    const [first, ...others] = named;
    const isOne = first && kind !== 'ambiguous' && others.length === 0;
    if (isOne && kind === 'duplicate_payment')
      this.tally.addDuplicate(first.expectedPaymentId, line.occurredAt);
    return this.unmatched(line, kind, undefined, isOne ? first.expectedPaymentId : null);
  }

  judgeUnnamed(line: JudgedLine): Verdict {
    if (line.isCredit || line.occurredAt < this.goLiveAt) return this.unmatched(line, 'unexpected');
    const open = this.records.open.get(line.nsu) ?? [];
    const explained = explainUnnamed(line, open, this.tally);
    if (explained.by === 'rule') return this.pay(line, explained.paid, explained.rule);
    if (explained.by === 'waiting') return deferred(line);
    if (explained.by === 'several') return this.unmatched(line, 'ambiguous', explained.could);
    return this.unmatched(line, 'unexpected');
  }

  judgeReturn(line: JudgedLine): Verdict {
    const named = [...this.namedBy(line), ...this.namedInBatch(line)];
    const chosen = chooseReturned(line, returnable(line, named), this.tally);
    if (chosen.of === 'payment') return this.giveBack(line, chosen.candidate);
    if (chosen.of === 'unseen' && line.occurredAt >= this.goLiveAt) return deferred(line);
    return this.unmatched(line, chosen.of === 'several' ? 'ambiguous' : 'unexpected', named);
  }

  private namedBy({ nsu }: JudgedLine): readonly Candidate[] {
    return this.records.named.get(nsu) ?? [];
  }

  /** What was paid by a line of this batch that carries the id; no record of ours may know that id. */
  private namedInBatch({ endToEndId, originalEndToEndId }: JudgedLine): Candidate[] {
    const find = (id: string | null, isOriginal: boolean): Candidate[] => {
      const paid = id === null ? undefined : this.paidAs.get(id);
      if (!paid || id === null) return [];
      return [{ ...paid, referenceKind: 'end_to_end_id', referenceValue: id, isOriginal }];
    };
    return [...find(endToEndId, false), ...find(originalEndToEndId, true)];
  }

  private pay(
    line: JudgedLine,
    candidate: Candidate,
    rule: Extract<Matched, { role: 'payment' }>['rule'],
    displaces = false,
  ): Matched {
    const paidCents = (displaces ? 0n : this.tally.paidCents(candidate)) + line.amountCents;
    const owedCents = owedWhenPaid(candidate, paidCents, saoPauloDay(line.occurredAt));
    const { isMultiUse, isWithdrawn: wasWithdrawn } = candidate;
    const before = displaces ? this.tally.paidBefore(candidate) : null;
    if (before?.rule === 'reference')
      this.tally.addDuplicate(candidate.expectedPaymentId, before.occurredAt);
    if (!line.isCredit && line.endToEndId !== null) this.paidAs.set(line.endToEndId, candidate);
    return this.matched({
      ...matchOf(line, candidate),
      role: 'payment',
      rule,
      owedCents,
      settlement: settlementOfPaid({ amountCents: owedCents, isMultiUse }, paidCents),
      displaces,
      wasWithdrawn,
    });
  }

  private giveBack(line: JudgedLine, candidate: Candidate): Matched {
    const returnedCents = this.tally.returnedCents(candidate) + line.amountCents;
    const isWhole = returnedCents === this.tally.paidCents(candidate);
    return this.matched({
      ...matchOf(line, candidate),
      role: 'return',
      rule: 'return',
      owedCents: null,
      settlement: isWhole ? 'returned' : 'partially_returned',
    });
  }

  private matched(match: Matched): Matched {
    this.tally.add(match);
    return match;
  }

  private unmatched(
    line: JudgedLine,
    kind: Broken['kind'],
    candidates: readonly Candidate[] = this.namedBy(line),
    expectedPaymentId: string | null = null,
  ): Verdict {
    const { nsu, amountCents } = line;
    // What names a record of ours is matched whenever it came; only the rest of the past is left alone.
    if (line.occurredAt < this.goLiveAt) return openingLine(nsu);
    const evidence = candidates.map(evidenceOf);
    return { verdict: 'break', nsu, kind, amountCents, expectedPaymentId, candidates: evidence };
  }
}

function matchOf({ nsu, amountCents }: JudgedLine, candidate: Candidate) {
  const { expectedPaymentId, operationId, kind, operationState } = candidate;
  return {
    verdict: 'matched' as const,
    nsu,
    expectedPaymentId,
    operation: { operationId, kind, operationState },
    amountCents,
    evidence: evidenceOf(candidate),
    declared: null,
  };
}

function openingLine(nsu: bigint): Verdict {
  return {
    verdict: 'classified',
    nsu,
    rule: 'opening_line',
    category: 'opening',
    reason: null,
    evidence: {},
    declared: null,
  };
}

function deferred({ nsu, amountCents }: JudgedLine): Verdict {
  return { verdict: 'deferred', nsu, amountCents };
}
