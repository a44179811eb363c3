// What each state of an operation says, declared once. Limits, identities, duplicates, recovery and
// what callers are answered read these lists.
import type { OperationState } from '../generated/service/enums.js';

interface OperationStateDeclaration {
  /** `none`: the bank refused it, it was proven not executed, or it was never sent. */
  effect: 'not known' | 'accepted' | 'none';
  /** Whether the service has stopped working on it. Later evidence may still change it. */
  isFinal: boolean;
  /** Whether what the statement or the bank shows later resolves it. */
  isUnresolved: boolean;
}

const waiting = { effect: 'not known', isFinal: false, isUnresolved: false } as const;
const withoutEffect = { effect: 'none', isFinal: true, isUnresolved: false } as const;

const operationStates: Readonly<Record<OperationState, OperationStateDeclaration>> = {
  received: waiting,
  sending: waiting,
  unknown: { ...waiting, isUnresolved: true },
  needs_operator: { effect: 'not known', isFinal: true, isUnresolved: true },
  awaiting_approval: waiting,
  succeeded: { effect: 'accepted', isFinal: true, isUnresolved: false },
  rejected: withoutEffect,
  not_executed: { ...withoutEffect, isUnresolved: true },
  declined: withoutEffect,
  expired: withoutEffect,
};

export const isFinalState = (state: OperationState): boolean => operationStates[state].isFinal;
export const hasNoEffect = (state: OperationState): boolean =>
  operationStates[state].effect === 'none';

function statesWhere(holds: (declaration: OperationStateDeclaration) => boolean) {
  return (Object.keys(operationStates) as OperationState[]).filter((state) =>
    holds(operationStates[state]),
  );
}

export const finalStates = statesWhere(({ isFinal }) => isFinal);
export const statesWithoutEffect = statesWhere(({ effect }) => effect === 'none');
export const unresolvedStates = statesWhere(({ isUnresolved }) => isUnresolved);

/** Operations in these states are few, and have an index. */
export const statesWithUnknownEffect = statesWhere(({ effect }) => effect === 'not known');

/** A condition as the indexes have it: with a parameter, PostgreSQL would not use them. */
export const hasUnknownEffect = statesWithUnknownEffect
  .map((state) => `state = '${state}'`)
  .join(' OR ');
