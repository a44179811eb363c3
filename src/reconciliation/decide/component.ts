// The facts of one decision, indexed, with the standing decisions about breaks, and the allocations
// decided so far.
import type { CreditedLine } from '../../statement/expected-payments/credit-days.js';
import { addTo } from '../../platform/grouping.js';
import { addToPair, PairMap } from '../../platform/pair-map.js';
import {
  idOnLine,
  lineReferenceKinds,
  referenceKinds,
  type Reference,
} from '../../statement/expected-payments/references.js';
import type { LineBreakKind } from './break-kinds.js';
import type {
  BreakDecision,
  ExpectedPaymentFacts,
  Facts,
  LineAllocation,
  ManualLink,
  StatementLineFacts,
  UnmatchedOutcome,
  ReferenceEvidence,
} from './model.js';

/** The order in which lines happened. Every decision follows it, and never the order of arrival. */
export function compareLines(
  a: Pick<StatementLineFacts, 'nsu' | 'occurredAt'>,
  b: Pick<StatementLineFacts, 'nsu' | 'occurredAt'>,
): number {
  return a.occurredAt.getTime() - b.occurredAt.getTime() || Number(a.nsu - b.nsu);
}

/** An expected payment that a reference of a line names. */
export interface Named {
  kind: string;
  payment: ExpectedPaymentFacts;
  evidence: ReferenceEvidence;
}

/** The ids on a line that may name an expected payment, the most reliable kind first. */
export function lineReferences(line: StatementLineFacts): Reference[] {
  const references: Reference[] = [];
  for (const { kind } of lineReferenceKinds) {
    const value = idOnLine(line, kind);
    if (value !== null) references.push({ kind, value });
  }
  return references;
}

const ranks = new Map<string, number>(referenceKinds.map((kind, rank) => [kind, rank]));

/** The payments that the most reliable kind of reference among them names. */
export function strongest(candidates: readonly Named[]): Named[] {
  // Kinds that are not references come last.
  const rankOf = ({ kind }: Named) => ranks.get(kind) ?? ranks.size;
  const best = Math.min(...candidates.map(rankOf));
  return candidates.filter((one) => rankOf(one) === best);
}

export function named(kind: string, value: string, payment: ExpectedPaymentFacts): Named {
  return { kind, payment, evidence: { referenceKind: kind, referenceValue: value } };
}

/** A break lists at most this many candidates. */
export const maxBreakCandidates = 50;

/** The outcome of a line that needs no match for a reason of the service's own. */
export function classifiedAs(
  category: 'before_go_live' | 'own_account_transfer',
  evidence: object = {},
): UnmatchedOutcome {
  return {
    outcome: 'classified',
    category,
    rule: category,
    reason: null,
    evidence,
    declared: null,
  };
}

export class Component {
  /** In the order in which they happened. */
  readonly lines: readonly StatementLineFacts[];
  readonly paymentById: ReadonlyMap<string, ExpectedPaymentFacts>;
  readonly lineByNsu: ReadonlyMap<bigint, StatementLineFacts>;
  /** By `breakKey`. */
  readonly standingDecisions: ReadonlyMap<string, StandingDecisions>;
  readonly unmatched = new Map<bigint, UnmatchedOutcome>();
  private readonly paymentsByReference = new PairMap<ExpectedPaymentFacts[]>();
  private readonly linesByReference = new PairMap<StatementLineFacts[]>();
  private readonly linesByEndToEndId = new Map<string, StatementLineFacts[]>();
  private readonly linesByOriginal = new Map<string, StatementLineFacts[]>();
  private readonly ownRefundsByCredit = new Map<bigint, ExpectedPaymentFacts[]>();
  private readonly linkByLine = new Map<bigint, ManualLink>();
  private readonly linkedRefundsByCredit = new Map<
    bigint,
    { nsu: bigint; amountCents: bigint }[]
  >();
  private readonly creditByTiedDebit = new Map<bigint, StatementLineFacts>();
  private readonly separatedByLine = new Map<bigint, string[]>();
  private readonly duplicatesByPayment = new Map<string, StatementLineFacts[]>();
  private readonly allocationsByLine = new Map<bigint, LineAllocation[]>();
  private readonly allocationsByPayment = new Map<string, LineAllocation[]>();

  constructor(readonly facts: Facts) {
    this.lines = [...facts.lines].sort(compareLines);
    this.lineByNsu = new Map(this.lines.map((line) => [line.nsu, line]));
    this.paymentById = new Map(facts.expectedPayments.map((payment) => [payment.id, payment]));
    this.standingDecisions = standingDecisions(facts.decisions);
    for (const payment of facts.expectedPayments) {
      for (const { kind, value } of payment.references)
        addToPair(this.paymentsByReference, kind, value, payment);
      if (payment.refundOfNsu !== null)
        addTo(this.ownRefundsByCredit, payment.refundOfNsu, payment);
    }
    const areRefundsRequested = this.ownRefundsByCredit.size > 0;
    for (const line of this.lines) {
      if (areRefundsRequested && !line.isCredit)
        for (const { kind, value } of lineReferences(line))
          addToPair(this.linesByReference, kind, value, line);
      if (line.endToEndId !== null) addTo(this.linesByEndToEndId, line.endToEndId, line);
      const { originalEndToEndId: original } = line;
      if (original !== null) addTo(this.linesByOriginal, original, line);
    }
    for (const link of facts.links) {
      this.linkByLine.set(link.nsu, link);
      for (const { originalNsu, amountCents } of link.refundOf)
        addTo(this.linkedRefundsByCredit, originalNsu, { nsu: link.nsu, amountCents });
    }
    for (const { nsu, expectedPaymentId } of facts.separated)
      addTo(this.separatedByLine, nsu, expectedPaymentId);
  }

  /** What the line shows of when it was paid. */
  paid(line: Omit<CreditedLine, 'creditDays'>): CreditedLine {
    const { occurredAt, endToEndId, typeName, paidOn } = line;
    return { occurredAt, endToEndId, typeName, paidOn, creditDays: this.facts.creditDays };
  }

  /** The expected payments from which a person separated the line. */
  separatedFrom(nsu: bigint): readonly string[] {
    return this.separatedByLine.get(nsu) ?? [];
  }

  /** Whether a person separated the line from the payment. */
  isSeparated({ nsu }: Pick<StatementLineFacts, 'nsu'>, expectedPaymentId: string): boolean {
    return this.separatedFrom(nsu).includes(expectedPaymentId);
  }

  /** The expected payments that have this reference, without those separated from the line. */
  named(line: StatementLineFacts, kind: string, value: string): readonly ExpectedPaymentFacts[] {
    const found = this.paymentsByReference.get(kind, value) ?? [];
    if (found.length === 0 || !this.separatedByLine.has(line.nsu)) return found;
    return found.filter(({ id }) => !this.isSeparated(line, id));
  }

  /** The expected payments that the line's own ids name, the most reliable kind of id first. */
  referencedBy(line: StatementLineFacts): Named[] {
    const found: Named[] = [];
    for (const { kind, value } of lineReferences(line))
      for (const payment of this.named(line, kind, value)) found.push(named(kind, value, payment));
    return found;
  }

  /** The sent payments that a credit names as its original. */
  namedAsOriginal(line: StatementLineFacts): Named[] {
    const { originalEndToEndId: original, isCredit } = line;
    if (original === null || !isCredit) return [];
    return this.named(line, 'end_to_end_id', original).map((payment) =>
      named('original_end_to_end_id', original, payment),
    );
  }

  linesWithEndToEndId(endToEndId: string | null): readonly StatementLineFacts[] {
    return endToEndId === null ? [] : (this.linesByEndToEndId.get(endToEndId) ?? []);
  }

  /** The lines that name this Pix as their original. */
  linesNaming(endToEndId: string | null): readonly StatementLineFacts[] {
    return endToEndId === null ? [] : (this.linesByOriginal.get(endToEndId) ?? []);
  }

  linkOf(nsu: bigint): ManualLink | null {
    return this.linkByLine.get(nsu) ?? null;
  }

  /** Ties a debit to the credit that it refunds, as only its payer says. */
  tie({ nsu, amountCents }: StatementLineFacts, credit: StatementLineFacts): void {
    this.creditByTiedDebit.set(nsu, credit);
    addTo(this.linkedRefundsByCredit, credit.nsu, { nsu, amountCents });
  }

  tiedCreditOf(debitNsu: bigint): StatementLineFacts | null {
    return this.creditByTiedDebit.get(debitNsu) ?? null;
  }

  /** The parts of debits that a person, or only the payer, ties to a credit as its refunds. */
  linkedRefundsOf(creditNsu: bigint): readonly { nsu: bigint; amountCents: bigint }[] {
    return this.linkedRefundsByCredit.get(creditNsu) ?? [];
  }

  /** The lines that carry an id of the payment. */
  linesWithReferenceOf({ references }: ExpectedPaymentFacts): StatementLineFacts[] {
    return references.flatMap(({ kind, value }) => this.linesByReference.get(kind, value) ?? []);
  }

  /** The refunds of a credit that we requested. */
  ownRefundsOf(creditNsu: bigint): readonly ExpectedPaymentFacts[] {
    return this.ownRefundsByCredit.get(creditNsu) ?? [];
  }

  allocate(allocation: LineAllocation): void {
    addTo(this.allocationsByLine, allocation.nsu, allocation);
    addTo(this.allocationsByPayment, allocation.expectedPaymentId, allocation);
  }

  leaveUnmatched(
    line: StatementLineFacts,
    kind: LineBreakKind,
    { expectedPaymentId = null, candidates, originalNsu = null }: UnmatchedEvidence = {},
  ): void {
    if (kind === 'duplicate_payment' && expectedPaymentId !== null)
      addTo(this.duplicatesByPayment, expectedPaymentId, line);
    // Lines before go-live can be matched by reference. Without a match they need no explanation.
    this.unmatched.set(
      line.nsu,
      line.occurredAt < this.facts.goLiveAt
        ? classifiedAs('before_go_live')
        : {
            outcome: 'break',
            kind,
            expectedPaymentId,
            candidates: (candidates ?? this.candidatesOf(line))
              .slice(0, maxBreakCandidates)
              .map(({ evidence }) => evidence),
            originalNsu,
          },
    );
  }

  wait(
    { nsu }: StatementLineFacts,
    waitsFor: 'operation' | 'line',
    candidateIds: readonly string[] = [],
  ): void {
    this.unmatched.set(nsu, { outcome: 'pending', waitsFor, candidateIds });
  }

  /** Debits beyond the one that pays this payment. */
  duplicateDebitsOf(expectedPaymentId: string): readonly StatementLineFacts[] {
    return this.duplicatesByPayment.get(expectedPaymentId) ?? [];
  }

  private candidatesOf(line: StatementLineFacts): Named[] {
    return [...this.referencedBy(line), ...this.namedAsOriginal(line)];
  }

  allocationsOfLine(nsu: bigint): readonly LineAllocation[] {
    return this.allocationsByLine.get(nsu) ?? [];
  }

  allocationsOf(expectedPaymentId: string): readonly LineAllocation[] {
    return this.allocationsByPayment.get(expectedPaymentId) ?? [];
  }

  /** The payments of an expected payment with their lines, in the order in which they happened. */
  paymentsOf(
    expectedPaymentId: string,
  ): { allocation: LineAllocation; line: StatementLineFacts }[] {
    const payments: { allocation: LineAllocation; line: StatementLineFacts }[] = [];
    for (const allocation of this.allocationsOf(expectedPaymentId)) {
      const line = this.lineByNsu.get(allocation.nsu);
      if (line && allocation.role === 'payment') payments.push({ allocation, line });
    }
    return payments.sort((a, b) => compareLines(a.line, b.line));
  }

  get allocations(): LineAllocation[] {
    return [...this.allocationsByLine.values()].flat();
  }

  isDecided(nsu: bigint): boolean {
    return this.unmatched.has(nsu) || this.allocationsByLine.has(nsu);
  }

  /** Whether nothing explains the line so far. */
  isUnexpected(nsu: bigint): boolean {
    const outcome = this.unmatched.get(nsu);
    return outcome?.outcome === 'break' && outcome.kind === 'unexpected';
  }

  paidCents(expectedPaymentId: string): bigint {
    return totalCents(this.allocationsOf(expectedPaymentId), 'payment');
  }

  reversedCents(expectedPaymentId: string): bigint {
    return totalCents(this.allocationsOf(expectedPaymentId), 'reversal');
  }

  /** What lines paid and no line reversed. */
  netCents(expectedPaymentId: string): bigint {
    return this.paidCents(expectedPaymentId) - this.reversedCents(expectedPaymentId);
  }
}

export interface UnmatchedEvidence {
  expectedPaymentId?: string | null;
  /** By default, all expected payments that the line names. */
  candidates?: readonly { evidence: ReferenceEvidence }[];
  originalNsu?: bigint | null;
}

function totalCents(allocations: readonly LineAllocation[], role: LineAllocation['role']): bigint {
  let total = 0n;
  for (const allocation of allocations)
    if (allocation.role === role) total += allocation.amountCents;
  return total;
}

/** Each payment once, with its first reference. */
export function distinct(items: readonly Named[]): Named[] {
  const first = new Map<string, Named>();
  for (const item of items) if (!first.has(item.payment.id)) first.set(item.payment.id, item);
  return [...first.values()];
}

export interface StandingDecisions {
  /** The acceptance that no later action of a person took back. */
  accepted: BreakDecision | null;
  /** The link that resolved the break, and that no person has undone. */
  linked: BreakDecision | null;
  /** Refunds requested since a person last reopened the break. */
  requestedRefunds: BreakDecision[];
}

const nothing: StandingDecisions = { accepted: null, linked: null, requestedRefunds: [] };

export const breakKey = ({ kind, subject }: { kind: string; subject: string }): string =>
  `${kind} ${subject}`;

/** By `breakKey`. The decisions are in the order of their sequence. */
export function standingDecisions(
  decisions: readonly BreakDecision[],
): Map<string, StandingDecisions> {
  const standing = new Map<string, StandingDecisions>();
  for (const decision of decisions) {
    const key = breakKey(decision);
    const before = standing.get(key) ?? nothing;
    standing.set(key, after(before, decision));
  }
  return standing;
}

function after(before: StandingDecisions, decision: BreakDecision): StandingDecisions {
  const { requestedRefunds } = before;
  switch (decision.action) {
    case 'accept':
      return { accepted: decision, linked: null, requestedRefunds };
    case 'refund':
      return { ...nothing, requestedRefunds: [...requestedRefunds, decision] };
    case 'link':
      return { ...nothing, linked: decision };
    case 'reopen':
    case 'unlink':
      return nothing;
    case 'resend':
      return before;
  }
}
