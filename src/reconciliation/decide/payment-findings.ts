// What is wrong about payments: amounts and repetitions, and lines that contradict a conclusion.
// Each review of a charge or QR code starts from all of its lines in the order of time, so that
// their order of arrival changes nothing.
import { parseAdjustments } from '../../bank-contract/charge-terms.js';
import type { CreditedLine } from '../../statement/expected-payments/credit-days.js';
import {
  differentParts,
  type DifferentPart,
  type PaymentPart,
} from '../../statement/expected-payments/payment-parts.js';
import {
  mayBePaidInTime,
  unrefundedPayments,
  owedCentsWhenPaid,
  type ExpectedTerms,
} from '../../statement/expected-payments/settlement.js';
import { formatReais } from '../../brazil/cents.js';
import { breakKinds } from './break-kind-declarations.js';
import {
  subjectOfOperation,
  subjectOfExpected,
  subjectOfLine,
  type SettlementBreakKind,
} from './break-kinds.js';
import { compareLines, type Component } from './component.js';
import { instalmentsToCome } from './missing.js';
import type { ExpectedPaymentFacts, LineAllocation, PaymentFinding } from './model.js';
import type { AllocationResults } from './totals.js';

/**
 * Findings about the payments of charges and QR codes, and of declared payments, also of those that
 * are sent.
 */
export function findSettlementFindings(
  component: Component,
  results: AllocationResults,
): PaymentFinding[] {
  const reviewed: ReviewedExpectedPayment[] = [];
  for (const payment of component.facts.expectedPayments) {
    const { charge, declared, accepted } = payment;
    const paid = payment.isCredit || declared ? component.paymentsOf(payment.id) : [];
    if (paid.length === 0) continue;
    reviewed.push({
      expectedPaymentId: payment.id,
      amountCents: payment.amountCents,
      dueDate: payment.dueDate,
      dueDates: payment.dueDates,
      terms: payment.terms,
      accepted,
      parts: declared?.parts ?? [],
      isMultiUse: payment.isMultiUse,
      cancelledAt: charge?.cancelledAt ?? declared?.cancelledAt ?? null,
      expiredAt: charge?.expiredAt ?? null,
      notDueCents: instalmentsToCome(component, payment).reduce(
        (sum, { cents }) => sum + cents,
        0n,
      ),
      payments: paid.map(({ line, allocation }) => ({
        ...component.paid(line),
        ...reviewedPayment(allocation, results),
      })),
    });
  }
  return findSettlementBreaks(reviewed);
}

function reviewedPayment(
  allocation: LineAllocation,
  results: AllocationResults,
): Omit<ReviewedPayment, keyof CreditedLine> {
  const { nsu, rule, amountCents, ruleOwedCents, isTolerated } = allocation;
  const refundedCents = results.get(allocation)?.refundedCents ?? 0n;
  const toleratedCents = isTolerated ? ruleOwedCents : null;
  return { nsu, rule, amountCents, refundedCents, toleratedCents };
}

/**
 * Lines of payments that were proven absent, failed or given up. The conclusion that the line
 * contradicts stays a fact, also after it is revoked.
 */
export function findLateLines(component: Component): PaymentFinding[] {
  const bySubject = new Map<string, PaymentFinding>();
  const payments = component.facts.expectedPayments
    .filter(({ withdrawal, transfer }) => withdrawal !== null || transfer?.failure)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const finding of payments.flatMap((payment) => lateFindingsOf(component, payment))) {
    const key = `${finding.kind} ${finding.subject}`;
    const other = bySubject.get(key);
    const amountCents = (finding.amountCents ?? 0n) + (other?.amountCents ?? 0n);
    bySubject.set(key, { ...(other ?? finding), amountCents });
  }
  return [...bySubject.values()];
}

function lateFindingsOf(component: Component, payment: ExpectedPaymentFacts): PaymentFinding[] {
  const { id, operationId, withdrawal, transfer } = payment;
  const netCents = component.netCents(id);
  const [first] = component.paymentsOf(id);
  if (!first) return [];
  const isConcluded = withdrawal !== null && !['rejected', 'cancelled'].includes(withdrawal);
  const isLate = isConcluded && first.allocation.rule !== 'manual';
  if (transfer?.failure) {
    // A reversal may still come within the visibility bound.
    if (netCents <= 0n || (!isLate && transfer.failure === 'recent')) return [];
    const { id: transferId, endToEndId, errorCode } = transfer;
    const subject = `transfer:${transferId}`;
    const debitNsu = first.allocation.nsu.toString();
    const evidence = { transferId, operationId, debitNsu, endToEndId, errorCode };
    const found = { subject, nsu: null, amountCents: netCents, expectedPaymentId: id, evidence };
    return [{ kind: 'failed_but_debited', ...found }];
  }
  if (!isLate || operationId === null) return [];
  const { nsu, amountCents, rule, evidence: reference } = first.allocation;
  const about = {
    kind: 'late_line' as const,
    subject: subjectOfOperation(operationId),
    operationId,
  };
  const operation = { operationId, operationKind: payment.kind };
  // Each payment of a multi-use QR code is decided apart: the finding is about the code itself.
  if (payment.isCredit && payment.isMultiUse) {
    const ofCode = { nsu: null, amountCents: payment.amountCents ?? 0n, expectedPaymentId: id };
    return [{ ...about, ...ofCode, evidence: operation }];
  }
  const evidence = { ...operation, rule, ...reference };
  return [{ ...about, nsu, amountCents, expectedPaymentId: id, evidence }];
}

export interface ReviewedPayment extends CreditedLine {
  nsu: bigint;
  /** The rule by which it was matched: `manual` when a person matched it. */
  rule: string;
  amountCents: bigint;
  /** The part that was refunded to the payer. */
  refundedCents: bigint;
  /** The total owed by the account's own rule, within its tolerance; null without such a rule. */
  toleratedCents: bigint | null;
}

export interface ReviewedExpectedPayment extends ExpectedTerms {
  expectedPaymentId: string;
  isMultiUse: boolean;
  /** When the charge was found cancelled, or expired, at the bank, by the bank's clock. */
  cancelledAt: Date | null;
  expiredAt: Date | null;
  /** The instalments that are still to come: they are not outstanding. */
  notDueCents?: bigint;
  /** What others withhold beside the amount. */
  parts?: readonly PaymentPart[];
  payments: ReviewedPayment[];
}

export interface Finding {
  kind: SettlementBreakKind;
  subject: string;
  nsu: bigint;
  amountCents: bigint;
  expectedPaymentId: string;
  evidence: object;
}

/** By precedence, the likeliest refund first: a line has one break at most. */
const rankOf = ({ kind }: Finding): number => breakKinds[kind].precedence;

/** Every settlement break that should be open for these expected payments. */
export function findSettlementBreaks(reviewed: readonly ReviewedExpectedPayment[]): Finding[] {
  const byNsu = new Map<bigint, Finding>();
  for (const finding of reviewed.flatMap(amountFindingsOf)) {
    const other = byNsu.get(finding.nsu);
    byNsu.set(finding.nsu, other ? combine(other, finding) : finding);
  }
  return [...byNsu.values()];
}

/**
 * Of two findings about one line, the one with precedence; of the same kind, both amounts together.
 */
function combine(one: Finding, other: Finding): Finding {
  if (rankOf(one) !== rankOf(other)) return rankOf(one) < rankOf(other) ? one : other;
  const [first] = [one, other].sort((a, b) => (a.expectedPaymentId < b.expectedPaymentId ? -1 : 1));
  return { ...(first ?? one), amountCents: one.amountCents + other.amountCents };
}

function amountFindingsOf(reviewed: ReviewedExpectedPayment): Finding[] {
  const payments = unrefundedPayments(reviewed.payments).sort(compareLines);
  return reviewed.isMultiUse
    ? findingsOfQr(reviewed, payments)
    : findingsOfCharge(reviewed, payments);
}

const netOf = ({ amountCents, refundedCents }: ReviewedPayment): bigint =>
  amountCents - refundedCents;

/** Each payment of a multi-use QR code is reviewed alone: none is a duplicate. */
function findingsOfQr(
  reviewed: ReviewedExpectedPayment,
  payments: readonly ReviewedPayment[],
): Finding[] {
  return payments.flatMap((payment) => {
    const { nsu, amountCents: paid, toleratedCents } = payment;
    const net = netOf(payment);
    const owed = toleratedCents ?? reviewed.amountCents;
    if (owed === null) return [];
    const found = { reviewed, nsu, evidence: { owed: formatReais(owed), paid: formatReais(paid) } };
    if (net > owed) return [finding({ ...found, kind: 'overpaid', amountCents: net - owed })];
    if (paid < owed) return [finding({ ...found, kind: 'underpaid', amountCents: owed - paid })];
    return [];
  });
}

function findingsOfCharge(
  reviewed: ReviewedExpectedPayment,
  payments: readonly ReviewedPayment[],
): Finding[] {
  const findings: Finding[] = [];
  // A partly refunded payment still settles the charge: a payment after it is a duplicate.
  let grossCents = 0n;
  let netCents = 0n;
  let isSettled = false;
  let owed: bigint | null = reviewed.amountCents;
  for (const payment of payments) {
    const { nsu } = payment;
    const wasSettled: boolean = isSettled;
    grossCents += payment.amountCents;
    netCents += netOf(payment);
    if (!wasSettled)
      owed = payment.toleratedCents ?? owedCentsWhenPaid(reviewed, grossCents, payment);
    isSettled = wasSettled || (owed !== null && grossCents >= owed);
    const excessCents: bigint = owed === null ? 0n : netCents - owed;
    const kind = kindOf(reviewed, payment, wasSettled, excessCents);
    if (kind === null) continue;
    const amountCents = kind === 'overpaid' ? excessCents : netOf(payment);
    findings.push(
      finding({
        reviewed,
        nsu,
        kind,
        amountCents,
        evidence: evidenceOf(reviewed, owed, grossCents),
      }),
    );
  }
  const last = payments.at(-1);
  const outstandingCents = last ? outstandingOf(reviewed, grossCents, last) : 0n;
  const ofLast = findings.find(({ nsu }) => nsu === last?.nsu);
  if (!last || outstandingCents <= 0n) return findings;
  if (ofLast && ofLast.kind !== 'paid_after_expiry') return findings;
  // `underpaid` precedes `paid_after_expiry`: a line has one break.
  const found = { reviewed, nsu: last.nsu, evidence: evidenceOf(reviewed, owed, grossCents) };
  const underpaid = finding({ ...found, kind: 'underpaid', amountCents: outstandingCents });
  return [...findings.filter((one) => one !== ofLast), underpaid];
}

function kindOf(
  reviewed: ReviewedExpectedPayment,
  payment: ReviewedPayment,
  wasSettled: boolean,
  excessCents: bigint,
): SettlementBreakKind | null {
  const { cancelledAt, expiredAt, amountCents, accepted = null, terms } = reviewed;
  const { occurredAt, rule } = payment;
  if (isAfterCancellation(rule, occurredAt, cancelledAt)) return 'paid_after_cancellation';
  const isChosenByPayer = amountCents === null && accepted === null;
  if (!isChosenByPayer && wasSettled) return 'duplicate_payment';
  if (!isChosenByPayer && excessCents > 0n) return 'overpaid';
  if (rule === 'manual' || expiredAt === null || occurredAt <= expiredAt) return null;
  return mayBePaidLate(terms) || mayBePaidInTime(reviewed, payment) ? null : 'paid_after_expiry';
}

/** A charge with a fine or interest may be paid late. The amount owed on that day then decides. */
function mayBePaidLate(terms: string | null): boolean {
  const { fine, interest } = parseAdjustments(terms);
  return fine !== null || interest !== null;
}

/**
 * The bank does not cancel a paid charge: a payment that references the charge came after the
 * cancellation, whatever the clocks say. A payment matched by a rule counts by its own time. A
 * manual match is never a break: a charge is often cancelled so that it is not paid twice.
 */
function isAfterCancellation(rule: string, occurredAt: Date, cancelledAt: Date | null): boolean {
  if (cancelledAt === null || rule === 'manual') return false;
  return rule !== 'declared' || occurredAt > cancelledAt;
}

/**
 * The outstanding amount. A refunded part of an instalment does not count as outstanding, because
 * the seller chose to refund it.
 */
function outstandingOf(
  reviewed: ReviewedExpectedPayment,
  grossCents: bigint,
  last: ReviewedPayment,
): bigint {
  const owed = last.toleratedCents ?? owedCentsWhenPaid(reviewed, grossCents, last);
  return owed === null ? 0n : owed - grossCents - (reviewed.notDueCents ?? 0n);
}

function evidenceOf(
  { parts = [] }: ReviewedExpectedPayment,
  owed: bigint | null,
  paid: bigint,
): object {
  const different = owed === null ? [] : differentParts(parts, paid - owed);
  return {
    ...{ owed: owed === null ? null : formatReais(owed), paid: formatReais(paid) },
    ...(different.length > 0 ? { parts: different.map(describeDifferentPart) } : {}),
  };
}

const describeDifferentPart = ({ kind, expectedCents, actualCents }: DifferentPart) => ({
  ...{ kind, expectedCents: expectedCents.toString(), actualCents: actualCents.toString() },
});

function finding({
  reviewed: { expectedPaymentId, isMultiUse },
  nsu,
  kind,
  amountCents,
  evidence,
}: Pick<Finding, 'nsu' | 'kind' | 'amountCents' | 'evidence'> & {
  reviewed: ReviewedExpectedPayment;
}): Finding {
  const isOfCharge = kind === 'underpaid' && !isMultiUse;
  const subject = isOfCharge ? subjectOfExpected(expectedPaymentId) : subjectOfLine(nsu);
  return { kind, subject, nsu, amountCents, expectedPaymentId, evidence };
}
