// What expected payments have come to, and the states of lines: what is stored so that readers need
// not sum or compare.
import { outgoingSettlement } from '../../expected-payments/outgoing-settlement.js';
import {
  decidingOwedCents,
  settlementOfPaidAmount,
  settlementOfPayments,
  unrefundedPayments,
} from '../../expected-payments/settlement.js';
import type {
  ExpectedPaymentTotal,
  LineOutcomeState,
  Match,
  Settlement,
} from '../../generated/service/client.js';
import type { ExpectedPaymentFacts } from './model.js';
import type { OpenBreak } from './breaks.js';
import { isStillExpected, lastPaymentDayOf } from './deadlines.js';
import type { Decision } from './decide.js';
import { comingDeadline } from './missing.js';
import { explainingBreakKinds } from './break-kinds.js';

/** Of a payment; its `deadline` is null when that has passed or never comes. */
export type PaymentTotal = Omit<ExpectedPaymentTotal, 'accountId' | 'expectedPaymentId'>;
/** `unrefundedCents`: the total of the payments that were not refunded in full. */
export type PaymentSums = Omit<PaymentTotal, 'settlement' | 'lastPaymentDay' | 'deadline'>;

/** A matched part of a line, of which `refundedCents` were refunded. */
export type CountedAllocation = Pick<Match, 'role' | 'amountCents' | 'refundedCents'>;

function sumsOf(allocations: readonly CountedAllocation[]): PaymentSums {
  const payments = allocations.filter(({ role }) => role === 'payment');
  const reversals = allocations.filter(({ role }) => role === 'reversal');
  return {
    paidCents: totalOf(payments.map(({ amountCents }) => amountCents)),
    reversedCents: totalOf(reversals.map(({ amountCents }) => amountCents)),
    refundedCents: totalOf(payments.map(({ refundedCents }) => refundedCents)),
    unrefundedCents: totalOf(unrefundedPayments(payments).map(({ amountCents }) => amountCents)),
  };
}

/** The total of a payment whose lines are all known. */
export function totalOfPayment(decision: Decision, payment: ExpectedPaymentFacts): PaymentTotal {
  return {
    ...sumsOf(countedAllocations(decision, payment.id)),
    settlement: settlementOf(decision, payment),
    lastPaymentDay: lastPaymentDayOf(payment),
    deadline: comingDeadline(decision.component, payment),
  };
}

/** The total of a multi-use QR code, of whose lines only some are known: they changed so. */
export function totalOfCode(
  code: ExpectedPaymentFacts,
  stored: PaymentSums | undefined,
  change: { matches: readonly CountedAllocation[]; now: readonly CountedAllocation[] },
): PaymentTotal {
  const before = sumsOf(change.matches);
  const now = sumsOf(change.now);
  const changed = (name: keyof PaymentSums) => (stored?.[name] ?? 0n) - before[name] + now[name];
  const sums = {
    paidCents: changed('paidCents'),
    reversedCents: changed('reversedCents'),
    refundedCents: changed('refundedCents'),
    unrefundedCents: changed('unrefundedCents'),
  };
  return {
    ...sums,
    settlement: settlementOfCode(code, sums),
    lastPaymentDay: lastPaymentDayOf(code),
    deadline: null,
  };
}

function settlementOfCode(
  code: ExpectedPaymentFacts,
  { paidCents, unrefundedCents }: PaymentSums,
): Settlement {
  if (paidCents === 0n) return unpaidSettlement(code);
  return unrefundedCents === 0n ? 'refunded' : settlementOfPaidAmount(code, unrefundedCents);
}

/** The allocations of a payment, with what was refunded of each. */
export function countedAllocations(
  { component, results }: Decision,
  expectedPaymentId: string,
): CountedAllocation[] {
  return component.allocationsOf(expectedPaymentId).map((allocation) => {
    const { role, amountCents } = allocation;
    return { role, amountCents, refundedCents: results.get(allocation)?.refundedCents ?? 0n };
  });
}

function settlementOf({ component, results }: Decision, payment: ExpectedPaymentFacts): Settlement {
  const { id, isCredit, isMultiUse } = payment;
  const paidCents = component.paidCents(id);
  if (paidCents === 0n) return unpaidSettlement(payment);
  if (!isCredit) {
    const reversedCents = component.reversedCents(id);
    return outgoingSettlement({ paidCents, reversedCents, isWithdrawn: false });
  }
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

/** The state of a line: an open break precedes a match, and a match a classification. */
export function lineStates(
  { component }: Decision,
  open: readonly OpenBreak[],
): Map<bigint, LineOutcomeState> {
  const inBreak = new Set(
    open.filter(({ kind }) => explainingBreakKinds.includes(kind)).map(({ nsu }) => nsu),
  );
  const stateOf = (nsu: bigint): LineOutcomeState => {
    if (inBreak.has(nsu)) return 'in_break';
    if (component.allocationsOfLine(nsu).length > 0) return 'matched';
    return component.unmatched.get(nsu)?.outcome === 'classified' ? 'classified' : 'pending';
  };
  return new Map(component.facts.lines.map(({ nsu }) => [nsu, stateOf(nsu)]));
}

function totalOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, cents) => total + cents, 0n);
}
