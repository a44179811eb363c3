// Finds the periods of the statement that can be closed, and checks whether two full reads of a
// period agree. A closed period misses nothing: every effect before its end was visible when the
// first read began, and the second read, with pages of another size, showed the same lines.
import { addDays } from '../../brazil/calendar.js';
import { statementDayOf, statementDayStart } from '../../brazil/statement-day.js';
import type { StatementState } from '../../generated/service/client.js';

/** The closed period of the statement, in bank time; null while nothing is closed. */
export type ClosedPeriod = Pick<StatementState, 'closedFrom' | 'closedUntil'>;

export interface ClosingNeed {
  /** The start of the period that an outcome waits for; null when no outcome waits. */
  neededFrom: Date | null;
}

/** The closed period, and the needs for a longer closed period. All times are the bank's. */
export interface ClosingNeeds extends ClosedPeriod, ClosingNeed {
  /** The start of the first finished day without a day close; null when there is none. */
  dayCloseFrom: Date | null;
  /** Not later than the start of the first read. */
  bankTime: Date;
  visibilityBoundMs: number;
}

export interface ClosingPeriod {
  /**
   * True when the period follows the closed period or starts a new one; false when it lies before
   * it.
   */
  isForward: boolean;
  /**
   * The statement days that both reads use, yyyy-mm-dd; `endDate` is exclusive, null: up to the
   * newest line.
   */
  startDate: string;
  endDate: string | null;
  from: Date;
  until: Date;
}

/**
 * A longer time since the last closing is read only if an outcome or a day close needs it, because
 * the read is expensive.
 */
const maxUnclosedDays = 7;

const pausePerLineMs = 0.4;

/**
 * The pause after a page of a full read with so many lines. A page of a thousand lines keeps a bank
 * busy that also reports the payments: without pauses, a closing of a long day delays each of them
 * for minutes. There are none if an outcome waits for the closing.
 */
export function pauseAfterPageMs(lines: number, { neededFrom }: ClosingNeed): number {
  return neededFrom === null ? lines * pausePerLineMs : 0;
}

/**
 * The periods that can be closed now: first the period after the closed period, then the period
 * before it if it is needed. The first period ends one visibility bound before the first read. An
 * effect before that end was visible when each of the two reads began. The closed period stays
 * contiguous: it grows at both ends.
 */
export function periodsToClose(need: ClosingNeeds): ClosingPeriod[] {
  const until = new Date(need.bankTime.getTime() - need.visibilityBoundMs);
  const base = forwardStart(need, until);
  const startDate = statementDayOf(base);
  // The bank takes days only. Lines of the first day that are closed already are not compared.
  const from = base === need.closedUntil ? base : statementDayStart(startDate);
  const after: ClosingPeriod = { isForward: true, startDate, endDate: null, from, until };
  const before = base === need.closedUntil ? periodBefore(need) : null;
  return [...(from < until ? [after] : []), ...(before ? [before] : [])];
}

function forwardStart({ closedUntil, neededFrom, dayCloseFrom }: ClosingNeeds, until: Date): Date {
  const oldest = statementDayStart(addDays(statementDayOf(until), -maxUnclosedDays));
  const first = neededFrom ?? dayCloseFrom;
  if (!closedUntil) return first ?? until;
  if (closedUntil >= oldest) return closedUntil;
  return first && first <= closedUntil ? closedUntil : (first ?? until);
}

function periodBefore({
  closedFrom,
  neededFrom,
  dayCloseFrom,
}: ClosingNeeds): ClosingPeriod | null {
  const needs = [neededFrom, dayCloseFrom].filter((need) => need !== null);
  const need = needs.reduce<Date | null>((a, b) => (a && a < b ? a : b), null);
  if (!need || !closedFrom || need >= closedFrom) return null;
  const startDate = statementDayOf(need);
  const endDate = statementDayOf(closedFrom);
  const from = statementDayStart(startDate);
  return { isForward: false, startDate, endDate, from, until: closedFrom };
}

/**
 * The part of a long period that one closing covers: whole days next to the closed period, and at
 * least one day. `cutAt` is the time of the first line beyond the limit, counted from the closed
 * period; null when all lines fit.
 */
export function limitPeriod(period: ClosingPeriod, cutAt: Date | null): ClosingPeriod {
  if (!cutAt) return period;
  const cutDay = statementDayOf(cutAt);
  if (period.isForward) {
    const endDate = cutDay > period.startDate ? cutDay : addDays(period.startDate, 1);
    const until = statementDayStart(endDate);
    return until < period.until ? { ...period, endDate, until } : period;
  }
  const lastDay = addDays(period.endDate ?? cutDay, -1);
  const startDate = addDays(cutDay, 1) < lastDay ? addDays(cutDay, 1) : lastDay;
  const from = statementDayStart(startDate);
  return from > period.from ? { ...period, startDate, from } : period;
}

/** The shape of the pages of one full read. */
export interface PageShape {
  /**
   * The most lines on one page: the bank's own limit, which may be lower than the requested one.
   */
  lines: number;
  /** The number of pages that showed a new line. */
  count: number;
  /** Whether the read ended at a page that the bank repeated, and not at an empty page. */
  isRepeated: boolean;
}

/**
 * The page size of the second read. It is smaller than the bank's own, so that lines at the border
 * of two pages of one read are within one page of the other read.
 */
export function secondPageSize(pageLines: number): number {
  return pageLines > 13 ? pageLines - 13 : Math.max(1, pageLines - 1);
}

/**
 * Whether each read would show a line that the other read missed, at the border of two pages or
 * after a repeated page. Pages of two sizes have their borders and their end at different lines. A
 * single page with nothing after it has no border.
 */
export function haveDifferentPageBorders(first: PageShape, second: PageShape): boolean {
  const isOnePage = ({ count, isRepeated }: PageShape) => count <= 1 && !isRepeated;
  return first.lines !== second.lines || (isOnePage(first) && isOnePage(second));
}
