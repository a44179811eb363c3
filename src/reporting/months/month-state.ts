// Where a month stands, from what was decided about it; and which changes an open month lists.
import {
  addDays,
  monthAfter,
  monthBefore,
  monthOf,
  type PlainDate,
} from '../../brazil/calendar.js';
import type { MonthClose, MonthDecision } from '../../generated/service/client.js';

export const monthStates = ['open', 'prepared', 'closed'] as const;

export interface MonthStanding<Decision, Close> {
  state: (typeof monthStates)[number];
  /** The preparation that waits for its approval. */
  prepared: Decision | null;
  /** The close that stands: not reopened since. */
  closed: Close | null;
}

/** Decisions are in their order. */
export function standingOf<
  Decision extends Pick<MonthDecision, 'action' | 'sequence'>,
  Close extends Pick<MonthClose, 'approval'>,
>(decisions: readonly Decision[], closes: readonly Close[]): MonthStanding<Decision, Close> {
  const last = decisions.findLast(({ action }) => action !== 'accept');
  if (last?.action === 'prepare') return { state: 'prepared', prepared: last, closed: null };
  const closed = closes.find(({ approval }) => approval === last?.sequence) ?? null;
  return { state: closed ? 'closed' : 'open', prepared: null, closed };
}

/** The arrival of lines and the sequence of outcomes up to which a report has them. */
export type ReportCut = Pick<MonthClose, 'lastArrival' | 'outcomeSequence'>;
export type StandingClose = ReportCut & Pick<MonthClose, 'month'>;

export interface AmendedMonths {
  from: string;
  to: string;
  cut: ReportCut;
}

/** Ascending, from the month of `firstDay` to `last`. */
export function monthsUntil(last: string, firstDay: PlainDate): string[] {
  const months: string[] = [];
  for (let month = monthOf(firstDay); month <= last; month = monthAfter(month)) months.push(month);
  return months;
}

/** The last month that has been over for so many whole days. */
export const lastMonthOver = (days: number, today: PlainDate) =>
  monthBefore(monthOf(addDays(today, -days)));

/**
 * What changed after a close belongs to the first open month after it: the closed months directly
 * before `open`, each since the last report that lists its changes. A later month's close lists
 * those of the months before it. Months with the same cut are one span.
 */
export function amendedBefore(open: string, closes: readonly StandingClose[]): AmendedMonths[] {
  const closed = new Map(closes.map((close) => [close.month, close]));
  const spans: AmendedMonths[] = [];
  let month = monthBefore(open);
  let cut: ReportCut | null = null;
  for (let close = closed.get(month); close; close = closed.get(month)) {
    const isLater: boolean = cut === null || isAfter(close, cut);
    const { lastArrival, outcomeSequence } = close;
    if (isLater) {
      cut = { lastArrival, outcomeSequence };
      spans.unshift({ from: month, to: month, cut });
    } else spans[0]!.from = month;
    month = monthBefore(month);
  }
  return spans;
}

/** Both only grow, and both reports were read under the lock of the account. */
const isAfter = (one: ReportCut, other: ReportCut) =>
  one.outcomeSequence > other.outcomeSequence || one.lastArrival > other.lastArrival;
