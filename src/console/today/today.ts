// Whether everything is explained, in one sentence or in what is wrong, and which page shows it.
import type { TextKey } from '../texts.js';

/** The days of the charts, the last one of them today. */
export const chartDays = 30;
/** So many payments that are overdue are added up: the latest of them. */
export const maxOverdue = 1_000;

/** The facts of the summary that the sentence depends on. */
export interface TodayFacts {
  total: bigint;
  /** Why the bank has not shown the statement since then; null where the last sync succeeded. */
  readFailure: string | null;
  readFailedSince: Date | null;
  syncedAt: Date | null;
  /** Since when a guarded account is not read often enough; null where it is. */
  notGuardedSince: Date | null;
  /** Why webhooks could not be registered at the bank; null where they are. */
  registrationFailure: string | null;
  webhooksQuarantined: bigint;
  now: Date;
  pending: bigint;
  complete: boolean;
  /** Null where the bank's balance is not known yet. */
  balanceAgrees: boolean | null;
  openBreaks: bigint;
  /** Operations whose outcome is unknown, or needs a person. */
  unknown: bigint;
  needsOperator: bigint;
  overdue: bigint;
}

export interface Problem {
  key: TextKey;
  count: bigint | null;
  since: Date | null;
  /** The page that shows it, below the account's. */
  page: string;
}

/** What is wrong, the gravest first. Empty: everything is explained. */
export function findProblems(facts: TodayFacts): Problem[] {
  const problems: Problem[] = [];
  const add = (
    key: TextKey,
    page: string,
    count: bigint | null = null,
    since: Date | null = null,
  ) => problems.push({ key, page, count, since });
  const { readFailure, readFailedSince, now } = facts;
  if (readFailure === 'key_refused') add('today.keyRefused', 'account', null, readFailedSince);
  else if (isOlder(readFailedSince, now, failingMs) || isOlder(facts.syncedAt, now, silentMs))
    add('today.stalled', 'connections', null, facts.syncedAt ?? readFailedSince);
  if (facts.notGuardedSince !== null)
    add('today.notGuarded', 'connections', null, facts.notGuardedSince);
  if (facts.balanceAgrees === false) add('today.balanceDiffers', 'breaks?kind=balance_mismatch');
  if (!facts.complete && facts.total > 0n) add('today.incomplete', 'statement');
  if (facts.registrationFailure !== null)
    add('today.notRegistered', 'webhook-health/registrations');
  if (facts.webhooksQuarantined > 0n)
    add('today.quarantined', 'webhooks?state=quarantined', facts.webhooksQuarantined);
  if (facts.openBreaks > 0n) add('today.openBreaks', 'breaks?state=open', facts.openBreaks);
  if (facts.unknown > 0n) add('today.unknown', 'operations?state=unknown', facts.unknown);
  if (facts.needsOperator > 0n)
    add('today.needPerson', 'operations?state=needs_operator', facts.needsOperator);
  if (facts.pending > 0n) add('today.pending', 'statement?state=pending', facts.pending);
  if (facts.overdue > 0n) add('today.overdue', 'expected-payments?state=overdue', facts.overdue);
  return problems;
}

/** A statement whose reads fail for so long, or that was not read, may not show what is now. */
const failingMs = 5 * 60_000;
const silentMs = 60 * 60_000;

function isOlder(time: Date | null, now: Date, ageMs: number): boolean {
  return time !== null && now.getTime() - time.getTime() > ageMs;
}

export interface WorkSum {
  topic: 'break' | 'operation' | 'overdue' | 'line';
  /** The kind of the breaks, the state of the operations or lines; `in` or `out` of payments. */
  name: string;
  count: bigint;
  cents: bigint;
  /** How many have no amount, and are in no sum. */
  withoutAmount: bigint;
}

/** What a person can take up now. */
export interface WorkItem {
  /** The kind of the breaks; null for anything else. */
  breakKind: string | null;
  label: TextKey;
  page: string;
  count: bigint;
  /** Null where amounts say nothing. */
  cents: bigint | null;
  withoutAmount: bigint;
}

type Place = readonly [label: TextKey, page: string];

/** What a person decides comes before breaks, and what others must do after them. */
const firstWork = {
  'operation awaiting_approval': ['today.awaitingApproval', 'approvals'],
  'operation needs_operator': ['today.needsOperator', 'operations?state=needs_operator'],
  'operation unknown': ['today.unknownOperations', 'operations?state=unknown'],
} as const satisfies Record<string, Place>;
const lastWork = {
  'overdue in': ['today.overdueIn', 'expected-payments?state=overdue'],
  'overdue out': ['today.overdueOut', 'expected-payments?state=overdue'],
  'line pending': ['line.state.pending', 'statement?state=pending'],
} as const satisfies Record<string, Place>;

/** Breaks stand in the order of their sums, the largest first. */
export function listWork(sums: readonly WorkSum[], firingAlerts: number): WorkItem[] {
  const itemsOf = (places: Record<string, Place>) =>
    Object.entries(places).flatMap(([key, [label, page]]): WorkItem[] => {
      const sum = sums.find(({ topic, name }) => `${topic} ${name}` === key);
      return sum ? [{ ...sum, breakKind: null, label, page }] : [];
    });
  const breaks = sums
    .filter(({ topic }) => topic === 'break')
    .sort((one, other) => Number(other.cents - one.cents))
    .map(({ name, ...sum }): WorkItem => {
      const page = `breaks?state=open&kind=${name}`;
      return { ...sum, breakKind: name, label: 'today.breaks', page };
    });
  const alerts: WorkItem = {
    ...{ breakKind: null, label: 'today.firing', page: 'alerts?state=firing' },
    ...{ count: BigInt(firingAlerts), cents: null, withoutAmount: 0n },
  };
  return [
    ...itemsOf(firstWork),
    ...breaks,
    ...itemsOf(lastWork),
    ...(firingAlerts > 0 ? [alerts] : []),
  ];
}
