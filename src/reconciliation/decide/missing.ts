// What did not come: expected payments without a line at their deadline, and operations and bill
// payments whose outcome nobody knows.
import type { BreakDecision, ExpectedPaymentFacts, OperationFacts } from './model.js';
import type { Component } from './component.js';
import { deadlineOf, type Deadline } from './deadlines.js';
import { subjectOfBill, subjectOfExpected, subjectOfOperation } from './outcome.js';
import type { PaymentFinding } from './payment-findings.js';

/** The deadline of an unpaid payment that has not passed; null when it has none or has passed. */
export function comingDeadline(component: Component, payment: ExpectedPaymentFacts): Date | null {
  const deadline = unmetDeadline(component, payment);
  return deadline && !hasPassed(component, deadline) ? deadline.at : null;
}

function unmetDeadline(component: Component, payment: ExpectedPaymentFacts): Deadline | null {
  if (component.paidCents(payment.id) > 0n) return null;
  return deadlineOf(payment, component.facts.debitMissingMs);
}

const hasPassed = ({ facts: { asOf } }: Component, { at }: Deadline): boolean =>
  asOf !== null && at <= asOf;

export function findMissing(component: Component): PaymentFinding[] {
  return component.facts.expectedPayments.flatMap((payment): PaymentFinding[] => {
    const deadline = unmetDeadline(component, payment);
    if (!deadline || !hasPassed(component, deadline)) return [];
    return [
      deadline.kind === 'missing'
        ? missingPayment(payment, deadline)
        : billFinding(payment, 'unknown_outcome'),
    ];
  });
}

function missingPayment(
  { id, operationId, kind: operationKind, amountCents }: ExpectedPaymentFacts,
  { at, dueDay }: Deadline,
): PaymentFinding {
  const day = at.toISOString().slice(0, 10);
  const evidence = {
    ...{ operationId, operationKind, dueDate: dueDay },
    deadline: dueDay === null ? at.toISOString() : day,
  };
  const subject = subjectOfExpected(id);
  return { kind: 'missing', subject, nsu: null, amountCents, expectedPaymentId: id, evidence };
}

/** A bill that has another live payment, although this one was debited and not reversed. */
export function findSecondBillPayments(component: Component): PaymentFinding[] {
  return component.facts.expectedPayments
    .filter(({ id, bill }) => {
      if (!bill) return false;
      const { state, isFreed, hasOtherLive } = bill;
      return state === 'paid' && isFreed && hasOtherLive && component.netCents(id) > 0n;
    })
    .map((payment) => billFinding(payment, 'duplicate_payment'));
}

function billFinding(
  { id, operationId, amountCents, bill }: ExpectedPaymentFacts,
  kind: 'unknown_outcome' | 'duplicate_payment',
): PaymentFinding {
  const evidence = {
    ...{ operationId, bankId: bill?.bankId ?? null, bankStatus: bill?.bankStatus ?? null },
    scheduledFor: bill?.scheduledFor?.toISOString() ?? null,
    mayGoUntil: bill?.mayGoUntil?.toISOString() ?? null,
  };
  const subject = subjectOfBill(operationId);
  return { kind, subject, nsu: null, amountCents, expectedPaymentId: id, evidence };
}

/**
 * Operations whose outcome an operator must find out. After a person has resent the operation, its
 * outcome stays unknown until the response arrives.
 */
export function findUnknownOutcomes(
  operations: readonly OperationFacts[],
  decisions: readonly BreakDecision[],
): PaymentFinding[] {
  const resent = new Set(
    decisions.filter(({ action }) => action === 'resend').map(({ subject }) => subject),
  );
  return operations.flatMap(({ id, kind, state, reason, attempts, amountCents }) => {
    const subject = subjectOfOperation(id);
    const isResent = ['unknown', 'sending'].includes(state) && resent.has(subject);
    if (state !== 'needs_operator' && !isResent) return [];
    const evidence = { operationId: id, operationKind: kind, reason, attempts };
    const about = { subject, operationId: id, nsu: null, expectedPaymentId: null };
    return [{ kind: 'unknown_outcome' as const, ...about, amountCents, evidence }];
  });
}
