// Lines that undo a payment. Reversals: which sent payment a credit reverses, in whole or in part,
// and never more than was paid. Refunds: the debits that refund a credit, the refunded part of a
// payment, and debits that nobody requested, as when the bank returns a Pix for fraud.
import { reversalReferenceKinds } from '../../expected-payments/references.js';
import { distinct, named, strongest, type Component, type Named } from './component.js';
import type { BreakDecision, LineAllocation, StatementLineFacts } from './model.js';
import { wait } from './by-reference.js';

/**
 * The contract's types of received money. The two legs of a Pix or transfer between our own
 * accounts share one id: a line of these types is the incoming leg, never a reversal.
 */
const incomingTypes: readonly string[] = ['CREDIT_PIX', 'CREDIT_TRANSFER_INTERNAL'];
/** A refund of our Pix by its receiver: its own id is the refund's, its original id is our Pix. */
const refundOfSentPix = 'CREDIT_PIX_REFUND';

const isOnReversal = (kind: string): boolean =>
  (reversalReferenceKinds as readonly string[]).includes(kind);

export function mayBeReversal({ isCredit, typeName }: StatementLineFacts): boolean {
  return isCredit && !incomingTypes.includes(typeName);
}

/** Decides a credit that may be a reversal and pays nothing by its own ids. */
export function reverse(component: Component, line: StatementLineFacts): void {
  const candidates = reversibleBy(component, line);
  const able = candidates.filter(
    ({ payment }) => component.netCents(payment.id) >= line.amountCents,
  );
  const [first, ...others] = able;
  const isOfSecondDebit = able.some(({ payment }) => isDebitedAgain(component, line, payment.id));
  if (first && others.length === 0 && !isOfSecondDebit)
    return component.allocate(reversalOf(line, first.payment.id, first.evidence));
  const isUnseen = candidates.some(({ payment }) => component.paidCents(payment.id) === 0n);
  if (!first && isUnseen && line.isFresh && line.occurredAt >= component.facts.goLiveAt)
    return wait(component, line, 'line');
  component.leaveUnmatched(line, first ? 'ambiguous' : 'unexpected', { candidates });
}

export function reversalOf(
  { nsu, amountCents }: Pick<StatementLineFacts, 'nsu' | 'amountCents'>,
  expectedPaymentId: string,
  evidence: object,
): LineAllocation {
  return {
    nsu,
    expectedPaymentId,
    amountCents,
    role: 'reversal',
    rule: 'reversal',
    ruleOwedCents: null,
    isTolerated: false,
    declared: null,
    evidence,
    linkedBy: null,
  };
}

/** The sent payments that the line may reverse: by its own ids, or as its original. */
function reversibleBy(component: Component, line: StatementLineFacts): Named[] {
  const byOwnIds = [
    ...component.referencedBy(line).filter(({ kind }) => isOnReversal(kind)),
    ...paidByDebits(component, line, 'end_to_end_id', line.endToEndId),
  ].filter(isSent);
  if (byOwnIds.length > 0 && line.typeName !== refundOfSentPix)
    return distinct(strongest(byOwnIds));
  const byOriginal = [
    ...component.namedAsOriginal(line),
    ...paidByDebits(component, line, 'original_end_to_end_id', line.originalEndToEndId),
  ];
  return distinct(byOriginal.filter(isSent));
}

/**
 * The payments that debits with this id make. The id of a debit is not always known as a reference
 * of its payment.
 */
function paidByDebits(
  component: Component,
  line: StatementLineFacts,
  kind: string,
  endToEndId: string | null,
): Named[] {
  return component
    .linesWithEndToEndId(endToEndId)
    .filter(({ isCredit }) => !isCredit)
    .flatMap(({ nsu }) => component.allocationsOfLine(nsu))
    .filter(({ expectedPaymentId }) => !component.isSeparated(line, expectedPaymentId))
    .flatMap(({ expectedPaymentId }) => component.paymentById.get(expectedPaymentId) ?? [])
    .map((payment) => named(kind, endToEndId ?? '', payment));
}

const isSent = ({ payment }: Named): boolean => !payment.isCredit;

/** When the bank debited a payment twice, a reversal may be of either debit. */
function isDebitedAgain(component: Component, line: StatementLineFacts, paymentId: string) {
  return component
    .duplicateDebitsOf(paymentId)
    .some(({ occurredAt }) => occurredAt <= line.occurredAt);
}

/** The debits that refund a credit, requested or not, without those that were reversed. */
export function debitsRefunding(
  component: Component,
  credit: StatementLineFacts,
): StatementLineFacts[] {
  if (!credit.isCredit) return [];
  const requested = component
    .ownRefundsOf(credit.nsu)
    .flatMap(({ id }) => component.allocationsOf(id))
    .filter(({ role }) => role === 'payment')
    .flatMap(({ nsu }) => component.lineByNsu.get(nsu) ?? []);
  const debits = [...component.linesNaming(credit.endToEndId), ...requested];
  return [...new Set(debits)].filter(
    (debit) => !debit.isCredit && !isReversed(component, debit.nsu),
  );
}

/** Whether the payment that the debit makes was reversed, in whole or in part. */
function isReversed(component: Component, nsu: bigint): boolean {
  return component
    .allocationsOfLine(nsu)
    .some(
      ({ role, expectedPaymentId }) =>
        role === 'payment' && component.reversedCents(expectedPaymentId) > 0n,
    );
}

/** Our own refunds of a credit on the statement, less their reversals. */
export function ownRefundCents(component: Component, creditNsu: bigint): bigint {
  return component
    .ownRefundsOf(creditNsu)
    .reduce((sum, { id }) => sum + component.netCents(id), 0n);
}

/** What the bank refunded of a credit without our request; of one of its payments, or of all. */
function bankRefundCents(
  component: Component,
  credit: StatementLineFacts,
  expectedPaymentId?: string,
): bigint {
  return component
    .linesNaming(credit.endToEndId)
    .filter(({ isCredit }) => !isCredit)
    .flatMap(({ nsu }) => component.allocationsOfLine(nsu))
    .filter(({ role }) => role === 'reversal')
    .filter((one) => expectedPaymentId === undefined || one.expectedPaymentId === expectedPaymentId)
    .reduce((sum, { amountCents }) => sum + amountCents, 0n);
}

/**
 * The refunded part of a payment. When a line pays several expected payments, a partial refund
 * cannot be attributed to one of them: own refunds count only once they cover the whole line.
 */
export function refundedCentsOf(
  component: Component,
  { nsu, expectedPaymentId, amountCents }: LineAllocation,
): bigint {
  const line = component.lineByNsu.get(nsu);
  if (!line) return 0n;
  const own = ownRefundCents(component, nsu);
  const isOwnCounted = amountCents === line.amountCents || own >= line.amountCents;
  const refunded = bankRefundCents(component, line, expectedPaymentId) + (isOwnCounted ? own : 0n);
  return refunded < amountCents ? refunded : amountCents;
}

/** Every line that refunds a credit, our own refunds less those that were reversed in full. */
export function refundsOfCredit(
  component: Component,
  credit: StatementLineFacts,
): { line: StatementLineFacts; amountCents: bigint }[] {
  const own = component
    .ownRefundsOf(credit.nsu)
    .filter(({ id }) => component.netCents(id) > 0n)
    .flatMap(({ id }) => component.paymentsOf(id));
  const byBank = component.linesNaming(credit.endToEndId).flatMap((line) =>
    component
      .allocationsOfLine(line.nsu)
      .filter(({ role }) => role === 'reversal' && !line.isCredit)
      .map((allocation) => ({ line, allocation })),
  );
  return [...own, ...byBank].map(({ line, allocation }) => ({
    line,
    amountCents: allocation.amountCents,
  }));
}

/**
 * Whether the statement shows the requested refund of a break, and it covers the break: the amount
 * that the break had, or the whole Pix. Only the statement resolves a break.
 */
export function isRefundShown(
  component: Component,
  { nsu, refundPaymentId, cents }: BreakDecision,
): boolean {
  const line = nsu === null ? undefined : component.lineByNsu.get(nsu);
  if (!line || refundPaymentId === null) return false;
  const paidCents = component.paidCents(refundPaymentId);
  if (paidCents === 0n || component.reversedCents(refundPaymentId) > 0n) return false;
  if (cents === null || paidCents >= cents) return true;
  return ownRefundCents(component, line.nsu) >= line.amountCents;
}

/** Whether the debit refunds a credit on the statement, and all such debits do not exceed it. */
export function isRefundWithinOriginal(component: Component, debit: StatementLineFacts): boolean {
  const [credit, ...others] = component
    .linesWithEndToEndId(debit.originalEndToEndId)
    .filter(({ isCredit }) => isCredit);
  if (!credit || others.length > 0) return false;
  const refunds = debitsRefunding(component, credit);
  return refunds.reduce((sum, { amountCents }) => sum + amountCents, 0n) <= credit.amountCents;
}

/** Decides a debit that refunds a credit without a request of ours. */
export function refundUnrequested(component: Component, debit: StatementLineFacts): void {
  const credits = component
    .linesWithEndToEndId(debit.originalEndToEndId)
    .filter(({ isCredit }) => isCredit);
  const [credit, ...others] = credits;
  if (!credit) {
    const mayCome = debit.originalEndToEndId !== null && debit.isFresh;
    if (mayCome && debit.occurredAt >= component.facts.goLiveAt)
      return wait(component, debit, 'line');
    return component.leaveUnmatched(debit, 'unexpected');
  }
  const { nsu: originalNsu } = credit;
  if (others.length > 0) return component.leaveUnmatched(debit, 'ambiguous');
  const paid = component
    .allocationsOfLine(credit.nsu)
    .filter(({ role }) => role === 'payment')
    .filter(({ expectedPaymentId }) => !component.isSeparated(debit, expectedPaymentId));
  const refundedCents = ownRefundCents(component, credit.nsu) + bankRefundCents(component, credit);
  const unrefundedCents = credit.amountCents - refundedCents;
  if (paid.length === 0 || debit.amountCents > unrefundedCents)
    return component.leaveUnmatched(debit, 'unexpected', { originalNsu });
  if (paid.length > 1 && debit.amountCents !== credit.amountCents)
    return component.leaveUnmatched(debit, 'ambiguous', { originalNsu });
  const parts = paid.map(({ expectedPaymentId, amountCents }) => ({
    expectedPaymentId,
    amountCents: paid.length > 1 ? amountCents : debit.amountCents,
  }));
  // A person may have matched the refund to another line.
  if (parts.some((part) => part.amountCents > component.netCents(part.expectedPaymentId)))
    return component.leaveUnmatched(debit, 'unexpected', { originalNsu });
  const evidence = {
    referenceKind: 'original_end_to_end_id',
    referenceValue: credit.endToEndId,
  };
  for (const { expectedPaymentId, amountCents } of parts)
    component.allocate(reversalOf({ nsu: debit.nsu, amountCents }, expectedPaymentId, evidence));
}
