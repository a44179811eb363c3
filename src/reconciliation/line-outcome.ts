// What the judge is given, and what it says: lines, the records of ours that they could be, and verdicts.
import type { PaidSettlement } from '../expected-payments/settlement.js';

export interface LineFacts {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
  endToEndId: string | null;
  originalEndToEndId: string | null;
  occurredAt: Date;
  /** It came so lately that the line of what it gives back may still be on its way. */
  isFresh: boolean;
}

/** A line that pays a debit of ours, before those that are judged. */
export interface PaidBy {
  nsu: bigint;
  occurredAt: Date;
  /** `reference` where ids on the line said so, `hand` where a person did. */
  rule: string;
  /** The window of its line has closed: what a rule of the account's own said there stays. */
  isClosed?: boolean;
}

/** An expected payment that a reference on the line names. */
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
  /** Live payments before this line, in cents. */
  paidCents: bigint;
  /** What of them has come back before this line, in cents. */
  returnedCents: bigint;
  isMultiUse: boolean;
  dueDate: string | null;
  terms: string | null;
  /** The line that paid it, where it is a debit: what comes to pay it again may take its place. */
  paidBy?: PaidBy | null;
  /** When it was debited once more, where that is nobody's yet: what comes back may be of either. */
  debitedAgainAt?: Date | null;
  /** Of a credit: what the account's own rules say has paid it while their windows are open. A line that names it goes first. */
  heldByRuleCents?: bigint;
  /** It was asked for after the line had happened. */
  isLater?: boolean;
  /** Nothing was to come any more: the bank had refused it or failed, or it was proven not executed. */
  isWithdrawn: boolean;
  referenceKind: string;
  referenceValue: string;
  /** The line names it as what it gives back, and not by an id of its own. */
  isOriginal: boolean;
}

/** A payment that should go out and was not seen, of an operation that the bank has not answered. */
export interface OpenDebit extends Candidate {
  amountCents: bigint;
  /** By which shared reference it and the line agree; null where one of them tells none. */
  tie: 'original' | 'counterparty' | null;
  /** It has a reference that only an answer of the bank tells: a line that is it would carry that. */
  isKnownToBank: boolean;
  createdAt: Date;
  /** When its movement can have happened, by the bank's clock. */
  from: Date;
  until: Date;
}

/** A credit that a debit names as what it gives back: one for each payment that it was of, or one alone where it is none's. */
export interface Received {
  creditNsu: bigint;
  creditCents: bigint;
  /** What of the credit had gone back before. */
  refundedCents: bigint;
  endToEndId: string;
  paid: ReceivedPayment | null;
}

export type ReceivedPayment = Pick<
  Candidate,
  'expectedPaymentId' | 'operationId' | 'kind' | 'operationState'
> & {
  amountCents: bigint;
  /** By which the credit was matched. */
  rule: string;
  /** What is paid of it before this batch, less what went back; unknown where the credit is of the batch. */
  leftCents?: bigint;
};

export interface Evidence {
  referenceKind: string;
  referenceValue: string;
}

export type ReversalSettlement =
  | 'refunded'
  | 'partially_refunded'
  | 'reversed'
  | 'partially_reversed';

interface MatchedAs {
  outcome: 'matched';
  nsu: bigint;
  expectedPaymentId: string;
  operation: Pick<Candidate, 'operationId' | 'kind' | 'operationState'>;
  amountCents: bigint;
  evidence: Evidence;
  /** What was owed in all on the day; null when the payer chose, and for what came back. */
  owedCents: bigint | null;
  /** The account's own rule that said so; null where ids or the house's rules did. */
  declared: DeclaredRule | null;
}

export type Matched = MatchedAs &
  (
    | {
        role: 'payment';
        rule: 'reference' | 'original' | 'counterparty' | 'declared';
        settlement: PaidSettlement;
        /** What was matched to the payment before is to be judged again without it: this line comes first. */
        displaces: boolean;
        /** Nothing was to come any more. */
        wasWithdrawn: boolean;
      }
    | { role: 'reversal'; rule: 'reversal'; settlement: ReversalSettlement }
  );

/** What a line is that needs no match. */
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
  /** `before_go_live`, `own_account_transfer`, `hand`, `refund`, or `declared`. */
  rule: string;
  category: Category;
  reason: string | null;
  evidence: object;
  declared: DeclaredRule | null;
}

/** Why a line is explained by nothing. */
export const lineBreakKinds = [
  'unexpected',
  'ambiguous',
  'duplicate_payment',
  'amount_mismatch',
] as const;
export type LineBreakKind = (typeof lineBreakKinds)[number];

/** What is wrong with what was paid of an expected payment, though its lines are matched. */
export const settlementBreakKinds = [
  'underpaid',
  'overpaid',
  'duplicate_payment',
  'paid_after_cancellation',
  'paid_after_expiry',
] as const;
export type SettlementBreakKind = (typeof settlementBreakKinds)[number];

/** While one of these is open, the line that it is of is in a break, whatever else is known of it. */
export const explainingBreakKinds: string[] = [
  ...new Set<string>([...lineBreakKinds, ...settlementBreakKinds]),
];

export interface Broken {
  outcome: 'break';
  nsu: bigint;
  kind: LineBreakKind;
  amountCents: bigint;
  /** The one payment that it would have paid, had it not been paid already or been of another amount. */
  expectedPaymentId: string | null;
  /** The expected payments that a reference names, where that did not decide it. */
  candidates: Evidence[];
  /** The line that it gives back, where that is nobody's or has gone back already. */
  originalNsu?: bigint;
}

/** What is under way may explain the line: it is judged again. */
export interface Deferred {
  outcome: 'deferred';
  nsu: bigint;
  amountCents: bigint;
}

export type LineOutcome = Matched | Classified | Broken | Deferred;

/** Whether what was matched before is to be judged again. */
export function displaces(outcome: LineOutcome): outcome is Matched {
  return outcome.outcome === 'matched' && outcome.role === 'payment' && outcome.displaces;
}

export function evidenceOf({ referenceKind, referenceValue }: Evidence): Evidence {
  return { referenceKind, referenceValue };
}

/** What lines of one batch have paid and given back so far, on top of what was there before. */
export class PaidTotals {
  private readonly paid = new Map<string, bigint>();
  private readonly returned = new Map<string, bigint>();
  /** Payments whose earlier matches count no more. */
  private readonly displaced = new Set<string>();
  private readonly debitedAgain = new Map<string, Date>();
  private readonly refundedCredits = new Map<bigint, bigint>();

  paidCents(candidate: Candidate): bigint {
    const { expectedPaymentId: id, paidCents } = candidate;
    const before = this.displaced.has(id) ? leftOf(candidate) : paidCents;
    return before + (this.paid.get(id) ?? 0n);
  }

  isDisplaced(expectedPaymentId: string): boolean {
    return this.displaced.has(expectedPaymentId);
  }

  /** What lines of this batch give back of a credit. */
  refundedCents(creditNsu: bigint): bigint {
    return this.refundedCredits.get(creditNsu) ?? 0n;
  }

  addRefunded(creditNsu: bigint, amountCents: bigint): void {
    this.refundedCredits.set(creditNsu, this.refundedCents(creditNsu) + amountCents);
  }

  returnedCents({ expectedPaymentId: id, returnedCents }: Candidate): bigint {
    return (this.displaced.has(id) ? 0n : returnedCents) + (this.returned.get(id) ?? 0n);
  }

  /** What lines of this batch pay of it, less what they give back. */
  remainingCents(expectedPaymentId: string): bigint {
    return (this.paid.get(expectedPaymentId) ?? 0n) - (this.returned.get(expectedPaymentId) ?? 0n);
  }

  /** What paid it before this batch; null when nothing did, or a line of the batch has paid it since. */
  paidBefore({ expectedPaymentId: id, paidBy }: Candidate): PaidBy | null {
    return this.paid.has(id) || this.displaced.has(id) ? null : (paidBy ?? null);
  }

  /** Whether what comes back at this time may be of another debit than the payment's own. */
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
    const sums = role === 'payment' ? this.paid : this.returned;
    sums.set(expectedPaymentId, (sums.get(expectedPaymentId) ?? 0n) + amountCents);
  }
}

/** What stays paid of a payment whose matches give way: of a credit those of rules alone do. */
export function leftOf({ isCredit, paidCents, heldByRuleCents = 0n }: Candidate): bigint {
  return isCredit ? paidCents - heldByRuleCents : 0n;
}
