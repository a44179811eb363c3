// What did not come: expected payments without a line at their deadline, and operations and bill
// payments whose outcome nobody knows. Deadlines are in bank time.
import {
  addBusinessDays,
  addDays,
  oncePerDay,
  rollToBusinessDay,
  type PlainDate,
} from '../../brazil/calendar.js';
import { saoPauloDay, statementDayStart } from '../../brazil/statement-day.js';
import { creditDaysOf, maxCreditDays } from '../../statement/expected-payments/credit-days.js';
import { invariant } from '../../platform/errors.js';
import type { Component } from './component.js';
import { openInstalments, readInstalment } from './instalments.js';
import type {
  BreakDecision,
  ExpectedPaymentFacts,
  Facts,
  OperationFacts,
  PaymentFinding,
} from './model.js';
import {
  subjectOfBill,
  subjectOfExpected,
  subjectOfOperation,
  type DeadlineBreakKind,
} from './break-kinds.js';

/** The deadline of an unpaid payment that has not passed; null when it has none or has passed. */
export function comingDeadline(component: Component, payment: ExpectedPaymentFacts): Date | null {
  const [next] = instalmentsToCome(component, payment);
  if (next) return next.at;
  const deadline = unmetDeadline(component, payment);
  return deadline && !hasPassed(component, deadline) ? deadline.at : null;
}

function unmetDeadline(component: Component, payment: ExpectedPaymentFacts): Deadline | null {
  if (component.paidCents(payment.id) > 0n) return null;
  return deadlineOf(payment, component.facts);
}

interface ComingInstalment {
  cents: bigint;
  /** In bank time. */
  at: Date;
}

/** The open instalments of a payment in instalments whose deadline has not passed, in order. */
export function instalmentsToCome(
  component: Component,
  payment: ExpectedPaymentFacts,
): ComingInstalment[] {
  const paid = component.paymentsOf(payment.id);
  const plan = paid.flatMap(({ allocation }) => readInstalment(allocation.evidence) ?? []).at(-1);
  if (!plan || !isStillExpected(payment)) return [];
  const payments = paid.map(({ line }) => line);
  const terms = { ...payment, createdAt: payment.createdAtBankTime };
  return (openInstalments(plan, terms, payments) ?? [])
    .map(({ cents, day }) => ({
      cents,
      at: statementDayStart(
        missingFrom(addDays(day, plan.toleranceDays), latestCredit(payment, component.facts)),
      ),
    }))
    .filter((deadline) => !hasPassed(component, deadline));
}

const hasPassed = ({ facts: { asOf } }: Component, { at }: Pick<Deadline, 'at'>): boolean =>
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
  { id, operationId, kind: operationKind, ...payment }: ExpectedPaymentFacts,
  { at, dueDay }: Deadline,
): PaymentFinding {
  const day = at.toISOString().slice(0, 10);
  const { declared, accepted } = payment;
  const evidence = {
    ...{ operationId, operationKind, dueDate: dueDay },
    ...(declared ? { externalId: declared.externalId } : {}),
    deadline: dueDay === null ? at.toISOString() : day,
  };
  const subject = subjectOfExpected(id);
  // Of a range, at least so much is missing.
  const amountCents = payment.amountCents ?? accepted?.fromCents ?? null;
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
  const subject = subjectOfBill(operationId ?? id);
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

/** Sent money is debited at once; no bank has taken more than an hour to show it. */
const sentMoneyMs = 3_600_000;
/** How long after its last possible debit a scheduled bill payment gets a break. */
const scheduledBillMs = 24 * 3_600_000;
/** Charges due later are never missing: the calendar ends in 2199. */
const lastDueDay = '2198-12-31';

/**
 * The first day on which a payment of this due date is missing. A due date that is no business day
 * moves to the next one, and a payment on its last day is credited after the credit days.
 */
export function missingFrom(dueDate: PlainDate, creditDays: number): PlainDate {
  return addDays(addBusinessDays(rollToBusinessDay(dueDate), creditDays), 1);
}

function latestCredit({ charge }: ExpectedPaymentFacts, { creditDays }: DeadlineTerms): number {
  return creditDaysOf(creditDays, charge?.type ?? null).most;
}

/** How long after its acceptance or effective time a debit without a line is missing. */
export function debitMissingAfterMs(visibilityBoundMs: number | null): number {
  return Math.max(sentMoneyMs, visibilityBoundMs ?? 0);
}

/** How late money may show on the statement. */
export type DeadlineTerms = Pick<Facts, 'debitMissingMs' | 'creditDays'>;

export interface Deadline {
  kind: DeadlineBreakKind;
  /** In bank time. */
  at: Date;
  /** The due date, or the payment day of a bill; null when the deadline is a time and not a day. */
  dueDay: PlainDate | null;
}

/**
 * The deadline of a payment that no line has paid; null when it has none. Payments of a free amount
 * and multi-use QR codes have none; nor has an operation whose outcome is unknown, whose break is
 * of another kind.
 */
export function deadlineOf(payment: ExpectedPaymentFacts, terms: DeadlineTerms): Deadline | null {
  const { bill, effectiveAt, transfer } = payment;
  const deadlineOfDay = (dueDay: PlainDate | null) =>
    deadlineOfDueDay(dueDay, latestCredit(payment, terms));
  if (bill?.state === 'scheduled' && bill.mayGoUntil !== null)
    return { kind: 'unknown_outcome', at: after(bill.mayGoUntil, scheduledBillMs), dueDay: null };
  if (payment.declared) return isStillExpected(payment) ? deadlineOfDay(payment.dueDate) : null;
  if (payment.isMultiUse || payment.amountCents === null) return null;
  if (payment.operationState !== 'succeeded' || !isStillExpected(payment)) return null;
  if (payment.isCredit) return deadlineOfDay(payment.dueDate);
  if (effectiveAt === null) return null;
  if (bill) return bill.state === 'paid' ? deadlineOfDay(saoPauloDay(effectiveAt)) : null;
  if (transfer?.failure) return null;
  return { kind: 'missing', at: after(effectiveAt, terms.debitMissingMs), dueDay: null };
}

function deadlineOfDueDay(dueDay: PlainDate | null, creditDays: number): Deadline | null {
  if (dueDay === null || dueDay > lastDueDay) return null;
  const deadline = deadlines[creditDays];
  invariant(deadline, 'credit days are a whole number up to their maximum');
  return deadline(dueDay);
}

/** By the credit days. */
const deadlines = Array.from({ length: maxCreditDays + 1 }, (_, creditDays) =>
  oncePerDay((dueDay): Readonly<Deadline> => {
    return { kind: 'missing', at: statementDayStart(missingFrom(dueDay, creditDays)), dueDay };
  }),
);

/**
 * Null when there is none. The calendar does not reach the latest days that a bank accepts. What we
 * scheduled is due on any day.
 */
export function lastPaymentDayOf({
  dueDate,
  isCredit,
  declared,
}: ExpectedPaymentFacts): PlainDate | null {
  const isScheduled = !isCredit && declared === null;
  if (dueDate === null || dueDate > lastDueDay || isScheduled) return dueDate;
  return rollToBusinessDay(dueDate);
}

/** No fact says that the payment will not come. */
export function isStillExpected({ isWithdrawn, charge }: ExpectedPaymentFacts): boolean {
  return !isWithdrawn && (charge?.cancelledAt ?? null) === null;
}

function after(instant: Date, ms: number): Date {
  return new Date(instant.getTime() + ms);
}
