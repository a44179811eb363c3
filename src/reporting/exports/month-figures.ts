// The figures of a month, from totals of its lines, open breaks and certificates. Each line is in
// exactly one group of money, so that the opening balance and all groups add up to the closing one.
import { daysBetween, type PlainDate } from '../../brazil/calendar.js';
import type { Classification } from '../../generated/service/client.js';
import {
  netOf,
  reportDays,
  sumOf,
  type BreakSums,
  type DayFacts,
  type LineTotal,
  type LineSums,
  type ReportDay,
} from './month-days.js';

/** In the order in which people read them. */
export const moneyGroups = [
  ...['received', 'refunds', 'payments', 'returned', 'fees', 'ownTransfers', 'ignored'],
  ...['accepted', 'beforeGoLive', 'unexplained', 'pending'],
] as readonly MoneyGroup[];
export type MoneyGroup =
  | ('received' | 'refunds' | 'payments' | 'returned' | 'fees' | 'ownTransfers' | 'ignored')
  | ('accepted' | 'beforeGoLive' | 'unexplained' | 'pending');

/** Of one kind: the open breaks of the month and of earlier days. */
export interface BreakFigures extends Omit<BreakSums, 'day' | 'isOfLine'> {
  /** Those of days of the month. */
  ofMonth: bigint;
  /** How many are of each of `ages`. */
  byAge: bigint[];
  oldestDay: PlainDate;
}

export interface MonthFigures extends LineSums {
  slug: string;
  /** yyyy-mm. */
  month: string;
  /** By the bank's clock. Ages are as of this day; it is not over. */
  today: PlainDate;
  generatedAt: Date;
  openingCents: bigint;
  closingCents: bigint;
  groups: Readonly<Record<MoneyGroup, LineSums>>;
  breaks: readonly BreakFigures[];
  days: readonly ReportDay[];
}

export type MonthFacts = DayFacts &
  Pick<MonthFigures, 'slug' | 'month' | 'today' | 'generatedAt' | 'openingCents'> & {
    shownDays: readonly PlainDate[];
  };

/** Ages in days of what is open, by their greatest one. */
export const ages = [7, 30, 60, Infinity] as const;

export const ageOf = (day: PlainDate, today: PlainDate): number => {
  const days = Math.max(0, daysBetween(day, today));
  return ages.findIndex((most) => days <= most);
};

export function monthFigures({ shownDays, lines, breaks, certificates, ...facts }: MonthFacts) {
  const total = sumOf(lines);
  const groups = Object.fromEntries(
    moneyGroups.map((group) => [group, sumOf(lines.filter((one) => groupOf(one) === group))]),
  ) as Record<MoneyGroup, LineSums>;
  const figures: MonthFigures = {
    ...facts,
    ...total,
    closingCents: facts.openingCents + netOf(total),
    groups,
    breaks: breaksByKind(breaks, facts),
    days: reportDays(shownDays, facts.openingCents, { lines, breaks, certificates }),
  };
  return figures;
}

/** Of classified lines, whatever their direction: a returned fee is among the fees. */
const groupsByCategory: Record<Classification['category'], MoneyGroup | null> = {
  before_go_live: 'beforeGoLive',
  fee: 'fees',
  tariff: 'fees',
  own_account_transfer: 'ownTransfers',
  ignored: 'ignored',
  accepted: 'accepted',
  // Received without an explanation, and refunded: the credit, or its debit.
  refunded: null,
};

export function groupOf({ state, label, isCredit, undoes }: LineTotal): MoneyGroup {
  if (state === 'pending') return 'pending';
  if (state === 'in_break') return 'unexplained';
  const classified =
    state === 'classified' ? groupsByCategory[label as Classification['category']] : null;
  if (classified) return classified;
  if (state === 'classified') return isCredit ? 'received' : 'refunds';
  if (isCredit) return undoes ? 'returned' : 'received';
  return undoes ? 'refunds' : 'payments';
}

function breaksByKind(
  totals: readonly BreakSums[],
  { month, today }: Pick<MonthFigures, 'month' | 'today'>,
): BreakFigures[] {
  const byKind = new Map<string, BreakFigures>();
  for (const { kind, day, breaks, creditCents, debitCents } of totals) {
    const none = { breaks: 0n, creditCents: 0n, debitCents: 0n, ofMonth: 0n };
    const sum = byKind.get(kind) ?? { kind, ...none, byAge: ages.map(() => 0n), oldestDay: day };
    byKind.set(kind, {
      kind,
      breaks: sum.breaks + breaks,
      creditCents: sum.creditCents + creditCents,
      debitCents: sum.debitCents + debitCents,
      ofMonth: sum.ofMonth + (day.startsWith(month) ? breaks : 0n),
      byAge: sum.byAge.map((count, age) => (age === ageOf(day, today) ? count + breaks : count)),
      oldestDay: day < sum.oldestDay ? day : sum.oldestDay,
    });
  }
  return [...byKind.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1));
}
