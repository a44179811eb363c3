// What is wrong about payments: amounts and repetitions, and lines that contradict a conclusion.
import { findSettlementBreaks, type Finding, type ReviewedCredit } from './settlement-findings.js';
import type { FoundBreakKind } from './break-kinds.js';
import type { ExpectedPaymentFacts } from './model.js';
import type { Component } from './component.js';
import type { AllocationResults } from './settlement-after.js';
import { subjectOfOperation } from './outcome.js';

export interface PaymentFinding {
  kind: Finding['kind'] | FoundBreakKind;
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

/** Findings about the payments of charges and QR codes. */
export function findSettlementFindings(
  component: Component,
  results: AllocationResults,
): PaymentFinding[] {
  const credits = component.facts.expectedPayments
    .filter(({ isCredit }) => isCredit)
    .flatMap((payment): ReviewedCredit[] => {
      const payments = component.paymentsOf(payment.id).map(({ line, allocation }) => {
        const { nsu, rule, amountCents, ruleOwedCents, isTolerated } = allocation;
        const refundedCents = results.get(allocation)?.refundedCents ?? 0n;
        const toleratedCents = isTolerated ? ruleOwedCents : null;
        const { occurredAt } = line;
        return { nsu, occurredAt, rule, amountCents, refundedCents, toleratedCents };
      });
      if (payments.length === 0) return [];
      const { cancelledAt = null, expiredAt = null } = payment.charge ?? {};
      return [{ ...payment, expectedPaymentId: payment.id, cancelledAt, expiredAt, payments }];
    });
  return findSettlementBreaks(credits);
}

/**
 * Lines of payments that were proven absent, failed or given up. The conclusion that the line
 * contradicts stays a fact, also after it is revoked.
 */
export function findLateLines(component: Component): PaymentFinding[] {
  const bySubject = new Map<string, PaymentFinding>();
  const payments = [...component.facts.expectedPayments].sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const finding of payments.flatMap((payment) => findingOf(component, payment))) {
    const key = `${finding.kind} ${finding.subject}`;
    const other = bySubject.get(key);
    const amountCents = (finding.amountCents ?? 0n) + (other?.amountCents ?? 0n);
    bySubject.set(key, { ...(other ?? finding), amountCents });
  }
  return [...bySubject.values()];
}

function findingOf(component: Component, payment: ExpectedPaymentFacts): PaymentFinding[] {
  const { id, operationId, withdrawal, transfer } = payment;
  const netCents = component.netCents(id);
  const [first] = component.paymentsOf(id);
  if (!first) return [];
  const isConcluded = withdrawal !== null && withdrawal !== 'rejected';
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
  if (!isLate) return [];
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
