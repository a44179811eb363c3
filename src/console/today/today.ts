// Whether everything is explained, in one sentence or in what is wrong, and which page shows it.
import type { TextKey } from '../texts.js';

/** The days of the charts, the last one of them today. */
export const chartDays = 30;

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
  needsOperator: bigint;
  overdue: bigint;
  awaitingApproval: bigint;
  firingAlerts: number;
}

export interface Problem {
  key: TextKey;
  count: bigint | null;
  /** The page that shows it, below the account's. */
  page: string;
}

/** What is wrong, the gravest first. Empty: everything is explained. */
export function findProblems(facts: TodayFacts): Problem[] {
  const problems: Problem[] = [];
  const add = (key: TextKey, page: string, count: bigint | null = null) =>
    problems.push({ key, page, count });
  if (facts.balanceAgrees === false) add('today.balanceDiffers', 'breaks?kind=balance_mismatch');
  if (!facts.complete && facts.total > 0n) add('today.incomplete', 'statement');
  if (facts.openBreaks > 0n) add('today.openBreaks', 'breaks?state=open', facts.openBreaks);
  if (facts.unknown > 0n) add('today.unknown', 'operations?state=unknown', facts.unknown);
  if (facts.needsOperator > 0n)
    add('today.needPerson', 'operations?state=needs_operator', facts.needsOperator);
  if (facts.pending > 0n) add('today.pending', 'statement?state=pending', facts.pending);
  if (facts.overdue > 0n) add('today.overdue', 'expected-payments?state=overdue', facts.overdue);
  return problems;
}

/** What waits for somebody although nothing is wrong. */
export function findWork({ awaitingApproval, firingAlerts }: TodayFacts): Problem[] {
  const work: Problem[] = [];
  if (awaitingApproval > 0n)
    work.push({ key: 'today.awaiting', page: 'approvals', count: awaitingApproval });
  if (firingAlerts > 0)
    work.push({ key: 'today.firing', page: 'alerts?state=firing', count: BigInt(firingAlerts) });
  return work;
}
