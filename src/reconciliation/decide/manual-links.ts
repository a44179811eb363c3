// What people linked. A link stands against ids and rules; it has no effect only where it would
// reverse more than was paid.
import type { FinalMatch, ManualLink, StatementLineFacts } from './model.js';
import type { Component } from './component.js';

type LinkedPart = ManualLink['allocations'][number];

/** Makes the links that only pay. Those that reverse a payment wait for the payments. */
export function linkPayments(component: Component): void {
  for (const link of component.facts.links) {
    const line = component.lineByNsu.get(link.nsu);
    if (!line || link.refundOf.length > 0 || hasReversal(component, line, link)) continue;
    // An earlier acceptance of the line's break gives way to the link.
    component.unmatched.delete(link.nsu);
    for (const part of link.allocations) allocateLinked(component, link, part, 'payment');
  }
}

/** Makes the links that reverse a payment, up to what was paid and not reversed. */
export function linkReversals(component: Component): void {
  const linkByNsu = new Map(component.facts.links.map((link) => [link.nsu, link]));
  // In the order of the lines: what is left to reverse depends on the links before.
  for (const line of component.lines) {
    const link = linkByNsu.get(line.nsu);
    if (!link || !hasReversal(component, line, link)) continue;
    const isMore = link.allocations.some(
      (part) =>
        isReversal(component, line, part) &&
        !isOfMultiUse(component, part) &&
        part.amountCents > component.netCents(part.expectedPaymentId),
    );
    if (isMore) continue;
    component.unmatched.delete(link.nsu);
    for (const part of link.allocations)
      allocateLinked(
        component,
        link,
        part,
        isReversal(component, line, part) ? 'reversal' : 'payment',
      );
  }
}

/** The lines whose link is made after the payments: until then, nothing else decides them. */
export function linesOfReversals(component: Component): ReadonlySet<bigint> {
  const nsus = component.facts.links.flatMap((link) => {
    const line = component.lineByNsu.get(link.nsu);
    return line && hasReversal(component, line, link) ? [link.nsu] : [];
  });
  return new Set(nsus);
}

function hasReversal(component: Component, line: StatementLineFacts, link: ManualLink): boolean {
  return link.allocations.some((part) => isReversal(component, line, part));
}

/** A line against the direction of the payment reverses it. */
function isReversal(
  { paymentById }: Component,
  { isCredit }: StatementLineFacts,
  { expectedPaymentId }: LinkedPart,
): boolean {
  return paymentById.get(expectedPaymentId)?.isCredit !== isCredit;
}

/** The payments of a multi-use QR code are decided apart: the limit was checked at the link. */
function isOfMultiUse({ paymentById }: Component, { expectedPaymentId }: LinkedPart): boolean {
  return paymentById.get(expectedPaymentId)?.isMultiUse === true;
}

export function allocateLinked(
  component: Component,
  { nsu, decidedBy }: ManualLink,
  { expectedPaymentId, amountCents }: LinkedPart,
  role: 'payment' | 'reversal',
): void {
  component.allocate({
    ...{ nsu, expectedPaymentId, amountCents, role, rule: 'manual', linkedBy: decidedBy },
    ...{ ruleOwedCents: null, isTolerated: false, declared: null, evidence: {} },
  });
}

/** Matches that became final: recomputation keeps them. */
export function keepFinalMatches(component: Component): void {
  const linked = new Set(component.facts.links.map(({ nsu }) => nsu));
  // The parts of a line end together: they add up to it.
  const separated = new Set(
    component.facts.finalMatches
      .filter((match) => component.isSeparated(match, match.expectedPaymentId))
      .map(({ nsu }) => nsu),
  );
  const isKept = ({ nsu }: FinalMatch) =>
    component.lineByNsu.has(nsu) && !linked.has(nsu) && !separated.has(nsu);
  for (const { owedCents, ...match } of component.facts.finalMatches.filter(isKept))
    component.allocate({ ...match, role: 'payment', ruleOwedCents: owedCents, linkedBy: null });
}

/** Classifications that became final, of lines that nothing else explains. */
export function keepFinalClassifications(component: Component): void {
  for (const { nsu, ruleId, version, ...kept } of component.facts.finalClassifications)
    if (component.lineByNsu.has(nsu) && !component.isDecided(nsu))
      component.unmatched.set(nsu, {
        ...{ outcome: 'classified', rule: 'declared', declared: { ruleId, version } },
        ...kept,
      });
}
