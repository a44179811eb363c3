// What people and policies decided about breaks, and what of it still stands.
import type { BreakDecision } from './model.js';

export interface StandingDecisions {
  /** The acceptance that no later action of a person took back. */
  accepted: BreakDecision | null;
  /** The link that resolved the break, and that no person has undone. */
  linked: BreakDecision | null;
  /** Refunds requested since a person last reopened the break. */
  requestedRefunds: BreakDecision[];
}

const nothing: StandingDecisions = { accepted: null, linked: null, requestedRefunds: [] };

export const breakKey = ({ kind, subject }: { kind: string; subject: string }): string =>
  `${kind} ${subject}`;

/** By `breakKey`. The decisions are in the order of their sequence. */
export function standingDecisions(
  decisions: readonly BreakDecision[],
): Map<string, StandingDecisions> {
  const standing = new Map<string, StandingDecisions>();
  for (const decision of decisions) {
    const key = breakKey(decision);
    const before = standing.get(key) ?? nothing;
    standing.set(key, after(before, decision));
  }
  return standing;
}

function after(before: StandingDecisions, decision: BreakDecision): StandingDecisions {
  const { requestedRefunds } = before;
  switch (decision.action) {
    case 'accept':
      return { accepted: decision, linked: null, requestedRefunds };
    case 'refund':
      return { ...nothing, requestedRefunds: [...requestedRefunds, decision] };
    case 'link':
      return { ...nothing, linked: decision };
    case 'reopen':
    case 'unlink':
      return nothing;
    case 'resend':
      return before;
  }
}
