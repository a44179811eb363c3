// Decides which expected payments a line pays by the ids that it carries.
import { saoPauloDay } from '../../brazil/statement-day.js';
import { isExactAmountOwed, splitExactAmountOwed } from '../../expected-payments/settlement.js';
import type { ExpectedPaymentFacts, MatchRule, StatementLineFacts } from './model.js';
import { clockToleranceMs } from '../../operations/effect-period.js';
import { distinct, strongest, type Component, type Named } from './component.js';

/** The expected payments that the line may pay: its own ids name them and they can be paid. */
export function payableBy(component: Component, line: StatementLineFacts): Named[] {
  const able = component
    .referencedBy(line)
    .filter(({ payment }) => payment.isCredit === line.isCredit && isPayable(component, payment));
  // Clients may reuse an id. The line pays the payment that had the id when the line happened.
  const earlier = able.filter(
    ({ payment }) =>
      payment.createdAtBankTime.getTime() - clockToleranceMs <= line.occurredAt.getTime(),
  );
  return earlier.length > 0 ? earlier : able;
}

/**
 * A line cannot pay what the bank rejected. It can pay what was reported as failed or proven
 * absent: the statement shows that the money moved.
 */
function isPayable(component: Component, { id, withdrawal }: ExpectedPaymentFacts): boolean {
  return withdrawal !== 'rejected' || component.paidCents(id) > 0n;
}

/** Decides a line that names at least one payment that it may pay. */
export function payByReference(
  component: Component,
  line: StatementLineFacts,
  payable: readonly Named[],
): void {
  // A payer chooses the references of a credit: no kind of reference is stronger than another.
  if (line.isCredit) payWithCredit(component, line, distinct(payable));
  else payWithDebit(component, line, distinct(strongest(payable)));
}

function payWithCredit(
  component: Component,
  line: StatementLineFacts,
  candidates: readonly Named[],
): void {
  const [first, ...others] = candidates;
  if (first && others.length === 0) return pay(component, line, first, 'reference');
  const parts = splitOverAll(
    line,
    candidates.map(({ payment }) => payment),
  );
  if (!parts) return component.leaveUnmatched(line, 'ambiguous');
  candidates.forEach((each, index) => {
    pay(component, { ...line, amountCents: parts[index] ?? 0n }, each, 'reference');
  });
}

/**
 * One credit pays all of several referenced payments if it equals their total owed, and equals the
 * amount owed of none of them. Earlier payments do not count: a second payment is a duplicate.
 */
function splitOverAll(
  { amountCents, occurredAt }: StatementLineFacts,
  payments: readonly ExpectedPaymentFacts[],
): bigint[] | null {
  if (payments.some(({ isMultiUse, amountCents: owed }) => isMultiUse || owed === null))
    return null;
  const day = saoPauloDay(occurredAt);
  if (payments.some((payment) => isExactAmountOwed(payment, amountCents, day))) return null;
  return splitExactAmountOwed(payments, amountCents, day);
}

/**
 * A debit must have the requested amount and happen once; any other referenced debit is a break.
 */
function payWithDebit(
  component: Component,
  line: StatementLineFacts,
  candidates: readonly Named[],
): void {
  const exact = candidates.filter(
    ({ payment: { amountCents } }) => amountCents === null || amountCents === line.amountCents,
  );
  if (exact.length === 0) return leave(component, line, 'amount_mismatch', candidates);
  const unpaid = exact.filter(
    ({ payment: { id, isMultiUse } }) => isMultiUse || component.paidCents(id) === 0n,
  );
  // Of several debits of one payment, all but the first are duplicates.
  if (unpaid.length === 0) return leave(component, line, 'duplicate_payment', exact);
  // A failed payment is sometimes requested again under the same ids.
  const expected = unpaid.filter(({ payment }) => payment.withdrawal === null);
  const [first, ...others] = expected.length > 0 ? expected : unpaid;
  if (first && others.length === 0) return pay(component, line, first, 'reference');
  component.leaveUnmatched(line, 'ambiguous');
}

function leave(
  component: Component,
  line: StatementLineFacts,
  kind: 'amount_mismatch' | 'duplicate_payment',
  candidates: readonly Named[],
): void {
  const [first, ...others] = candidates;
  const expectedPaymentId = first && others.length === 0 ? first.payment.id : null;
  component.leaveUnmatched(line, kind, { expectedPaymentId });
}

/** Allocates the line, or part of it, to one payment. */
export function pay(
  component: Component,
  { nsu, amountCents }: Pick<StatementLineFacts, 'nsu' | 'amountCents'>,
  { payment, evidence }: Pick<Named, 'payment' | 'evidence'>,
  rule: MatchRule,
): void {
  component.allocate({
    nsu,
    expectedPaymentId: payment.id,
    amountCents,
    role: 'payment',
    rule,
    ruleOwedCents: null,
    isTolerated: false,
    declared: null,
    evidence,
    linkedBy: null,
  });
}
