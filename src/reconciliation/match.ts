// The judge: given lines of the statement and what they could be, says what each is. Pure, so that the same lines and
// records give the same book whenever and however often they are judged.
import { saoPauloDay } from '../brazil/statement-day.js';
import { owedWhenPaid, settlementOfPaid } from '../expected-payments/settlement.js';
import {
  evidenceOf,
  leftOf,
  PaidTotals,
  type Broken,
  type Candidate,
  type LineFacts,
  type Matched,
  type OpenDebit,
  type Received,
  type LineOutcome,
} from './line-outcome.js';
import { byTime, choosePaid, explainUnnamed, isHeldByRule, payable } from './payments.js';
import { choosePaidBack, receivedAs, type PaidBack } from './received.js';
import { chooseReturned, mayBeReturn, returnable } from './returns.js';

/** What lines could be, by their nsu. */
export interface Records {
  /** Named by references on the line. */
  named: ReadonlyMap<bigint, readonly Candidate[]>;
  /** Of the same amount, for debits that name nothing of ours. */
  open: ReadonlyMap<bigint, readonly OpenDebit[]>;
  /** Credits that debits name as what they give back. */
  received?: ReadonlyMap<bigint, readonly Received[]>;
  /** The expected payments that a person unlinked the lines from: they stay so, whatever names them. */
  unlinked?: ReadonlyMap<bigint, ReadonlySet<string>>;
}

/** Whether a line is told by nothing that it carries, so that open debits are to be gathered for it. */
export function isUnnamedDebit(line: LineFacts, named: readonly Candidate[]): boolean {
  return !line.isCredit && payable(line, named).length === 0;
}

/** Judges lines in the order in which they happened; a payment counts for those of the same batch after it. */
export function decide(lines: readonly LineFacts[], records: Records, goLiveAt: Date): LineOutcome[] {
  const batch = new Batch(records, goLiveAt);
  const ordered = [...lines].sort(byTime);
  // Payments first: what is given back may bear an earlier number, or the same instant, as what it gives back. Of
  // those, what ids tell first: a rule takes what they leave.
  const payments = ordered.filter((line) => !batch.isReturn(line));
  const outcomes = [
    ...payments.filter((line) => batch.isNamed(line)).flatMap((line) => batch.decideReferenced(line)),
    ...payments.filter((line) => !batch.isNamed(line)).flatMap((line) => batch.decideUnreferenced(line)),
    ...ordered.filter((line) => batch.isReturn(line)).map((line) => batch.decideReversal(line)),
  ];
  const place = new Map(ordered.map(({ nsu }, index) => [nsu, index]));
  const placeOf = ({ nsu }: LineOutcome) => place.get(nsu) ?? 0;
  return outcomes.sort((a, b) => placeOf(a) - placeOf(b));
}

class Batch {
  private readonly totals = new PaidTotals();
  /** Debits of this batch, by the id under which what is returned of them comes back. */
  private readonly paidAs = new Map<string, Candidate>();
  /** Credits of this batch, by their line, with what they pay. */
  private readonly paidBy = new Map<bigint, Matched[]>();

  constructor(
    private readonly records: Records,
    private readonly goLiveAt: Date,
  ) {}

  /** Whether its references name what it may pay. */
  isNamed(line: LineFacts): boolean {
    return payable(line, this.namedBy(line)).length > 0;
  }

  isReturn(line: LineFacts): boolean {
    return mayBeReturn(line) && !this.isNamed(line);
  }

  decideReferenced(line: LineFacts): LineOutcome[] {
    const paying = choosePaid(line, payable(line, this.namedBy(line)), this.totals);
    if (paying.of === 'one') return [this.pay(line, paying.paid, 'reference', paying.displaces)];
    if (paying.of === 'all')
      return paying.parts.map(({ paid, amountCents }) =>
        this.pay({ ...line, amountCents }, paid, 'reference', isHeldByRule(paid, this.totals)),
      );
    const { kind, named } = paying;
    const [first, ...others] = named;
    const isOne = first && kind !== 'ambiguous' && others.length === 0;
    if (isOne && kind === 'duplicate_payment')
      this.totals.addDuplicate(first.expectedPaymentId, line.occurredAt);
    const expectedPaymentId = isOne ? first.expectedPaymentId : null;
    return [this.unmatched(line, kind, { expectedPaymentId })];
  }

  decideUnreferenced(line: LineFacts): LineOutcome[] {
    if (line.isCredit) return [this.unmatched(line, 'unexpected')];
    const known = receivedAs(this.records.received?.get(line.nsu) ?? [], this.paidBy);
    const received = known.map((each) =>
      each.paid && this.isUnlinked(line, each.paid) ? { ...each, paid: null } : each,
    );
    // What gives back a Pix that came is no payment to the same side.
    const open = (this.records.open.get(line.nsu) ?? []).filter(
      ({ tie }) => tie === 'original' || received.length === 0,
    );
    if (line.occurredAt >= this.goLiveAt) {
      const explained = explainUnnamed(line, open, this.totals);
      if (explained.by === 'rule') return [this.pay(line, explained.paid, explained.rule)];
      if (explained.by === 'waiting') return [deferred(line)];
      if (explained.by === 'several')
        return [this.unmatched(line, 'ambiguous', { candidates: explained.could })];
    }
    return this.decideRefund(line, choosePaidBack(line, received, this.totals));
  }

  /** A debit that gives back what came, and that nobody here has asked for. */
  private decideRefund(line: LineFacts, paidBack: PaidBack): LineOutcome[] {
    switch (paidBack.of) {
      case 'payments':
        this.totals.addRefunded(paidBack.creditNsu, line.amountCents);
        return paidBack.parts.map((part) =>
          this.matched({
            ...matchOf({ ...line, amountCents: part.amountCents }, part.paid),
            role: 'reversal',
            rule: 'reversal',
            evidence: part.evidence,
            owedCents: null,
            settlement: paidBack.isWhole ? 'refunded' : 'partially_refunded',
          }),
        );
      case 'unseen':
        return [line.occurredAt < this.goLiveAt ? openingLine(line.nsu) : deferred(line)];
      case 'several':
        return [this.unmatched(line, 'ambiguous', { originalNsu: paidBack.creditNsu })];
      case 'nothing':
        return [this.unmatched(line, 'unexpected', { originalNsu: paidBack.creditNsu })];
    }
  }

  decideReversal(line: LineFacts): LineOutcome {
    const known = this.namedBy(line);
    const isKnown = (one: Candidate) => known.some((each) => isSameNaming(each, one));
    const named = [...known, ...this.namedInBatch(line).filter((one) => !isKnown(one))];
    const chosen = chooseReturned(line, returnable(line, named), this.totals);
    if (chosen.of === 'payment') return this.giveBack(line, chosen.candidate);
    if (chosen.of === 'unseen' && line.occurredAt >= this.goLiveAt) return deferred(line);
    const kind = chosen.of === 'several' ? 'ambiguous' : 'unexpected';
    return this.unmatched(line, kind, { candidates: named });
  }

  private isUnlinked({ nsu }: Pick<LineFacts, 'nsu'>, paid: { expectedPaymentId: string }) {
    return this.records.unlinked?.get(nsu)?.has(paid.expectedPaymentId) === true;
  }

  private namedBy({ nsu }: LineFacts): readonly Candidate[] {
    return this.records.named.get(nsu) ?? [];
  }

  /** What was paid by a line of this batch that carries the id; no record of ours may know that id. */
  private namedInBatch({ nsu, endToEndId, originalEndToEndId }: LineFacts): Candidate[] {
    const find = (id: string | null, isOriginal: boolean): Candidate[] => {
      const paid = id === null ? undefined : this.paidAs.get(id);
      if (!paid || id === null || this.isUnlinked({ nsu }, paid)) return [];
      return [{ ...paid, referenceKind: 'end_to_end_id', referenceValue: id, isOriginal }];
    };
    return [...find(endToEndId, false), ...find(originalEndToEndId, true)];
  }

  private pay(
    line: LineFacts,
    candidate: Candidate,
    rule: Extract<Matched, { role: 'payment' }>['rule'],
    displaces = false,
  ): Matched {
    const before = displaces ? leftOf(candidate) : this.totals.paidCents(candidate);
    const paidCents = before + line.amountCents;
    const owedCents = owedWhenPaid(candidate, paidCents, saoPauloDay(line.occurredAt));
    const { isMultiUse, isWithdrawn: wasWithdrawn } = candidate;
    this.noteDebit(line, candidate, displaces);
    return this.matched({
      ...matchOf(line, candidate),
      evidence: evidenceOf(candidate),
      role: 'payment',
      rule,
      owedCents,
      settlement: settlementOfPaid({ amountCents: owedCents, isMultiUse }, paidCents),
      displaces,
      wasWithdrawn,
    });
  }

  /** What lines after it must know of a debit: whose it is, what it takes the place of, and what it gives back. */
  private noteDebit(line: LineFacts, candidate: Candidate, displaces: boolean): void {
    if (line.isCredit) return;
    const before = displaces ? this.totals.paidBefore(candidate) : null;
    if (before?.rule === 'reference')
      this.totals.addDuplicate(candidate.expectedPaymentId, before.occurredAt);
    if (line.endToEndId !== null) this.paidAs.set(line.endToEndId, candidate);
    const [received] = this.records.received?.get(line.nsu) ?? [];
    if (received) this.totals.addRefunded(received.creditNsu, line.amountCents);
  }

  private giveBack(line: LineFacts, candidate: Candidate): Matched {
    const returnedCents = this.totals.returnedCents(candidate) + line.amountCents;
    const isWhole = returnedCents === this.totals.paidCents(candidate);
    return this.matched({
      ...matchOf(line, candidate),
      evidence: evidenceOf(candidate),
      role: 'reversal',
      rule: 'reversal',
      owedCents: null,
      settlement: isWhole ? 'reversed' : 'partially_reversed',
    });
  }

  private matched(match: Matched): Matched {
    this.totals.add(match);
    if (match.role === 'payment')
      this.paidBy.set(match.nsu, [...(this.paidBy.get(match.nsu) ?? []), match]);
    return match;
  }

  private unmatched(
    line: LineFacts,
    kind: Broken['kind'],
    {
      candidates = this.namedBy(line),
      expectedPaymentId = null,
      originalNsu,
    }: {
      candidates?: readonly Candidate[];
      expectedPaymentId?: string | null;
      originalNsu?: bigint | null;
    } = {},
  ): LineOutcome {
    const { nsu, amountCents } = line;
    // What names a record of ours is matched whenever it came; only the rest of the past is left alone.
    if (line.occurredAt < this.goLiveAt) return openingLine(nsu);
    return {
      outcome: 'break',
      nsu,
      kind,
      amountCents,
      expectedPaymentId,
      candidates: candidates.map(evidenceOf),
      ...(originalNsu == null ? {} : { originalNsu }),
    };
  }
}

/** Of a payment that was debited before this batch and in it again, both the records and the batch tell. */
function isSameNaming(one: Candidate, other: Candidate): boolean {
  const keys = ['expectedPaymentId', 'referenceKind', 'referenceValue', 'isOriginal'] as const;
  return keys.every((key) => one[key] === other[key]);
}

type Named = Pick<Candidate, 'expectedPaymentId' | 'operationId' | 'kind' | 'operationState'>;

function matchOf({ nsu, amountCents }: LineFacts, named: Named) {
  const { expectedPaymentId, operationId, kind, operationState } = named;
  return {
    outcome: 'matched' as const,
    nsu,
    expectedPaymentId,
    operation: { operationId, kind, operationState },
    amountCents,
    declared: null,
  };
}

function openingLine(nsu: bigint): LineOutcome {
  return {
    outcome: 'classified',
    nsu,
    rule: 'before_go_live',
    category: 'before_go_live',
    reason: null,
    evidence: {},
    declared: null,
  };
}

function deferred({ nsu, amountCents }: LineFacts): LineOutcome {
  return { outcome: 'deferred', nsu, amountCents };
}
