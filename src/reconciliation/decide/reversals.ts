// Which sent payment a credit reverses, in whole or in part, and never more than was paid.
import { isReceivedType, type LineType } from '../../bank-contract/line-types.js';
import { reversalReferenceKinds } from '../../statement/expected-payments/references.js';
import { distinct, named, strongest, type Component, type Named } from './component.js';
import type { LineAllocation, StatementLineFacts } from './model.js';

/** A refund of our Pix by its receiver: its own id is the refund's, its original id is our Pix. */
const refundOfSentPix: LineType = 'CREDIT_PIX_REFUND';

const isOnReversal = (kind: string): boolean =>
  (reversalReferenceKinds as readonly string[]).includes(kind);

export function mayBeReversal(line: StatementLineFacts): boolean {
  return line.isCredit && (line.undoesDebit || !isReceivedType(line.typeName));
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
    return component.wait(line, 'line');
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
