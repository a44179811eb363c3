// The lines that a version in trial would decide otherwise, each with its outcome before and after.
// They are stored with the trial, because only the trial knows what the version would decide.
import { nameSchemas } from '../../bank-contract/wire.js';
import { z } from 'zod';
import type { RuleDecision } from '../decide/by-rule.js';
import type { Decision } from '../decide/decide.js';
import type { HistoryLine } from './rule-trials.queries.js';
import { bigintText } from '../load/stored-rule.js';

/** What a trial counts, in the order in which people read it. */
export const trialFigures = [
  'matchedMore',
  'classifiedMore',
  'changed',
  'less',
  'ambiguous',
  'conflicts',
] as const;
export type TrialFigure = (typeof trialFigures)[number];

/** Of each figure, so many lines are stored with their outcomes. */
export const changesStored = 50;
/** A line may pay a thousand sales. */
const paymentsStored = 5;

const trialOutcome = z.object({
  state: z.enum(['matched', 'classified', 'in_break', 'pending']),
  /** The category of a classified line, or the kind of the break. */
  label: z.string().nullable(),
  /** The account's own rule that decides it. */
  ruleId: z.string().nullable(),
  payments: z.object({ count: z.int(), ids: z.array(z.string()) }),
});
export type TrialOutcome = z.output<typeof trialOutcome>;

const trialChange = z.object({
  nsu: bigintText,
  figure: z.enum(trialFigures),
  before: trialOutcome,
  after: trialOutcome,
});
export type TrialChange = z.output<typeof trialChange>;

export const storedChanges = z.array(trialChange);

type CurrentOutcome = Pick<
  HistoryLine,
  'isByRule' | 'isMatched' | 'breakKind' | 'category' | 'ruleId' | 'expectedPaymentIds'
>;

/** What the line is now. */
export function outcomeNow(line: CurrentOutcome): TrialOutcome {
  const { isByRule, isMatched, breakKind, category, ruleId, expectedPaymentIds } = line;
  if (isMatched || (isByRule && expectedPaymentIds.length > 0))
    return { state: 'matched', label: null, ruleId, payments: storedPayments(expectedPaymentIds) };
  if (isByRule) return { ...nothing, state: 'classified', label: category, ruleId };
  return breakKind === null ? nothing : { ...nothing, state: 'in_break', label: breakKind };
}

/** What the trial decides for the line. */
export function outcomeInTrial(nsu: bigint, { component }: Decision): TrialOutcome {
  const allocations = component.allocationsOfLine(nsu);
  const [first] = allocations;
  if (first) {
    const ids = allocations.map(({ expectedPaymentId }) => expectedPaymentId);
    const ruleId = first.declared?.ruleId ?? null;
    return { state: 'matched', label: null, ruleId, payments: storedPayments(ids) };
  }
  const outcome = component.unmatched.get(nsu);
  if (outcome?.outcome === 'classified') {
    const { category, declared } = outcome;
    return {
      ...nothing,
      state: 'classified',
      label: category,
      ruleId: declared?.ruleId ?? null,
    };
  }
  return outcome?.outcome === 'break'
    ? { ...nothing, state: 'in_break', label: outcome.kind }
    : nothing;
}

/** What the rule alone decides for a line; it would find an outcome. */
export function outcomeByRule(decision: RuleDecision): TrialOutcome {
  switch (decision.outcome) {
    case 'nothing':
      return nothing;
    case 'ambiguous':
      return { ...nothing, state: 'in_break', label: 'ambiguous' };
    case 'classified': {
      const { category: label, rule } = decision;
      return { ...nothing, state: 'classified', label, ruleId: rule.ruleId };
    }
    case 'matched': {
      const ids = decision.payments.map(({ expected }) => expected.expectedPaymentId);
      const { ruleId } = decision.rule;
      return { state: 'matched', label: null, ruleId, payments: storedPayments(ids) };
    }
  }
}

const nothing: TrialOutcome = {
  state: 'pending',
  label: null,
  ruleId: null,
  payments: { count: 0, ids: [] },
};

function storedPayments(ids: readonly string[]): TrialOutcome['payments'] {
  const sorted = [...new Set(ids)].sort();
  return { count: sorted.length, ids: sorted.slice(0, paymentsStored) };
}

/** Whether people see the same: the deciding rule alone makes no difference. */
export function isSameOutcome(one: TrialOutcome, other: TrialOutcome): boolean {
  return (
    one.state === other.state &&
    one.label === other.label &&
    one.payments.count === other.payments.count &&
    one.payments.ids.join() === other.payments.ids.join()
  );
}

nameSchemas({ TrialOutcome: trialOutcome, TrialChange: trialChange });
