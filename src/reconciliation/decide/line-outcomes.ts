// What each line came to: its state, and what explains it. A certificate proves this content.
import type { LineOutcomeState } from '../../generated/service/client.js';
import { explainingBreakKinds } from './break-kinds.js';
import type { OpenBreak } from './breaks.js';
import type { Decision } from './decide.js';
import type { DeclaredRule } from './model.js';

/** A part of the line that accounts for an expected payment. */
interface OutcomePayment {
  expectedPaymentId: string;
  amountCents: bigint;
  role: string;
  rule: string;
  declared: DeclaredRule | null;
}

export interface DecidedOutcome {
  /** An open break precedes a match, and a match a classification. */
  state: LineOutcomeState;
  /** The kinds of the open breaks for which the line counts as in a break. */
  breakKinds: readonly string[];
  classification: { category: string; rule: string; declared: DeclaredRule | null } | null;
  payments: readonly OutcomePayment[];
}

/** The category of a classified line, or the kind of the line's break; null for others. */
export function labelOf({ state, breakKinds, classification }: DecidedOutcome): string | null {
  if (state === 'in_break') return breakKinds[0] ?? null;
  return state === 'classified' ? (classification?.category ?? null) : null;
}

export function lineOutcomes(
  { component }: Decision,
  open: readonly OpenBreak[],
): Map<bigint, DecidedOutcome> {
  const kindsByNsu = new Map<bigint, Set<string>>();
  for (const { kind, nsu } of open) {
    if (nsu === null || !explainingBreakKinds.includes(kind)) continue;
    kindsByNsu.set(nsu, (kindsByNsu.get(nsu) ?? new Set()).add(kind));
  }
  const outcomeOf = (nsu: bigint): DecidedOutcome => {
    const breakKinds = [...(kindsByNsu.get(nsu) ?? [])];
    const payments = component.allocationsOfLine(nsu);
    const unmatched = component.unmatched.get(nsu);
    const classification = unmatched?.outcome === 'classified' ? unmatched : null;
    return inOrder({
      state: stateOf(breakKinds.length > 0, payments.length > 0, classification !== null),
      ...{ breakKinds, classification, payments },
    });
  };
  return new Map(component.facts.lines.map(({ nsu }) => [nsu, outcomeOf(nsu)]));
}

function stateOf(isInBreak: boolean, isMatched: boolean, isClassified: boolean): LineOutcomeState {
  if (isInBreak) return 'in_break';
  if (isMatched) return 'matched';
  return isClassified ? 'classified' : 'pending';
}

/** One order for equal outcomes, whatever the order in which they were decided or read. */
export function inOrder(outcome: DecidedOutcome): DecidedOutcome {
  const payments = [...outcome.payments].sort((a, b) =>
    a.expectedPaymentId < b.expectedPaymentId ? -1 : 1,
  );
  return { ...outcome, breakKinds: [...outcome.breakKinds].sort(), payments };
}
