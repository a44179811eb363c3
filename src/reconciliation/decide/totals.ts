// What expected payments have come to: the sums that are stored so that readers need not sum, and
// the settlement as it stands after each allocation, in the order in which the lines happened. The
// event of the allocation reports that settlement.
import { outgoingSettlement } from '../../statement/expected-payments/outgoing-settlement.js';
import {
  decidingOwedCents,
  settlementOfPaidAmount,
  settlementOfPayments,
  isUnrefunded,
  owedCentsWhenPaid,
  type PaidSettlement,
} from '../../statement/expected-payments/settlement.js';
import type { ExpectedPaymentTotal, Match, Settlement } from '../../generated/service/client.js';
import { compareLines, type Component } from './component.js';
import { isStillExpected, lastPaymentDayOf, comingDeadline } from './missing.js';
import type { ExpectedPaymentFacts, LineAllocation, StatementLineFacts } from './model.js';
import { creditsRefundedBy, refundedCentsOf, shownRefundCents } from './refunds.js';

/** Settlement of a credit that was refunded, and of a debit that was reversed. */
export type ReversalSettlement = RefundSettlement | 'reversed' | 'partially_reversed';
export type RefundSettlement = 'refunded' | 'partially_refunded';

/** `isFull`: nothing is left of what was paid. */
function reversalSettlement(payment: { isCredit: boolean; isFull: boolean }): ReversalSettlement {
  const { isCredit, isFull } = payment;
  if (isCredit) return isFull ? 'refunded' : 'partially_refunded';
  return isFull ? 'reversed' : 'partially_reversed';
}

/** Of a payment; its `deadline` is null when that has passed or never comes. */
export type PaymentTotal = Omit<ExpectedPaymentTotal, 'accountId' | 'expectedPaymentId'>;
/** `unrefundedCents`: the total of the payments that were not refunded in full. */
export type PaymentSums = Omit<PaymentTotal, 'settlement' | 'lastPaymentDay' | 'deadline'>;

/** A matched part of a line, of which `refundedCents` were refunded. */
export type CountedAllocation = Pick<Match, 'role' | 'amountCents' | 'refundedCents'>;

function sumsOf(allocations: readonly CountedAllocation[]): PaymentSums {
  const sums = {
    paymentCount: 0,
    paidCents: 0n,
    reversedCents: 0n,
    refundedCents: 0n,
    unrefundedCents: 0n,
  };
  for (const { role, amountCents, refundedCents } of allocations) {
    if (role === 'reversal') sums.reversedCents += amountCents;
    if (role !== 'payment') continue;
    sums.paymentCount += 1;
    sums.paidCents += amountCents;
    sums.refundedCents += refundedCents;
    if (isUnrefunded({ amountCents, refundedCents })) sums.unrefundedCents += amountCents;
  }
  return sums;
}

/** The total of a payment whose lines are all known. */
export function totalOfPayment(decision: Allocated, payment: ExpectedPaymentFacts): PaymentTotal {
  return {
    settlement: settlementOf(decision, payment),
    lastPaymentDay: lastPaymentDayOf(payment),
    deadline: comingDeadline(decision.component, payment),
    ...sumsOf(countedAllocations(decision, payment.id)),
  };
}

/** The sums of a multi-use QR code, of whose lines only some are known: they changed so. */
export function sumsOfCode(
  stored: PaymentSums | undefined,
  change: { matches: readonly CountedAllocation[]; now: readonly CountedAllocation[] },
): PaymentSums {
  const before = sumsOf(change.matches);
  const now = sumsOf(change.now);
  const changed = (name: Exclude<keyof PaymentSums, 'paymentCount'>) =>
    (stored?.[name] ?? 0n) - before[name] + now[name];
  return {
    paymentCount: (stored?.paymentCount ?? 0) - before.paymentCount + now.paymentCount,
    paidCents: changed('paidCents'),
    reversedCents: changed('reversedCents'),
    refundedCents: changed('refundedCents'),
    unrefundedCents: changed('unrefundedCents'),
  };
}

/** `owedCents`: what was owed for its last payment, where they do not sum to its amount. */
export function totalOfCode(
  code: ExpectedPaymentFacts,
  sums: PaymentSums,
  owedCents: bigint | null,
): PaymentTotal {
  return {
    settlement: settlementOfCode(code, sums, owedCents),
    lastPaymentDay: lastPaymentDayOf(code),
    deadline: null,
    ...sums,
  };
}

function settlementOfCode(
  code: ExpectedPaymentFacts,
  { paidCents, unrefundedCents }: PaymentSums,
  amountCents: bigint | null,
): Settlement {
  if (paidCents === 0n) return unpaidSettlement(code);
  if (unrefundedCents === 0n) return 'refunded';
  return settlementOfPaidAmount({ amountCents, isMultiUse: true }, unrefundedCents);
}

/** The allocations of a payment, with what was refunded of each. */
export function countedAllocations(
  { component, results }: Allocated,
  expectedPaymentId: string,
): CountedAllocation[] {
  return component.allocationsOf(expectedPaymentId).map((allocation) => {
    const { role, amountCents } = allocation;
    return { role, amountCents, refundedCents: results.get(allocation)?.refundedCents ?? 0n };
  });
}

function settlementOf(
  { component, results }: Allocated,
  payment: ExpectedPaymentFacts,
): Settlement {
  const { id, isCredit, isMultiUse } = payment;
  const paidCents = component.paidCents(id);
  if (paidCents === 0n) return unpaidSettlement(payment);
  const reversedCents = isCredit ? 0n : component.reversedCents(id);
  // A declared debit may be paid otherwise than expected; a requested one is paid exactly.
  if (!isCredit && (payment.declared === null || reversedCents > 0n))
    return outgoingSettlement({ paidCents, reversedCents });
  const payments = component.paymentsOf(id).map(({ allocation }) => ({
    amountCents: allocation.amountCents,
    refundedCents: results.get(allocation)?.refundedCents ?? 0n,
    owedCents: results.get(allocation)?.owedCents ?? null,
  }));
  const amountCents = decidingOwedCents(payment, payments);
  return settlementOfPayments({ amountCents, isMultiUse }, payments);
}

/** The settlement of a payment without a line. */
function unpaidSettlement(payment: ExpectedPaymentFacts): 'open' | 'withdrawn' {
  return isStillExpected(payment) ? 'open' : 'withdrawn';
}

export interface AllocationResult {
  settlement: PaidSettlement | ReversalSettlement;
  /** The total owed when it was paid; null if the payer chose, and for reversals. */
  owedCents: bigint | null;
  /** The part of a received payment that was refunded by now. */
  refundedCents: bigint;
}

export type AllocationResults = ReadonlyMap<LineAllocation, AllocationResult>;

/** The allocations of a component, with their results. */
export interface Allocated {
  component: Component;
  results: AllocationResults;
}

/** The results of all allocations of a component. */
export function resultsOfAll(component: Component): AllocationResults {
  const results = new Map<LineAllocation, AllocationResult>();
  for (const payment of component.paymentById.values()) addResultsOf(component, payment, results);
  return results;
}

/** Adds the results of the allocations of one expected payment. */
function addResultsOf(
  component: Component,
  payment: ExpectedPaymentFacts,
  results: Map<LineAllocation, AllocationResult>,
): void {
  if (component.allocationsOf(payment.id).length === 0) return;
  const before: { allocation: LineAllocation; line: StatementLineFacts }[] = [];
  for (const paid of component.paymentsOf(payment.id)) {
    before.push(paid);
    const refundedCents = payment.isCredit ? refundedCentsOf(component, paid.allocation) : 0n;
    const { settlement, owedCents } = resultOfPayment(component, payment, before);
    results.set(paid.allocation, { settlement, owedCents, refundedCents });
  }
  const reversals = component
    .allocationsOf(payment.id)
    .filter(({ role }) => role === 'reversal')
    .flatMap((allocation) => {
      const line = component.lineByNsu.get(allocation.nsu);
      return line ? [{ allocation, line }] : [];
    })
    .sort((a, b) => compareLines(a.line, b.line));
  for (const { allocation, line } of reversals)
    results.set(allocation, resultOfReversal(component, payment, line));
}

type Paid = readonly { allocation: LineAllocation; line: StatementLineFacts }[];

/** `paid`: the payments up to the one that the result is about, which comes last. */
function resultOfPayment(
  component: Component,
  payment: ExpectedPaymentFacts,
  paid: Paid,
): Omit<AllocationResult, 'refundedCents'> {
  const { isMultiUse } = payment;
  const last = paid.at(-1);
  if (!last) return { settlement: 'settled', owedCents: payment.amountCents };
  const counted = isMultiUse ? [last] : paid;
  const grossCents = counted.reduce((sum, { allocation }) => sum + allocation.amountCents, 0n);
  const owedCents = isOwedByRule(payment, last.allocation)
    ? last.allocation.ruleOwedCents
    : owedCentsWhenPaid(payment, grossCents, component.paid(last.line));
  const terms = { amountCents: owedCents, isMultiUse };
  // A refund of the payment itself is reported when its own line is decided.
  const known = counted.map(({ allocation, line }) => {
    const isLast = allocation === last.allocation;
    const refundedCents = isLast ? 0n : refundedBefore(component, allocation, line, last);
    return { amountCents: allocation.amountCents, refundedCents };
  });
  const settlement = settlementOfPayments(terms, known);
  if (settlement !== 'refunded') return { settlement, owedCents };
  return { settlement: settlementOfPaidAmount(terms, grossCents), owedCents };
}

/** A declared payment may be amended after its match: only a tolerated difference stays. */
function isOwedByRule({ declared }: ExpectedPaymentFacts, allocation: LineAllocation): boolean {
  return allocation.declared !== null && (declared === null || allocation.isTolerated);
}

/** What was refunded of an earlier payment when the last one was made. */
function refundedBefore(
  component: Component,
  { amountCents }: LineAllocation,
  line: StatementLineFacts,
  { line: last }: Paid[number],
): bigint {
  const refunded = shownRefundCents(component, line, { until: last });
  // A part of a refund cannot be attributed to one of several payments of a line.
  if (amountCents !== line.amountCents) return refunded >= line.amountCents ? amountCents : 0n;
  return refunded < amountCents ? refunded : amountCents;
}

function resultOfReversal(
  component: Component,
  { id, isCredit }: ExpectedPaymentFacts,
  line: StatementLineFacts,
): AllocationResult {
  const isFull = isCredit
    ? isWholeCreditRefunded(component, line)
    : reversedUntil(component, id, line) === component.paidCents(id);
  const settlement = reversalSettlement({ isCredit, isFull });
  return { settlement, owedCents: null, refundedCents: 0n };
}

const isWholeCreditRefunded = (component: Component, debit: StatementLineFacts): boolean =>
  creditsRefundedBy(component, debit).some((credit) => isRefundedInFull(component, credit, debit));

/** Whether a line, together with those before it, refunds the whole credit. */
export const isRefundedInFull = (
  component: Component,
  credit: StatementLineFacts,
  until: StatementLineFacts,
): boolean =>
  shownRefundCents(component, credit, { until, isIncluded: true }) >= credit.amountCents;

function reversedUntil(component: Component, id: string, until: StatementLineFacts): bigint {
  return component
    .allocationsOf(id)
    .filter(({ role, nsu }) => {
      const line = component.lineByNsu.get(nsu);
      return role === 'reversal' && line !== undefined && compareLines(line, until) <= 0;
    })
    .reduce((sum, { amountCents }) => sum + amountCents, 0n);
}
