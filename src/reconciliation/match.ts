// The matcher: decides what each line of the statement means, from its candidates. Pure: the same
// lines and candidates give the same outcomes, whenever and however often they are decided.
import { saoPauloDay } from '../brazil/statement-day.js';
import { owedCentsWhenPaid, settlementOfPaidAmount } from '../expected-payments/settlement.js';
import {
  evidenceOf,
  paidCentsWhenDisplaced,
  PaidTotals,
  reversalSettlement,
  type InBreak,
  type Candidate,
  type LineFacts,
  type Matched,
  type OpenDebit,
  type OriginalCredit,
  type LineOutcome,
} from './line-outcome.js';
import {
  choosePayment,
  compareByTime,
  explainUnreferencedDebit,
  hasProvisionalRuleMatch,
  payableCandidates,
} from './payments.js';
import { chooseReversed, mayBeReversal, reversibleCandidates } from './reversals.js';
import { chooseRefund, withBatchPayments, type RefundChoice } from './unrequested-refunds.js';

/** The candidates of lines, by nsu. */
export interface LineCandidates {
  /** Expected payments that references on the line identify. */
  referenced: ReadonlyMap<bigint, readonly Candidate[]>;
  /** Open payments of the same amount, for debits without a reference. */
  openDebits: ReadonlyMap<bigint, readonly OpenDebit[]>;
  /** Credits that debits reference as their original. */
  originalCredits?: ReadonlyMap<bigint, readonly OriginalCredit[]>;
  /**
   * The expected payments that a person unlinked from the line: nothing matches them to it again.
   */
  unlinked?: ReadonlyMap<bigint, ReadonlySet<string>>;
}

/** Whether a debit references no payable candidate. Open debits are loaded for such a debit. */
export function isUnreferencedDebit(line: LineFacts, referenced: readonly Candidate[]): boolean {
  return !line.isCredit && payableCandidates(line, referenced).length === 0;
}

/** Decides lines in the order of time; a payment counts for the later lines of the same batch. */
export function decide(
  lines: readonly LineFacts[],
  candidates: LineCandidates,
  goLiveAt: Date,
): LineOutcome[] {
  const batch = new Batch(candidates, goLiveAt);
  const ordered = [...lines].sort(compareByTime);
  // Payments come before reversals: a reversal may have a lower nsu than its payment, or the same
  // instant. References come before rules: a rule applies only to lines that references leave
  // unmatched.
  const reversals = ordered.filter((line) => batch.isReversal(line));
  const payments = ordered.filter((line) => !batch.isReversal(line));
  const referenced = payments.filter((line) => batch.isReferenced(line));
  const unreferenced = payments.filter((line) => !batch.isReferenced(line));
  const outcomes = [
    ...referenced.flatMap((line) => batch.decideReferenced(line)),
    ...unreferenced.flatMap((line) => batch.decideUnreferenced(line)),
    ...reversals.map((line) => batch.decideReversal(line)),
  ];
  const positions = new Map(ordered.map(({ nsu }, index) => [nsu, index]));
  const positionOf = ({ nsu }: LineOutcome) => positions.get(nsu) ?? 0;
  return outcomes.sort((a, b) => positionOf(a) - positionOf(b));
}

class Batch {
  private readonly totals = new PaidTotals();
  /** Matched debits of this batch, by the endToEndId that their reversals reference. */
  private readonly debitsByEndToEndId = new Map<string, Candidate>();
  /** The payments that credits of this batch make, by the credit's nsu. */
  private readonly paymentsByCredit = new Map<bigint, Matched[]>();

  constructor(
    private readonly candidates: LineCandidates,
    private readonly goLiveAt: Date,
  ) {}

  /** Whether its references identify an expected payment that it may pay. */
  isReferenced(line: LineFacts): boolean {
    return payableCandidates(line, this.referencedBy(line)).length > 0;
  }

  isReversal(line: LineFacts): boolean {
    return mayBeReversal(line) && !this.isReferenced(line);
  }

  decideReferenced(line: LineFacts): LineOutcome[] {
    const payable = payableCandidates(line, this.referencedBy(line));
    const choice = choosePayment(line, payable, this.totals);
    if (choice.pays === 'one') return [this.pay(line, choice.paid, 'reference', choice.displaces)];
    if (choice.pays === 'all')
      return choice.parts.map(({ paid, amountCents }) => {
        const displaces = hasProvisionalRuleMatch(paid, this.totals);
        return this.pay({ ...line, amountCents }, paid, 'reference', displaces);
      });
    const { kind, candidates } = choice;
    const [first, ...others] = candidates;
    const isOne = first && kind !== 'ambiguous' && others.length === 0;
    if (isOne && kind === 'duplicate_payment')
      this.totals.addDuplicate(first.expectedPaymentId, line.occurredAt);
    const expectedPaymentId = isOne ? first.expectedPaymentId : null;
    return [this.unmatched(line, kind, { expectedPaymentId })];
  }

  decideUnreferenced(line: LineFacts): LineOutcome[] {
    if (line.isCredit) return [this.unmatched(line, 'unexpected')];
    const stored = this.candidates.originalCredits?.get(line.nsu) ?? [];
    const credits = withBatchPayments(stored, this.paymentsByCredit).map((each) =>
      each.paid && this.isUnlinked(line, each.paid) ? { ...each, paid: null } : each,
    );
    // A refund of a received Pix is not a payment to the same counterparty.
    const open = (this.candidates.openDebits.get(line.nsu) ?? []).filter(
      ({ sharedReference }) => sharedReference === 'original' || credits.length === 0,
    );
    if (line.occurredAt >= this.goLiveAt) {
      const explained = explainUnreferencedDebit(line, open, this.totals);
      if (explained.by === 'rule') return [this.pay(line, explained.paid, explained.rule)];
      if (explained.by === 'pending') return [pending(line)];
      if (explained.by === 'several')
        return [this.unmatched(line, 'ambiguous', { candidates: explained.candidates })];
    }
    return this.decideRefund(line, chooseRefund(line, credits, this.totals));
  }

  /** A debit that refunds a credit without a request of ours. */
  private decideRefund(line: LineFacts, choice: RefundChoice): LineOutcome[] {
    switch (choice.refunds) {
      case 'payments':
        this.totals.addRefunded(choice.creditNsu, line.amountCents);
        return choice.parts.map((part) =>
          this.matched({
            ...matchOf({ ...line, amountCents: part.amountCents }, part.paid),
            role: 'reversal',
            rule: 'reversal',
            evidence: part.evidence,
            owedCents: null,
            settlement: reversalSettlement({ isCredit: true, isFull: choice.isFull }),
          }),
        );
      case 'unseen':
        return [line.occurredAt < this.goLiveAt ? beforeGoLive(line.nsu) : pending(line)];
      case 'several':
        return [this.unmatched(line, 'ambiguous', { originalNsu: choice.creditNsu })];
      case 'nothing':
        return [this.unmatched(line, 'unexpected', { originalNsu: choice.creditNsu })];
    }
  }

  decideReversal(line: LineFacts): LineOutcome {
    const stored = this.referencedBy(line);
    const isStored = (one: Candidate) => stored.some((each) => isSameReference(each, one));
    const candidates = [...stored, ...this.referencedInBatch(line).filter((one) => !isStored(one))];
    const choice = chooseReversed(line, reversibleCandidates(line, candidates), this.totals);
    if (choice.reverses === 'payment') return this.reverse(line, choice.candidate);
    if (choice.reverses === 'unseen' && line.occurredAt >= this.goLiveAt) return pending(line);
    const kind = choice.reverses === 'several' ? 'ambiguous' : 'unexpected';
    return this.unmatched(line, kind, { candidates });
  }

  private isUnlinked({ nsu }: Pick<LineFacts, 'nsu'>, paid: { expectedPaymentId: string }) {
    return this.candidates.unlinked?.get(nsu)?.has(paid.expectedPaymentId) === true;
  }

  private referencedBy({ nsu }: LineFacts): readonly Candidate[] {
    return this.candidates.referenced.get(nsu) ?? [];
  }

  /**
   * The payments of debits in this batch whose endToEndId the line contains. That endToEndId is not
   * always stored as a reference.
   */
  private referencedInBatch({ nsu, endToEndId, originalEndToEndId }: LineFacts): Candidate[] {
    const find = (id: string | null, isOriginal: boolean): Candidate[] => {
      const paid = id === null ? undefined : this.debitsByEndToEndId.get(id);
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
    const before = displaces ? paidCentsWhenDisplaced(candidate) : this.totals.paidCents(candidate);
    const paidCents = before + line.amountCents;
    const owedCents = owedCentsWhenPaid(candidate, paidCents, saoPauloDay(line.occurredAt));
    const { isMultiUse, isWithdrawn: wasWithdrawn } = candidate;
    this.recordDebit(line, candidate, displaces);
    return this.matched({
      ...matchOf(line, candidate),
      evidence: evidenceOf(candidate),
      role: 'payment',
      rule,
      owedCents,
      settlement: settlementOfPaidAmount({ amountCents: owedCents, isMultiUse }, paidCents),
      displaces,
      wasWithdrawn,
    });
  }

  /**
   * Records for later lines which payment a debit pays, which debit it displaces, and which credit
   * it refunds.
   */
  private recordDebit(line: LineFacts, candidate: Candidate, displaces: boolean): void {
    if (line.isCredit) return;
    const before = displaces ? this.totals.payingLineBefore(candidate) : null;
    if (before?.rule === 'reference')
      this.totals.addDuplicate(candidate.expectedPaymentId, before.occurredAt);
    if (line.endToEndId !== null) this.debitsByEndToEndId.set(line.endToEndId, candidate);
    const [credit] = this.candidates.originalCredits?.get(line.nsu) ?? [];
    if (credit) this.totals.addRefunded(credit.creditNsu, line.amountCents);
  }

  private reverse(line: LineFacts, candidate: Candidate): Matched {
    const reversedCents = this.totals.reversedCents(candidate) + line.amountCents;
    const isFull = reversedCents === this.totals.paidCents(candidate);
    return this.matched({
      ...matchOf(line, candidate),
      evidence: evidenceOf(candidate),
      role: 'reversal',
      rule: 'reversal',
      owedCents: null,
      settlement: reversalSettlement({ isCredit: false, isFull }),
    });
  }

  private matched(match: Matched): Matched {
    this.totals.add(match);
    if (match.role === 'payment')
      this.paymentsByCredit.set(match.nsu, [
        ...(this.paymentsByCredit.get(match.nsu) ?? []),
        match,
      ]);
    return match;
  }

  private unmatched(
    line: LineFacts,
    kind: InBreak['kind'],
    {
      candidates = this.referencedBy(line),
      expectedPaymentId = null,
      originalNsu,
    }: {
      candidates?: readonly Candidate[];
      expectedPaymentId?: string | null;
      originalNsu?: bigint | null;
    } = {},
  ): LineOutcome {
    const { nsu, amountCents } = line;
    // Lines before go-live can be matched by reference. Without a match they need no explanation.
    if (line.occurredAt < this.goLiveAt) return beforeGoLive(nsu);
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

/**
 * A payment debited before this batch and again in it is found both in storage and in the batch.
 */
function isSameReference(one: Candidate, other: Candidate): boolean {
  const keys = ['expectedPaymentId', 'referenceKind', 'referenceValue', 'isOriginal'] as const;
  return keys.every((key) => one[key] === other[key]);
}

type MatchedPayment = Pick<
  Candidate,
  'expectedPaymentId' | 'operationId' | 'kind' | 'operationState'
>;

function matchOf({ nsu, amountCents }: LineFacts, payment: MatchedPayment) {
  const { expectedPaymentId, operationId, kind, operationState } = payment;
  return {
    outcome: 'matched' as const,
    nsu,
    expectedPaymentId,
    operation: { operationId, kind, operationState },
    amountCents,
    declared: null,
  };
}

function beforeGoLive(nsu: bigint): LineOutcome {
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

function pending({ nsu, amountCents }: LineFacts): LineOutcome {
  return { outcome: 'pending', nsu, amountCents };
}
