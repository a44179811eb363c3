// The settlement as it stands after each allocation, in the order in which the lines happened. It
// is what the event of the allocation reports.
import { saoPauloDay } from '../../brazil/statement-day.js';
import {
  owedCentsWhenPaid,
  settlementOfPaidAmount,
  settlementOfPayments,
  type PaidSettlement,
} from '../../expected-payments/settlement.js';
import { reversalSettlement, type ReversalSettlement } from './outcome.js';
import type { ExpectedPaymentFacts, LineAllocation, StatementLineFacts } from './model.js';
import { compareLines, type Component } from './component.js';
import { refundedCentsOf, refundsOfCredit } from './refunds.js';

export interface AllocationResult {
  settlement: PaidSettlement | ReversalSettlement;
  /** The total owed when it was paid; null if the payer chose, and for reversals. */
  owedCents: bigint | null;
  /** The part of a received payment that was refunded by now. */
  refundedCents: bigint;
}

export type AllocationResults = ReadonlyMap<LineAllocation, AllocationResult>;

/** The results of all allocations of a component. */
export function resultsOfAll(component: Component): AllocationResults {
  const payments = [...component.paymentById.values()];
  return new Map(payments.flatMap((payment) => [...resultsOf(component, payment)]));
}

/** The results of the allocations of one expected payment. */
function resultsOf(
  component: Component,
  payment: ExpectedPaymentFacts,
): Map<LineAllocation, AllocationResult> {
  const results = new Map<LineAllocation, AllocationResult>();
  const before: { allocation: LineAllocation; line: StatementLineFacts }[] = [];
  for (const paid of component.paymentsOf(payment.id)) {
    before.push(paid);
    const refundedCents = payment.isCredit ? refundedCentsOf(component, paid.allocation) : 0n;
    const result = resultOfPayment(component, payment, before);
    results.set(paid.allocation, { ...result, refundedCents });
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
  return results;
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
  const day = saoPauloDay(last.line.occurredAt);
  const owedCents =
    last.allocation.declared === null
      ? owedCentsWhenPaid(payment, grossCents, day)
      : last.allocation.ruleOwedCents;
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

/** What was refunded of an earlier payment when the last one was made. */
function refundedBefore(
  component: Component,
  { amountCents }: LineAllocation,
  line: StatementLineFacts,
  { line: last }: Paid[number],
): bigint {
  const refunded = refundsOfCredit(component, line)
    .filter((refund) => compareLines(refund.line, last) < 0)
    .reduce((sum, refund) => sum + refund.amountCents, 0n);
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

function isWholeCreditRefunded(component: Component, debit: StatementLineFacts): boolean {
  return component
    .linesWithEndToEndId(debit.originalEndToEndId)
    .filter(({ isCredit }) => isCredit)
    .some((credit) => {
      const refunded = refundsOfCredit(component, credit)
        .filter((refund) => compareLines(refund.line, debit) <= 0)
        .reduce((sum, { amountCents }) => sum + amountCents, 0n);
      return refunded >= credit.amountCents;
    });
}

function reversedUntil(component: Component, id: string, until: StatementLineFacts): bigint {
  return component
    .allocationsOf(id)
    .filter(({ role, nsu }) => {
      const line = component.lineByNsu.get(nsu);
      return role === 'reversal' && line !== undefined && compareLines(line, until) <= 0;
    })
    .reduce((sum, { amountCents }) => sum + amountCents, 0n);
}
