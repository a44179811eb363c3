// Debits that nothing explains, while the service alone sends money from the account. One that an
// open operation could explain waits for it. Every other one is unrequested, whatever its type.
import { clockToleranceMs } from '../../outbound/operations/effect-period.js';
import { groupBy } from '../../platform/grouping.js';
import { compareByAge, contradicts } from './by-reference.js';
import { maxBreakCandidates, type Component } from './component.js';
import { deadlineOf } from './missing.js';
import type { ExpectedPaymentFacts, StatementLineFacts } from './model.js';
import { isRefundWithinOriginal } from './refunds.js';
import { ruleCandidateKind } from './rule.js';

/** An operation that waited longer when the line was stored does not explain it. */
export const openOperationDays = 90;
const openOperationMs = openOperationDays * 86_400_000;

const openStates: readonly (string | null)[] = [
  ...['received', 'sending', 'unknown', 'needs_operator', 'succeeded'],
];

export function decideUnrequestedDebits(component: Component): void {
  const lines = component.lines.filter((line) => isUnexplained(component, line));
  if (lines.length === 0) return;
  const byAmount = groupBy(component.facts.expectedPayments, ({ amountCents }) => amountCents);
  for (const line of lines) {
    const fitting = (byAmount.get(line.amountCents) ?? [])
      .filter((payment) => couldExplain(component, line, payment))
      .sort(compareByAge)
      .slice(0, maxBreakCandidates);
    const ids = fitting.map(({ id }) => id);
    const isOpen = fitting.some((payment) => !hasWaitedEnough(component, payment));
    if (isOpen) component.wait(line, 'operation', ids);
    else if (fitting.length > 0) leaveAmbiguous(component, line, ids);
    else component.leaveUnmatched(line, 'unrequested_debit');
  }
}

/** Whether the debit is still unexpected, and only a request of the service may have caused it. */
function isUnexplained(component: Component, line: StatementLineFacts): boolean {
  if (line.isCredit || !component.isUnexpected(line.nsu)) return false;
  return !mayBeOfOthers(component, line) && !isRefundWithinOriginal(component, line);
}

const isBefore = (time: Date, until: Date | null) => until === null || time < until;

/** Whether the first sync imported it. */
export function isOfImport(
  { facts: { imported } }: Component,
  { occurredAt, recordedAt }: StatementLineFacts,
): boolean {
  return (
    isBefore(recordedAt, imported.recordedUntil) && isBefore(occurredAt, imported.occurredUntil)
  );
}

/** Whether another system may have sent it. A change of the mode changes no line stored before. */
export function mayBeOfOthers(component: Component, line: StatementLineFacts): boolean {
  const { occurredAt, recordedAt } = line;
  return (
    isOfImport(component, line) ||
    component.facts.othersSent.some(
      ({ recordedFrom, recordedUntil, occurredUntil }) =>
        (recordedFrom === null || recordedFrom <= recordedAt) &&
        (isBefore(recordedAt, recordedUntil) || isBefore(occurredAt, occurredUntil)),
    )
  );
}

/**
 * Whether the operation that expects this payment is open, and nothing on the line contradicts it.
 * A Pix may be sent again by the bank under another endToEndId.
 */
function couldExplain(
  component: Component,
  line: StatementLineFacts,
  payment: ExpectedPaymentFacts,
): boolean {
  const { id, operationState, isWithoutResponse, effect, transfer, bill } = payment;
  if (payment.isCredit || payment.operationId === null) return false;
  const hasEnded =
    !openStates.includes(operationState) ||
    payment.withdrawal !== null ||
    (transfer?.failure ?? null) !== null ||
    bill?.isFreed === true ||
    component.paidCents(id) > 0n;
  if (hasEnded || component.isSeparated(line, id)) return false;
  const isInEffect =
    effect !== null && effect.from <= line.occurredAt && line.occurredAt <= effect.until;
  if (isWithoutResponse && !isInEffect) return false;
  return (
    isStoredBefore(line, payment) &&
    !contradicts(line, payment, transfer === null ? [] : ['end_to_end_id'])
  );
}

function isStoredBefore(
  { occurredAt, recordedAt }: StatementLineFacts,
  { createdAt, createdAtBankTime }: ExpectedPaymentFacts,
): boolean {
  const ageMs = recordedAt.getTime() - createdAt.getTime();
  const isEarlier = createdAtBankTime.getTime() - clockToleranceMs <= occurredAt.getTime();
  return ageMs >= 0 && ageMs <= openOperationMs && isEarlier;
}

/** A person is asked when the money should have moved long ago, or the operation asks for one. */
function hasWaitedEnough({ facts }: Component, payment: ExpectedPaymentFacts): boolean {
  if (payment.operationState === 'needs_operator') return true;
  const deadline = deadlineOf(payment, facts);
  return deadline !== null && facts.asOf !== null && deadline.at <= facts.asOf;
}

function leaveAmbiguous(component: Component, line: StatementLineFacts, ids: string[]): void {
  const candidates = ids.map((referenceValue) => ({
    evidence: { referenceKind: ruleCandidateKind, referenceValue },
  }));
  component.leaveUnmatched(line, 'ambiguous', { candidates });
}

/** The open payments that debits may pay, of those that wait or about which a person decides. */
export function openCandidates({
  lines,
  unmatched,
}: Component): { nsu: bigint; expectedPaymentId: string }[] {
  return lines.flatMap(({ nsu, isCredit }) => {
    const outcome = isCredit ? undefined : unmatched.get(nsu);
    const ids =
      outcome?.outcome === 'pending'
        ? outcome.candidateIds
        : outcome?.outcome === 'break'
          ? outcome.candidates
              .filter(({ referenceKind }) => referenceKind === ruleCandidateKind)
              .map(({ referenceValue }) => referenceValue)
          : [];
    return ids.map((expectedPaymentId) => ({ nsu, expectedPaymentId }));
  });
}
