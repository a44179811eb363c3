// Which breaks are open, which follows from the findings and from the decisions of people.
import { groupBy } from '../../platform/grouping.js';
import { subjectOfLine } from './break-kinds.js';
import type { BreakDecision, PaymentFinding } from './model.js';
import { breakKey, type Component } from './component.js';
import type { Decision } from './decide.js';
import { isRefundShown } from './refunds.js';

/** A break that is open, with what it is about. */
export type OpenBreak = Omit<PaymentFinding, 'kind'> & { kind: string };

/** The breaks that the facts leave open. */
export function openBreaks({ component, findings }: Decision): OpenBreak[] {
  const bySubject = groupBySubject(component);
  const ofPayments = findings.filter(({ kind, subject, nsu, ...finding }) => {
    const own = component.standingDecisions.get(breakKey({ kind, subject }))?.accepted;
    if (own && covers(own, finding.amountCents)) return false;
    if (nsu === null || subject !== subjectOfLine(nsu) || kind === 'over_refunded') return true;
    // What a person settled about a line is not reported again under another kind.
    const isSplit = component.allocationsOfLine(nsu).length > 1;
    return !(bySubject.get(subject) ?? []).some(
      (other) =>
        other.expectedPaymentId === finding.expectedPaymentId &&
        (other.action === 'accept' || isSplit || other.kind === 'underpaid') &&
        covers(other, finding.amountCents),
    );
  });
  const ofLines = component.facts.lines.flatMap(({ nsu, amountCents }): OpenBreak[] => {
    const outcome = component.unmatched.get(nsu);
    if (outcome?.outcome !== 'break') return [];
    const { kind, expectedPaymentId, candidates, originalNsu } = outcome;
    const original = originalNsu === null ? {} : { originalNsu: originalNsu.toString() };
    const evidence = { candidates, ...original };
    return [{ kind, subject: subjectOfLine(nsu), amountCents, nsu, expectedPaymentId, evidence }];
  });
  return [...ofLines, ...ofPayments];
}

/** The standing acceptances of each subject's breaks, and the refunds that the statement shows. */
function groupBySubject(component: Component): Map<string, BreakDecision[]> {
  const standing = component.facts.decisions.filter((decision) => {
    const { accepted, requestedRefunds } =
      component.standingDecisions.get(breakKey(decision)) ?? {};
    const isRequested = requestedRefunds?.includes(decision) === true;
    return decision === accepted || (isRequested && isRefundShown(component, decision));
  });
  return groupBy(standing, ({ subject }) => subject);
}

/** A decision covers up to its amount; a larger amount opens the break again. */
function covers({ cents }: BreakDecision, amountCents: bigint | null): boolean {
  return amountCents === null || (cents !== null && amountCents <= cents);
}

/** How a break ended that is no longer open: by a person or a policy, or by itself. */
export interface Resolution {
  resolution: 'accept' | 'refund' | 'link' | null;
  actor: string | null;
  reason: string | null;
  /** What the acceptance covers. */
  cents: bigint | null;
}

export function resolutionOf(
  component: Component,
  ended: { kind: string; subject: string },
): Resolution {
  const {
    accepted = null,
    linked = null,
    requestedRefunds = [],
  } = component.standingDecisions.get(breakKey(ended)) ?? {};
  const refund = requestedRefunds.find((requested) => isRefundShown(component, requested));
  const decided = accepted ?? linked ?? refund;
  if (!decided) return { resolution: null, actor: null, reason: null, cents: null };
  const { actor, reason } = decided;
  const resolution = accepted ? 'accept' : linked ? 'link' : 'refund';
  return { resolution, actor, reason, cents: accepted?.cents ?? null };
}
