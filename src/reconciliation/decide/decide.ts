// The matcher: decides what every line of a component means, from facts alone. The steps follow one
// another from the strongest evidence to the weakest, and each goes through the lines in the order
// in which they happened.
import type { Facts, PaymentFinding } from './model.js';
import {
  payableBy,
  payByReference,
  payByReport,
  payUnreferenced,
  unconfirmedDebits,
} from './by-reference.js';
import { payByConditions } from './by-conditions.js';
import { applyRules } from './by-rule.js';
import { acceptLines, classifyOwnTransfers, classifyRefunded } from './classified-lines.js';
import { Component } from './component.js';
import {
  keepFinalClassifications,
  keepFinalMatches,
  linesOfReversals,
  linkPayments,
  linkReversals,
} from './manual-links.js';
import { findMissing, findSecondBillPayments, findUnknownOutcomes } from './missing.js';
import { findLateLines, findSettlementFindings } from './payment-findings.js';
import {
  findOverRefunded,
  linesOfLinkedRefunds,
  linkRefunds,
  refundUnrequested,
  tieByPayer,
} from './refunds.js';
import { mayBeReversal, reverse } from './reversals.js';
import { decideUnrequestedDebits } from './unrequested-debits.js';
import { resultsOfAll, type Allocated } from './totals.js';

/** What the facts mean. */
export interface Decision extends Allocated {
  findings: readonly PaymentFinding[];
}

export function decide(facts: Facts): Decision {
  const component = new Component(facts);
  // 1. People.
  acceptLines(component);
  linkPayments(component);
  keepFinalMatches(component);
  // 2. The ids on the lines, and those of webhooks about them.
  const awaitsPayments = new Set([
    ...linesOfReversals(component),
    ...linesOfLinkedRefunds(component),
  ]);
  const isFree = ({ nsu }: { nsu: bigint }) =>
    !component.isDecided(nsu) && !awaitsPayments.has(nsu);
  for (const line of component.lines) {
    const payable = isFree(line) ? payableBy(component, line) : [];
    if (payable.length > 0) payByReference(component, line, payable);
  }
  for (const line of component.lines) if (isFree(line)) payByReport(component, line);
  keepFinalClassifications(component);
  // 3. Operations whose response never came, and refunds of which the payer alone says of what.
  const debits = unconfirmedDebits(facts.expectedPayments);
  for (const line of component.lines) {
    if (line.isCredit || !isFree(line)) continue;
    payUnreferenced(component, line, debits);
    if (!component.isDecided(line.nsu)) tieByPayer(component, line);
  }
  // 4. Reversals of sent money.
  linkReversals(component);
  for (const line of component.lines)
    if (!component.isDecided(line.nsu) && mayBeReversal(line)) reverse(component, line);
  // 5. Refunds of received money that nobody requested. Those that a person linked come first.
  decideRefunds(component);
  // 6. What is left is unexpected, unless our own accounts, a refund, the conditions of a declared
  // payment or a rule explain it.
  for (const line of component.lines)
    if (!component.isDecided(line.nsu)) component.leaveUnmatched(line, 'unexpected');
  classifyOwnTransfers(component);
  classifyRefunded(component);
  applyRules(component, payByConditions(component));
  // A rule may have matched a credit whose refund was unexpected until now.
  decideRefunds(component);
  // 7. Debits that are still unexpected wait for an open operation, or nobody requested them.
  decideUnrequestedDebits(component);
  const results = resultsOfAll(component);
  const findings = [
    ...findSettlementFindings(component, results),
    ...findLateLines(component),
    ...findOverRefunded(component),
    ...findMissing(component),
    ...findSecondBillPayments(component),
    ...findUnknownOutcomes(facts.operations, facts.decisions),
  ];
  return { component, results, findings };
}

/** Decides the debits without an explanation that may refund a credit. */
function decideRefunds(component: Component): void {
  linkRefunds(component);
  for (const line of component.lines) {
    const isOpen = component.isUnexpected(line.nsu) || !component.isDecided(line.nsu);
    if (line.isCredit || !isOpen) continue;
    component.unmatched.delete(line.nsu);
    refundUnrequested(component, line);
  }
}
