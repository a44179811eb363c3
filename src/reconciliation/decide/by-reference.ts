// Which expected payments a line pays: those that its ids name, and for operations whose response
// never came, which may carry none of our ids, the one that its original or counterparty names.
import type { LineType } from '../../bank-contract/line-types.js';
import {
  isExactAmountOwed,
  splitExactAmountOwed,
} from '../../statement/expected-payments/settlement.js';
import { clockToleranceMs } from '../../outbound/operations/effect-period.js';
import type { ReferenceKind } from '../../statement/expected-payments/references.js';
import { addTo } from '../../platform/grouping.js';
import {
  distinct,
  strongest,
  lineReferences,
  named,
  type Component,
  type Named,
} from './component.js';
import type { ExpectedPaymentFacts, MatchRule, StatementLineFacts } from './model.js';
import { mayRefundAnother } from './refunds.js';

/** The expected payments that the line may pay: its own ids name them and they can be paid. */
export function payableBy(component: Component, line: StatementLineFacts): Named[] {
  const able = component
    .referencedBy(line)
    .filter(({ payment }) => payment.isCredit === line.isCredit && isPayable(component, payment));
  // What follows chooses between several.
  if (able.length < 2) return able;
  // What an operation expects is never paid to what another system declared under the same id.
  const isOfOperation = ({ payment }: Named) =>
    payment.declared === null && payment.withdrawal === null;
  const timely = latestOf(line, able);
  const ofOperations = timely.filter(isOfOperation);
  return ofOperations.length > 0 ? ofOperations : timely;
}

/** Clients may reuse an id. The line pays the payment that had the id when the line happened. */
function latestOf(line: StatementLineFacts, able: Named[]): Named[] {
  const earlier = able.filter(
    ({ payment }) =>
      payment.createdAtBankTime.getTime() - clockToleranceMs <= line.occurredAt.getTime(),
  );
  return earlier.length > 0 ? earlier : able;
}

/**
 * A line cannot pay what the bank rejected, or what awaits approval and was not sent. It can pay
 * what was reported as failed or proven absent: the statement shows that the money moved.
 */
function isPayable(component: Component, payment: ExpectedPaymentFacts): boolean {
  const { id, withdrawal, operationState } = payment;
  const isUnsent = withdrawal === 'rejected' || operationState === 'awaiting_approval';
  return !isUnsent || component.paidCents(id) > 0n;
}

/**
 * Decides a line that an authenticated webhook ties to a payment: the only one that its ids name,
 * of exactly the amount owed, that no other line pays.
 */
export function payByReport(component: Component, line: StatementLineFacts): void {
  const reported = line.reported.flatMap(({ kind, value }) =>
    component.named(line, kind, value).map((payment) => named(kind, value, payment)),
  );
  const owed = distinct(reported).filter(
    ({ payment }) =>
      payment.isCredit === line.isCredit &&
      !payment.isMultiUse &&
      payment.withdrawal === null &&
      payment.operationState !== 'awaiting_approval' &&
      component.paidCents(payment.id) === 0n &&
      isExactAmountOwed(payment, line.amountCents, component.paid(line)) &&
      !contradicts(line, payment),
  );
  const [only, ...others] = owed;
  if (!only || others.length > 0) return;
  const evidence = { ...only.evidence, source: 'webhook' };
  pay(component, line, { ...only, evidence }, 'reference');
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
    component,
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
  component: Component,
  line: StatementLineFacts,
  payments: readonly ExpectedPaymentFacts[],
): bigint[] | null {
  if (payments.some(({ isMultiUse, amountCents: owed }) => isMultiUse || owed === null))
    return null;
  const { amountCents } = line;
  const paid = component.paid(line);
  if (payments.some((payment) => isExactAmountOwed(payment, amountCents, paid))) return null;
  return splitExactAmountOwed(payments, amountCents, paid);
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
    ({ payment }) =>
      (payment.amountCents === null && payment.accepted === null) ||
      isExactAmountOwed(payment, line.amountCents, component.paid(line)),
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

/** More payments of one amount than this cannot be distinguished. */
const maxCandidates = 50;
/** The bank's response may still contain ids, and those ids then decide. */
const statesBeingSent: readonly (string | null)[] = ['received', 'sending'];

type SharedReference = 'original' | 'counterparty' | null;

/** The debits of operations without a response, by amount, the oldest first. */
export type UnconfirmedDebits = ReadonlyMap<bigint, readonly ExpectedPaymentFacts[]>;

export function unconfirmedDebits(payments: readonly ExpectedPaymentFacts[]): UnconfirmedDebits {
  const byAmount = new Map<bigint, ExpectedPaymentFacts[]>();
  for (const payment of payments) {
    const { isCredit, isWithoutResponse, amountCents } = payment;
    if (isCredit || !isWithoutResponse || amountCents === null) continue;
    addTo(byAmount, amountCents, payment);
  }
  for (const debits of byAmount.values()) debits.sort(compareByAge);
  return byAmount;
}

/** Decides the debit if an operation without a response explains it; otherwise leaves it open. */
export function payUnreferenced(
  component: Component,
  line: StatementLineFacts,
  debits: UnconfirmedDebits,
): void {
  if (line.occurredAt < component.facts.goLiveAt) return;
  // A refund of a received Pix is not a payment to the same counterparty.
  const refundsCredit = component
    .linesWithEndToEndId(line.originalEndToEndId)
    .some(({ isCredit }) => isCredit);
  const open = (debits.get(line.amountCents) ?? [])
    .filter(
      (payment) =>
        component.paidCents(payment.id) === 0n &&
        !component.isSeparated(line, payment.id) &&
        payment.effect !== null &&
        payment.effect.from <= line.occurredAt &&
        !contradicts(line, payment),
    )
    .map((payment) => ({ ...shareOf(line, payment), payment }))
    .filter(({ shared }) => shared === 'original' || !refundsCredit)
    .slice(0, maxCandidates);
  const isInProgress = open.some(({ payment }) => mayStillExplain(line, payment));
  const fitting = open.filter(({ payment }) => !isKnownToBank(payment) && isInTime(line, payment));
  const byOriginal = fitting.filter(({ shared }) => shared === 'original');
  const candidates =
    byOriginal.length > 0 ? byOriginal : fitting.filter(({ shared }) => shared !== null);
  const [oldest] = candidates;
  const isPending = candidates.some(({ payment }) =>
    statesBeingSent.includes(payment.operationState),
  );
  const openIds = open.map(({ payment }) => payment.id);
  if (isPending) return component.wait(line, 'operation', openIds);
  // Refunds of one Pix with one amount are interchangeable; payments to one account are not.
  if (oldest && byOriginal.length > 0) return pay(component, line, oldest, 'original');
  const isCertain = candidates.length === 1 && !mayRefundAnother(component, line, candidates);
  if (oldest && isCertain) return pay(component, line, oldest, 'counterparty');
  if (isInProgress) return component.wait(line, 'operation', openIds);
  if (oldest) component.leaveUnmatched(line, 'ambiguous', { candidates });
}

/** An operation in progress cannot explain a line after its last possible effect. */
function mayStillExplain(line: StatementLineFacts, payment: ExpectedPaymentFacts): boolean {
  const isInProgress =
    statesBeingSent.includes(payment.operationState) || payment.operationState === 'unknown';
  return isInProgress && isInTime(line, payment);
}

function isInTime({ occurredAt }: StatementLineFacts, { effect }: ExpectedPaymentFacts): boolean {
  return effect !== null && occurredAt <= effect.until;
}

/**
 * Whether it has an id that only the bank assigns: a line that pays it would carry that id. An
 * endToEndId proves nothing: a key look-up assigns it before the payment is sent.
 */
function isKnownToBank({ references }: ExpectedPaymentFacts): boolean {
  return references.some(({ kind }) => kind === 'nsu' || kind === 'movement_id');
}

/**
 * Different ids of one kind, or different counterparties: the line is not the payment. Of the kinds
 * in `changing`, the bank may have given the payment another id.
 */
export function contradicts(
  line: StatementLineFacts,
  payment: ExpectedPaymentFacts,
  changing: readonly ReferenceKind[] = [],
): boolean {
  const differs = (kind: ReferenceKind, values: readonly string[]) => {
    if (changing.includes(kind)) return false;
    const own = valuesOf(payment, kind);
    return own.length > 0 && values.length > 0 && !own.some((value) => values.includes(value));
  };
  const { originalEndToEndId: original } = line;
  return (
    lineReferences(line).some(({ kind, value }) => differs(kind, [value])) ||
    differs('original_end_to_end_id', original === null ? [] : [original]) ||
    differs('counterparty', mayBeOf(line))
  );
}

/** Whether both show who is paid, and show other accounts or other holders. */
export function payeeDiffers(line: StatementLineFacts, payment: ExpectedPaymentFacts): boolean {
  const [accounts, shown] = [valuesOf(payment, 'counterparty'), mayBeOf(line)];
  const hasBoth = accounts.length > 0 && shown.length > 0;
  const { counterpartyDocument: document } = payment;
  return (
    (hasBoth && !accounts.some((account) => shown.includes(account))) ||
    (document !== null &&
      line.counterpartyDocument !== null &&
      document !== line.counterpartyDocument)
  );
}

/** Whether both show who is paid, and nothing of it differs. */
export function payeeAgrees(line: StatementLineFacts, payment: ExpectedPaymentFacts): boolean {
  const { counterpartyDocument: document } = payment;
  const hasBoth =
    (valuesOf(payment, 'counterparty').length > 0 && line.counterparty !== null) ||
    (document !== null && line.counterpartyDocument !== null);
  return hasBoth && !payeeDiffers(line, payment);
}

/** What the line and the payment share: the refunded Pix, or else the counterparty. */
function shareOf(
  line: StatementLineFacts,
  payment: ExpectedPaymentFacts,
): Named & { shared: SharedReference } {
  const { originalEndToEndId: original } = line;
  if (original !== null && valuesOf(payment, 'original_end_to_end_id').includes(original))
    return { ...named('original_end_to_end_id', original, payment), shared: 'original' };
  const [own = ''] = valuesOf(payment, 'counterparty');
  const shared = isWholeAccount(line, own) ? 'counterparty' : null;
  return { ...named('counterparty', own, payment), shared };
}

function valuesOf({ references }: ExpectedPaymentFacts, wanted: string): string[] {
  return references.filter(({ kind }) => kind === wanted).map(({ value }) => value);
}

/**
 * Whether the line shows this account: its institution, branch and number. A number alone, by which
 * the bank knows its own accounts, is whole on its internal transfers only.
 */
function isWholeAccount({ counterparty, typeName }: StatementLineFacts, account: string): boolean {
  if (counterparty === null || account === '') return false;
  return (
    counterparty === account ||
    (typeName === internalTransfer && counterparty.endsWith(`/${account}`))
  );
}

const internalTransfer: LineType = 'DEBIT_TRANSFER_INTERNAL';

/** The accounts that the line may show: a client may know only the number of one of its bank. */
function mayBeOf({ counterparty }: StatementLineFacts): string[] {
  if (counterparty === null) return [];
  const number = counterparty.split('/')[2];
  return number ? [counterparty, number] : [counterparty];
}

/** The oldest first. */
export function compareByAge(a: ExpectedPaymentFacts, b: ExpectedPaymentFacts): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}
