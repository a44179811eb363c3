// The facts that outcomes are computed from, and what is computed. Facts are never changed by
// reconciliation: the same facts give the same outcomes, in any order of arrival.
import type { WithdrawalKind } from '../../statement/expected-payments/facts.js';
import type { CreditDays } from '../../statement/expected-payments/credit-days.js';
import type { DueDates } from '../../statement/expected-payments/due-dates.js';
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import type { Reference } from '../../statement/expected-payments/references.js';
import type { PossibleOriginal } from '../../statement/expected-payments/refunds-by-payer.js';
import type { AcceptedAmounts } from '../../statement/expected-payments/settlement.js';
import type { DeclaredFacts } from './declared-conditions.js';
import type { AppliedRule } from './rule.js';
import type { FoundBreakKind, LineBreakKind, SettlementBreakKind } from './break-kinds.js';
import type { ClassificationCategory } from '../../generated/service/client.js';

export interface ReferenceEvidence {
  referenceKind: string;
  referenceValue: string;
}

/** A version of a rule of the account's own. */
export interface DeclaredRule {
  ruleId: string;
  version: number;
}

/** A statement line, with the ids that may tie it to expected payments. */
export interface StatementLineFacts {
  nsu: bigint;
  isCredit: boolean;
  /** Never negative. */
  amountCents: bigint;
  typeName: string;
  /** At the bank. */
  occurredAt: Date;
  /** By PostgreSQL's clock. */
  recordedAt: Date;
  /** The day on which a credit was paid, where the bank shows it. */
  paidOn: string | null;
  idempotencyKey: string | null;
  movementId: string | null;
  endToEndId: string | null;
  externalId: string | null;
  correlationId: string | null;
  billCode: string | null;
  /** The Pix that the line refunds or reverses, by the line or else by a webhook about it. */
  originalEndToEndId: string | null;
  /** Ids that the line lacks and an authenticated webhook about it has. */
  reported: readonly Reference[];
  /** `ispb/branch/number`. */
  counterparty: string | null;
  counterpartyDocument: string | null;
  notes: string | null;
  /** Stored so recently that the line which it reverses may still arrive. */
  isFresh: boolean;
  /** Another account of the service, of the same holder, sent this credit. */
  isFromOwnAccount: boolean;
  /** A credit with the endToEndId of an earlier debit, unless both parties are this account. */
  undoesDebit: boolean;
}

/** What should appear on the statement, with the facts of the operation that expects it. */
export interface ExpectedPaymentFacts extends DueDates {
  id: string;
  /** Null when another system declared it. */
  operationId: string | null;
  /** The kind of the operation, or `declared`. */
  kind: string;
  isCredit: boolean;
  /** Null when the payer chooses the amount. */
  amountCents: bigint | null;
  terms: string | null;
  isMultiUse: boolean;
  counterpartyDocument: string | null;
  /** On PostgreSQL's clock, and on the bank's. */
  createdAt: Date;
  createdAtBankTime: Date;
  references: readonly Reference[];
  /** Null when the operation is not in the journal. */
  operationState: string | null;
  /** The bank has not confirmed the operation: its debit may carry none of our ids. */
  isWithoutResponse: boolean;
  /** The span of bank time in which the money can have moved; null without an attempt. */
  effect: { from: Date; until: Date } | null;
  /** The last fact that says that no payment is expected; a revocation by a line is left out. */
  withdrawal: WithdrawalKind | null;
  /** No payment is expected: no later fact says the contrary. */
  isWithdrawn: boolean;
  /** When its money should have moved: accepted, scheduled or in effect. In bank time. */
  effectiveAt: Date | null;
  charge: ChargeFacts | null;
  transfer: TransferFacts | null;
  bill: BillFacts | null;
  /** The credit that our refund refunds. */
  refundOfNsu: bigint | null;
  /** What settles a declared payment exactly; null for a payment of an operation. */
  accepted: AcceptedAmounts | null;
  declared: DeclaredFacts | null;
  /** Shown in events; nothing is decided by it. */
  metadata: Metadata | null;
}

export interface ChargeFacts {
  correlationId: string;
  type: string;
  /** When the bank was found to have cancelled it, in bank time. */
  cancelledAt: Date | null;
  /** When it was found unpaid after its last day, in bank time. */
  expiredAt: Date | null;
}

export interface BillFacts {
  state: string;
  bankId: string | null;
  bankStatus: string | null;
  scheduledFor: Date | null;
  /** The last time at which the bank may still execute the payment, in bank time. */
  mayGoUntil: Date | null;
  /** The payment no longer blocks another payment of its bill. */
  isFreed: boolean;
  /** The bill has another payment that was neither rejected, failed nor freed. */
  hasOtherLive: boolean;
  /** What the bill allowed to be paid; null where that is unknown. */
  minimumCents: bigint | null;
  maximumCents: bigint | null;
}

export interface OperationFacts {
  id: string;
  kind: string;
  state: string;
  /** Why its outcome is unknown. */
  reason: string | null;
  attempts: number;
  /** The total of its expected payments; null when it has none. */
  amountCents: bigint | null;
}

export interface TransferFacts {
  id: string;
  externalId: string | null;
  endToEndId: string | null;
  errorCode: string | null;
  /** The bank reported it as failed: less than a visibility bound ago, or before. */
  failure: 'recent' | 'past' | null;
}

/** A person's link of a whole line, and not undone by a person. */
export interface ManualLink {
  nsu: bigint;
  /** Empty for a debit that is linked to what it refunds. */
  allocations: readonly { expectedPaymentId: string; amountCents: bigint }[];
  /** What a debit refunds: received payments, by their lines. */
  refundOf: readonly RefundedPart[];
  decidedBy: DecisionMaker;
}

export interface RefundedPart {
  originalNsu: bigint;
  amountCents: bigint;
  /** Which of the payments that the line makes was refunded; null unless the person said so. */
  expectedPaymentId: string | null;
}

/** A line and an expected payment that a person separated: nothing matches them automatically. */
export interface SeparatedPair {
  nsu: bigint;
  expectedPaymentId: string;
}

/**
 * A match that recomputation keeps: its period was closed, its charge was cancelled, or the
 * personal data that it was made by was erased.
 */
export interface FinalMatch {
  nsu: bigint;
  expectedPaymentId: string;
  amountCents: bigint;
  rule: 'declared' | 'counterparty';
  owedCents: bigint | null;
  isTolerated: boolean;
  /** Null unless a rule of the account's own made it. */
  declared: DeclaredRule | null;
  evidence: object;
}

/** A classification by a rule that recomputation keeps. */
export interface FinalClassification {
  nsu: bigint;
  category: ClassificationCategory;
  reason: string | null;
  evidence: object;
  ruleId: string;
  version: number;
}

/** What people and policies decided about a break, in the order of their sequence. */
export interface BreakDecision {
  breakId: string;
  kind: string;
  subject: string;
  nsu: bigint | null;
  expectedPaymentId: string | null;
  action: 'accept' | 'refund' | 'reopen' | 'link' | 'unlink' | 'resend';
  actor: string;
  reason: string | null;
  /** What an acceptance covers, or the amount of the break when its refund was requested. */
  cents: bigint | null;
  /** The expected payment of the requested refund. */
  refundPaymentId: string | null;
}

export interface Facts {
  lines: readonly StatementLineFacts[];
  expectedPayments: readonly ExpectedPaymentFacts[];
  operations: readonly OperationFacts[];
  links: readonly ManualLink[];
  separated: readonly SeparatedPair[];
  finalMatches: readonly FinalMatch[];
  finalClassifications: readonly FinalClassification[];
  decisions: readonly BreakDecision[];
  rules: readonly AppliedRule[];
  /** Of debits that no id and no person ties to the Pix that they refund. */
  possibleOriginals: ReadonlyMap<bigint, readonly PossibleOriginal[]>;
  /** Lines before it need no explanation. */
  goLiveAt: Date;
  /** When another system may have sent money from the account. */
  othersSent: readonly OthersPeriod[];
  /** The history that the first sync imported: what happened before the account was added. */
  imported: Pick<OthersPeriod, 'recordedUntil' | 'occurredUntil'>;
  /** In bank time: every line before it is decided. Null before the first complete sync. */
  asOf: Date | null;
  /** How long after its effective time a debit without a line is missing. */
  debitMissingMs: number;
  creditDays: CreditDays;
}

/**
 * Lines that were stored in this period, or later about a time before its end: the account was
 * reconcile-only, or a restored database lacked operations.
 */
export interface OthersPeriod {
  /** By PostgreSQL's clock; null without a limit. */
  recordedFrom: Date | null;
  recordedUntil: Date | null;
  /** The end by the bank's clock. */
  occurredUntil: Date | null;
}

export const matchRules = [
  ...(['manual', 'reference', 'original', 'counterparty', 'declared', 'reversal'] as const),
] as const;
export type MatchRule = (typeof matchRules)[number];

/** A line, or part of it, that accounts for an expected payment. */
export interface LineAllocation {
  nsu: bigint;
  expectedPaymentId: string;
  amountCents: bigint;
  role: 'payment' | 'reversal';
  rule: MatchRule;
  /** The total owed by a rule on that day; null where the terms of the payment decide. */
  ruleOwedCents: bigint | null;
  /** The rule accepted a difference between the amount paid and the amount owed. */
  isTolerated: boolean;
  declared: DeclaredRule | null;
  evidence: object;
  /** Who linked the line and why; null unless a person did. */
  linkedBy: DecisionMaker | null;
}

export interface DecisionMaker {
  actor: string;
  reason: string;
}

/** What a line is decided to be, if it has no allocation. */
export type UnmatchedOutcome =
  | {
      outcome: 'classified';
      category: ClassificationCategory;
      rule: string;
      reason: string | null;
      evidence: object;
      declared: DeclaredRule | null;
    }
  | {
      outcome: 'break';
      kind: LineBreakKind;
      /** The one expected payment that was already paid or has another amount. */
      expectedPaymentId: string | null;
      /** The references of what the line may be. */
      candidates: readonly ReferenceEvidence[];
      /** The credit that the line names as its original. */
      originalNsu: bigint | null;
    }
  /**
   * An operation in progress may explain it, or a line that may still come. `candidateIds`: the
   * expected payments that it may pay.
   */
  | { outcome: 'pending'; waitsFor: 'operation' | 'line'; candidateIds: readonly string[] };

/** What is wrong about a payment, an operation or a bill. */
export interface PaymentFinding {
  kind: SettlementBreakKind | FoundBreakKind;
  subject: string;
  /** The line that the break is about, or that shows its cause; null when there is none. */
  nsu: bigint | null;
  /** Null when the break is about an operation that moves no money. */
  amountCents: bigint | null;
  expectedPaymentId: string | null;
  /** The operation that the finding itself is about. */
  operationId?: string;
  evidence: object;
}
