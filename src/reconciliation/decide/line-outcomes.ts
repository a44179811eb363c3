// What each line came to: its state, and what explains it. A certificate proves this content.
import type { LineOutcomeState } from '../../generated/service/client.js';
import { explainingBreakKinds } from './break-kinds.js';
import type { OpenBreak } from './breaks.js';
import type { Decision } from './decide.js';
import type { DeclaredRule } from './model.js';
import { groupBy } from '../../platform/grouping.js';

/** A part of the line that accounts for an expected payment. */
interface OutcomePayment {
  expectedPaymentId: string;
  amountCents: bigint;
  role: string;
  rule: string;
  declared: DeclaredRule | null;
}

/** An open break for which the line counts as in a break. */
interface OutcomeBreak {
  kind: string;
  amountCents: bigint | null;
  expectedPaymentId: string | null;
}

export interface DecidedOutcome {
  /** An open break precedes a match, and a match a classification. */
  state: LineOutcomeState;
  breaks: readonly OutcomeBreak[];
  classification: { category: string; rule: string; declared: DeclaredRule | null } | null;
  payments: readonly OutcomePayment[];
}

/** The category of a classified line, or the kind of the line's break; null for others. */
export function labelOf({ state, breaks, classification }: DecidedOutcome): string | null {
  if (state === 'in_break') return breaks[0]?.kind ?? null;
  return state === 'classified' ? (classification?.category ?? null) : null;
}

export function lineOutcomes(
  { component }: Decision,
  open: readonly OpenBreak[],
): Map<bigint, DecidedOutcome> {
  const explaining = open.filter(({ kind }) => explainingBreakKinds.includes(kind));
  const breaksByNsu = groupBy(explaining, ({ nsu }) => nsu);
  const outcomeOf = (nsu: bigint): DecidedOutcome => {
    const breaks = breaksByNsu.get(nsu) ?? [];
    const payments = component.allocationsOfLine(nsu);
    const unmatched = component.unmatched.get(nsu);
    const classification = unmatched?.outcome === 'classified' ? unmatched : null;
    const state = stateOf(breaks.length > 0, payments.length > 0, classification !== null);
    return inOrder({ state, breaks, classification, payments });
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
  const { payments, breaks } = outcome;
  if (payments.length + breaks.length < 2) return outcome;
  return {
    ...outcome,
    payments: [...payments].sort((a, b) => (a.expectedPaymentId < b.expectedPaymentId ? -1 : 1)),
    breaks: [...breaks].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
  };
}

const keyOf = ({ kind, amountCents, expectedPaymentId }: OutcomeBreak): string =>
  `${kind} ${expectedPaymentId ?? ''} ${amountCents ?? ''}`;
