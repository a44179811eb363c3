// Lines that need no match because a person accepted their break, or because the money was
// refunded.
import { lineBreakKinds } from './break-kinds.js';
import type { BreakDecision, StatementLineFacts } from './model.js';
import { isResolvedByRefund, standingDecisions } from './break-decisions.js';
import type { Component } from './component.js';
import type { RefundsByCredit } from './refunds.js';

/** Lines whose break a person accepted need no further explanation. */
export function acceptLines(component: Component): void {
  for (const { accepted } of standingDecisions(component.facts.decisions).values()) {
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
export function classifyRefunded(component: Component, refunds: RefundsByCredit): void {
  for (const { requestedRefunds } of standingDecisions(component.facts.decisions).values())
    for (const requested of requestedRefunds) {
      const line = lineOf(component, requested);
      if (!line || component.unmatched.get(line.nsu)?.outcome !== 'break') continue;
      if (!isOfUnmatchedLine(requested, line)) continue;
      if (!isResolvedByRefund(component, requested, line, refunds)) continue;
      const { breakId, reason } = requested;
      component.unmatched.set(line.nsu, {
        ...{ outcome: 'classified', category: 'refunded', rule: 'refund' },
        ...{ reason, evidence: { breakId }, declared: null },
      });
    }
}

/**
 * Whether the break is about a line without an explanation. A credit that pays a charge a second
 * time is matched: its break is about the payment.
 */
function isOfUnmatchedLine({ kind }: BreakDecision, { isCredit }: StatementLineFacts): boolean {
  if (kind === 'duplicate_payment') return !isCredit;
  return lineBreakKinds.includes(kind);
}

function lineOf({ lineByNsu }: Component, { nsu, subject }: BreakDecision) {
  return nsu !== null && subject === `nsu:${nsu}` ? lineByNsu.get(nsu) : undefined;
}
