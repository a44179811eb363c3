// Whether everything is explained, in one sentence or in what is wrong.
import type { TextKey } from '../texts.js';

/** The facts of the summary that the sentence depends on. */
export interface TodayFacts {
  total: bigint;
  pending: bigint;
  complete: boolean;
  /** Null where the bank's balance is not known yet. */
  balanceAgrees: boolean | null;
  openBreaks: bigint;
  /** Operations whose outcome is unknown, or needs a person. */
  unknown: bigint;
  overdue: bigint;
}

export interface Problem {
  key: TextKey;
  count: bigint | null;
}

/** What is wrong, the gravest first. Empty: everything is explained. */
export function findProblems(facts: TodayFacts): Problem[] {
  const problems: Problem[] = [];
  const add = (key: TextKey, count: bigint | null = null) => problems.push({ key, count });
  if (facts.balanceAgrees === false) add('today.balanceDiffers');
  if (!facts.complete && facts.total > 0n) add('today.incomplete');
  if (facts.openBreaks > 0n) add('today.openBreaks', facts.openBreaks);
  if (facts.unknown > 0n) add('today.unknown', facts.unknown);
  if (facts.pending > 0n) add('today.pending', facts.pending);
  if (facts.overdue > 0n) add('today.overdue', facts.overdue);
  return problems;
}
