// Lines that need no match: a person accepted their break, the money was refunded, or one of our
// own accounts sent it.
import { lineBreakKinds, settlementBreakKinds } from './break-kinds.js';
import type { BreakDecision, StatementLineFacts } from './model.js';
import { classifiedAs, type Component } from './component.js';
import { isFullyRefunded, isRefundShown } from './refunds.js';
import { mayBeReversal } from './reversals.js';

/** Lines whose break a person accepted need no further explanation. */
export function acceptLines(component: Component): void {
  for (const { accepted } of component.standingDecisions.values()) {
    const line = accepted && lineOf(component, accepted);
    if (!line || !isOfUnmatchedLine(accepted, line)) continue;
    const { actor, reason } = accepted;
    component.unmatched.set(line.nsu, {
      ...{ outcome: 'classified', category: 'accepted', rule: 'manual' },
      ...{ reason, evidence: { actor }, declared: null },
    });
  }
}

/** Unmatched lines whose money was refunded, as the statement shows. */
export function classifyRefunded(component: Component): void {
  for (const { requestedRefunds } of component.standingDecisions.values())
    for (const requested of requestedRefunds) {
      const line = lineOf(component, requested);
      if (!line || component.unmatched.get(line.nsu)?.outcome !== 'break') continue;
      if (!isOfUnmatchedLine(requested, line)) continue;
      if (!isRefundShown(component, requested)) continue;
      const { breakId, reason } = requested;
      component.unmatched.set(line.nsu, {
        ...{ outcome: 'classified', category: 'refunded', rule: 'refund' },
        ...{ reason, evidence: { breakId }, declared: null },
      });
    }
  // A person linked their refunds.
  for (const { refundOf, decidedBy } of component.facts.links)
    for (const { originalNsu: nsu } of refundOf) {
      const line = component.lineByNsu.get(nsu);
      if (!line || !component.isUnexpected(nsu) || !isFullyRefunded(component, line)) continue;
      component.unmatched.set(nsu, {
        ...{ outcome: 'classified', category: 'refunded', rule: 'refund' },
        ...{ reason: decidedBy.reason, evidence: {}, declared: null },
      });
    }
}

/**
 * Whether the break is about a line without an explanation. A credit that pays a charge a second
 * time is matched: its break is about the payment.
 */
function isOfUnmatchedLine({ kind }: BreakDecision, { isCredit }: StatementLineFacts): boolean {
  return lineBreakKinds.includes(kind) && !(isCredit && settlementBreakKinds.includes(kind));
}

function lineOf({ lineByNsu }: Component, { nsu, subject }: BreakDecision) {
  return nsu !== null && subject === `nsu:${nsu}` ? lineByNsu.get(nsu) : undefined;
}

/** Credits without another explanation that an own account sent: one of the same holder. */
export function classifyOwnTransfers(component: Component): void {
  for (const line of component.lines) {
    if (!line.isCredit || !component.isUnexpected(line.nsu)) continue;
    if (!line.isFromOwnAccount && !isFromSameAccount(component, line)) continue;
    // Nothing of the other account, to which the readers of this one may have no access.
    const { endToEndId } = line;
    const evidence = endToEndId === null ? {} : { endToEndId };
    component.unmatched.set(line.nsu, classifiedAs('own_account_transfer', evidence));
  }
}

/**
 * A transfer to a key of the same account: its two legs share one id. The bank's id alone proves
 * nothing, so the debit must pay a requested transfer.
 */
function isFromSameAccount(component: Component, line: StatementLineFacts): boolean {
  if (mayBeReversal(line)) return false;
  return component
    .linesWithEndToEndId(line.endToEndId)
    .filter(({ isCredit, amountCents }) => !isCredit && amountCents === line.amountCents)
    .flatMap(({ nsu }) => component.allocationsOfLine(nsu))
    .some(
      ({ role, expectedPaymentId }) =>
        role === 'payment' && component.paymentById.get(expectedPaymentId)?.transfer != null,
    );
}
