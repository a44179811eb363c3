// The input and output of the matcher: lines, the expected payments that they could be, and
// outcomes.
import type { PaidSettlement } from '../expected-payments/settlement.js';

export interface LineFacts {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
  endToEndId: string | null;
  originalEndToEndId: string | null;
  occurredAt: Date;
  /** The line was stored recently, so the line of the payment that it reverses may still arrive. */
  isFresh: boolean;
}

/** An earlier line outside the batch that pays an outgoing expected payment. */
export interface PayingLine {
  nsu: bigint;
  occurredAt: Date;
  /** `reference` when matched by ids on the line, `manual` when matched by a person. */
  rule: string;
  /** The line is in a closed period: a match by the account's own rule is final there. */
  isClosed?: boolean;
}

/** An expected payment that a reference on the line identifies. */
export interface Candidate {
  expectedPaymentId: string;
  operationId: string;
  /** The kind of the operation. */
  kind: string;
  /** Null when the operation is not in the journal. */
  operationState: string | null;
  isCredit: boolean;
  /** Null when the payer chooses. */
  amountCents: bigint | null;
  /** Cents of the live payments before this line. */
  paidCents: bigint;
  /** The part of `paidCents` that was reversed before this line. */
  reversedCents: bigint;
  isMultiUse: boolean;
  dueDate: string | null;
  terms: string | null;
  /** The line that paid it, if it is a debit: another line that pays it may displace that match. */
  payingLine?: PayingLine | null;
  /** When it was debited a second time, unmatched: a reversal may then be of either debit. */
  debitedAgainAt?: Date | null;
  /**
   * Of a credit: the cents that the account's own rules matched to it in periods that are still
   * open. A line that references the expected payment displaces those matches.
   */
  provisionalRuleCents?: bigint;
  /** The payment was requested after the line happened. */
  isLater?: boolean;
  /** No payment was expected any more: rejected, failed, or proven not executed. */
  isWithdrawn: boolean;
  referenceKind: string;
  referenceValue: string;
  /** The line references the payment as its original, and not by one of the line's own ids. */
  isOriginal: boolean;
}

/** An unpaid outgoing payment of an operation without a response from the bank. */
export interface OpenDebit extends Candidate {
  amountCents: bigint;
  /** The reference that it shares with the line; null when one of them has none. */
  sharedReference: 'original' | 'counterparty' | null;
  /** It has an id that only the bank assigns: a line that pays it would contain that id. */
  isKnownToBank: boolean;
  createdAt: Date;
  /** The period in which the money can have moved, by the bank's clock. */
  from: Date;
  until: Date;
}

/**
 * A credit that a debit references as its original. One entry per payment that the credit makes, or
 * a single entry when the credit pays nothing.
 */
export interface OriginalCredit {
  creditNsu: bigint;
  creditCents: bigint;
  /** The part of the credit that was refunded before. */
  refundedCents: bigint;
  endToEndId: string;
  paid: OriginalCreditPayment | null;
}

export type OriginalCreditPayment = Pick<
  Candidate,
  'expectedPaymentId' | 'operationId' | 'kind' | 'operationState'
> & {
  amountCents: bigint;
  /** The rule that matched the credit. */
  rule: string;
  /** Paid cents minus refunded cents before this batch; unknown when the credit is in the batch. */
  leftCents?: bigint;
};

export interface ReferenceEvidence {
  referenceKind: string;
  referenceValue: string;
}

/** Settlement of a credit that was refunded, and of a debit that was reversed. */
export const reversalSettlements = [
  'refunded',
  'partially_refunded',
  'reversed',
  'partially_reversed',
] as const;
export type ReversalSettlement = (typeof reversalSettlements)[number];

/** `isFull`: nothing is left of what was paid. */
export function reversalSettlement(payment: {
  isCredit: boolean;
  isFull: boolean;
}): ReversalSettlement {
  const { isCredit, isFull } = payment;
  if (isCredit) return isFull ? 'refunded' : 'partially_refunded';
  return isFull ? 'reversed' : 'partially_reversed';
}

interface MatchedAs {
  outcome: 'matched';
  nsu: bigint;
  expectedPaymentId: string;
  operation: Pick<Candidate, 'operationId' | 'kind' | 'operationState'>;
  amountCents: bigint;
  evidence: ReferenceEvidence;
  /** The total owed on the day; null when the payer chose the amount, and for reversals. */
  owedCents: bigint | null;
  /** The account's own rule that matched; null when references or built-in rules did. */
  declared: DeclaredRule | null;
}

export type Matched = MatchedAs &
  (
    | {
        role: 'payment';
        rule: 'reference' | 'original' | 'counterparty' | 'declared';
        settlement: PaidSettlement;
        /** Earlier matches of the expected payment are unlinked: this line takes precedence. */
        displaces: boolean;
        /** No payment was expected any more. */
        wasWithdrawn: boolean;
      }
    | { role: 'reversal'; rule: 'reversal'; settlement: ReversalSettlement }
  );

/** Why a line needs no match. */
export const categories = [
  'before_go_live',
  'fee',
  'tariff',
  'own_account_transfer',
  'ignored',
  'accepted',
  'refunded',
] as const;
export type Category = (typeof categories)[number];

/** A version of a rule of the account's own. */
export interface DeclaredRule {
  ruleId: string;
  version: number;
}

export interface Classified {
  outcome: 'classified';
  nsu: bigint;
  /** `before_go_live`, `own_account_transfer`, `manual`, `refund`, or `declared`. */
  rule: string;
  category: Category;
  reason: string | null;
  evidence: object;
  declared: DeclaredRule | null;
}

/** Breaks of lines without an explanation. */
export const lineBreakKinds = [
  'unexpected',
  'ambiguous',
  'duplicate_payment',
  'amount_mismatch',
] as const;
export type LineBreakKind = (typeof lineBreakKinds)[number];

/** Breaks about the payments of an expected payment whose lines are matched. */
export const settlementBreakKinds = [
  'underpaid',
  'overpaid',
  'duplicate_payment',
  'paid_after_cancellation',
  'paid_after_expiry',
] as const;
export type SettlementBreakKind = (typeof settlementBreakKinds)[number];

/** While a break of these kinds is open, its line counts as in a break, even if it is matched. */
export const explainingBreakKinds: string[] = [
  ...new Set<string>([...lineBreakKinds, ...settlementBreakKinds]),
];

export interface InBreak {
  outcome: 'break';
  nsu: bigint;
  kind: LineBreakKind;
  amountCents: bigint;
  /** The one expected payment that was already paid or has another amount. */
  expectedPaymentId: string | null;
  /** The references of the candidates that did not lead to a match. */
  candidates: ReferenceEvidence[];
  /** The credit that the line references as its original, unmatched or already refunded. */
  originalNsu?: bigint;
}

/** An operation in progress or a line to come may explain the line: it is decided again. */
export interface Pending {
  outcome: 'pending';
  nsu: bigint;
  amountCents: bigint;
}

export type LineOutcome = Matched | Classified | InBreak | Pending;

/** Whether earlier matches of the expected payment are to be unlinked. */
export function isDisplacing(outcome: LineOutcome): outcome is Matched {
  return outcome.outcome === 'matched' && outcome.role === 'payment' && outcome.displaces;
}

export function evidenceOf({
  referenceKind,
  referenceValue,
}: ReferenceEvidence): ReferenceEvidence {
  return { referenceKind, referenceValue };
}

/**
 * The cents that the lines of one batch have paid and reversed so far, added to the stored cents.
 */
export class PaidTotals {
  private readonly paid = new Map<string, bigint>();
  private readonly reversed = new Map<string, bigint>();
  /** Expected payments whose earlier matches no longer count. */
  private readonly displaced = new Set<string>();
  private readonly debitedAgain = new Map<string, Date>();
  private readonly refundedCredits = new Map<bigint, bigint>();

  paidCents(candidate: Candidate): bigint {
    const { expectedPaymentId: id, paidCents } = candidate;
    const before = this.displaced.has(id) ? paidCentsWhenDisplaced(candidate) : paidCents;
    return before + (this.paid.get(id) ?? 0n);
  }

  isDisplaced(expectedPaymentId: string): boolean {
    return this.displaced.has(expectedPaymentId);
  }

  /** The part of a credit that lines of this batch refund. */
  refundedCents(creditNsu: bigint): bigint {
    return this.refundedCredits.get(creditNsu) ?? 0n;
  }

  addRefunded(creditNsu: bigint, amountCents: bigint): void {
    this.refundedCredits.set(creditNsu, this.refundedCents(creditNsu) + amountCents);
  }

  reversedCents({ expectedPaymentId: id, reversedCents }: Candidate): bigint {
    return (this.displaced.has(id) ? 0n : reversedCents) + (this.reversed.get(id) ?? 0n);
  }

  /** The cents that lines of this batch pay, minus the cents that they reverse. */
  netCentsInBatch(expectedPaymentId: string): bigint {
    return (this.paid.get(expectedPaymentId) ?? 0n) - (this.reversed.get(expectedPaymentId) ?? 0n);
  }

  /**
   * The line that paid it before this batch; null if none, or if a line of the batch paid it since.
   */
  payingLineBefore({ expectedPaymentId: id, payingLine }: Candidate): PayingLine | null {
    return this.paid.has(id) || this.displaced.has(id) ? null : (payingLine ?? null);
  }

  /** Whether a reversal at this time may be of the second debit instead of the matched one. */
  isDebitedAgain({ expectedPaymentId, debitedAgainAt }: Candidate, before: Date): boolean {
    const inBatch = this.debitedAgain.get(expectedPaymentId);
    return [debitedAgainAt, inBatch].some((at) => at && at <= before);
  }

  addDuplicate(expectedPaymentId: string, at: Date): void {
    const known = this.debitedAgain.get(expectedPaymentId);
    if (!known || at < known) this.debitedAgain.set(expectedPaymentId, at);
  }

  add(match: Matched): void {
    const { expectedPaymentId, role, amountCents } = match;
    if (match.role === 'payment' && match.displaces) this.displaced.add(expectedPaymentId);
    const sums = role === 'payment' ? this.paid : this.reversed;
    sums.set(expectedPaymentId, (sums.get(expectedPaymentId) ?? 0n) + amountCents);
  }
}

/**
 * The cents that stay paid after a line displaces earlier matches. A credit loses only its
 * provisional matches by rules; a debit loses all.
 */
export function paidCentsWhenDisplaced({
  isCredit,
  paidCents,
  provisionalRuleCents = 0n,
}: Candidate): bigint {
  return isCredit ? paidCents - provisionalRuleCents : 0n;
}
// The subject of a break: a break is unique by (account, kind, subject).
export function subjectOfLine(nsu: bigint): string {
  return `nsu:${nsu}`;
}

export function subjectOfExpected(expectedPaymentId: string): string {
  return `expected_payment:${expectedPaymentId}`;
}

/** A line that arrived late: its day already had a certificate. */
export function subjectOfLate(date: string, nsu: bigint): string {
  return `day:${date}/${nsu}`;
}
