// Which span of the statement two readings can close, and whether they agree on it. A span is closed when
// nothing can be missing from it: everything that happened before its end must have been visible when the first
// reading began, and the second, with pages of another size, must have shown the same.
import { addDays } from '../brazil/calendar.js';
import { statementDayOf, statementDayStart } from '../brazil/statement-day.js';
import type { LineReading } from './line.js';

/** Times are the bank's. */
export interface ClosingNeed {
  closedFrom: Date | null;
  closedUntil: Date | null;
  /** From when on an outcome waits for a closed span; null when none does. */
  neededFrom: Date | null;
  /** When the first day began that is over and has no close; null when there is none. */
  daysFrom: Date | null;
  /** Not later than the moment at which the first reading begins. */
  bankTime: Date;
  visibilityBoundMs: number;
}

export interface Span {
  /** Whether it follows what is closed, or begins anew; else it lies before it. */
  isForward: boolean;
  /** The statement's days that both readings begin with and end before, yyyy-mm-dd; null: up to the newest line. */
  startDate: string;
  endDate: string | null;
  from: Date;
  until: Date;
}

/** Beyond this, reading all that came since would cost more than it tells, unless somebody waits for it. */
const longestGapDays = 7;

/**
 * What can be closed by now: what came since, first, and what lies before it and is waited for. The end lies one
 * visibility bound before the first reading: an effect before it had shown by then, and the more so when the second
 * reading began. What is closed stays in one piece: it grows at both ends.
 */
export function spansToClose(need: ClosingNeed): Span[] {
  const until = new Date(need.bankTime.getTime() - need.visibilityBoundMs);
  const base = baseOf(need, until);
  const startDate = statementDayOf(base);
  const from = statementDayStart(startDate);
  const front: Span = { isForward: true, startDate, endDate: null, from, until };
  const before = base === need.closedUntil ? spanBefore(need) : null;
  return [...(from < until ? [front] : []), ...(before ? [before] : [])];
}

function baseOf({ closedUntil, neededFrom, daysFrom }: ClosingNeed, until: Date): Date {
  const oldest = statementDayStart(addDays(statementDayOf(until), -longestGapDays));
  const first = neededFrom ?? daysFrom;
  if (!closedUntil) return first ?? until;
  if (closedUntil >= oldest) return closedUntil;
  return first && first <= closedUntil ? closedUntil : (first ?? until);
}

function spanBefore({ closedFrom, neededFrom, daysFrom }: ClosingNeed): Span | null {
  const needs = [neededFrom, daysFrom].filter((need) => need !== null);
  const need = needs.reduce<Date | null>((a, b) => (a && a < b ? a : b), null);
  if (!need || !closedFrom || need >= closedFrom) return null;
  const startDate = statementDayOf(need);
  const endDate = statementDayOf(closedFrom);
  const from = statementDayStart(startDate);
  return { isForward: false, startDate, endDate, from, until: closedFrom };
}

/**
 * The piece of a long span that touches what is closed. `cutAt` is the time of a line that is one too many, counted from
 * there; a piece has at least one day.
 */
export function pieceOf(span: Span, cutAt: Date | null): Span {
  if (!cutAt) return span;
  const cutDay = statementDayOf(cutAt);
  if (span.isForward) {
    const endDate = cutDay > span.startDate ? cutDay : addDays(span.startDate, 1);
    const until = statementDayStart(endDate);
    return until < span.until ? { ...span, endDate, until } : span;
  }
  const lastDay = addDays(span.endDate ?? cutDay, -1);
  const startDate = addDays(cutDay, 1) < lastDay ? addDays(cutDay, 1) : lastDay;
  const from = statementDayStart(startDate);
  return from > span.from ? { ...span, startDate, from } : span;
}

/** What one reading showed of a span: each line by its number and content. */
export function linesOf(readings: Iterable<LineReading>, { until }: Span): Set<string> {
  const lines = new Set<string>();
  for (const reading of readings) {
    // A line that cannot be read has no time that could be believed: it counts, wherever it stands.
    if (!reading.ok) lines.add(`${reading.nsu} ${reading.contentHash}`);
    else if (reading.line.occurredAt < until)
      lines.add(`${reading.line.nsu} ${reading.line.contentHash}`);
  }
  return lines;
}

export function isSame(first: ReadonlySet<string>, second: ReadonlySet<string>): boolean {
  return first.size === second.size && [...first].every((line) => second.has(line));
}

/** How one reading's pages were cut. */
export interface Pages {
  /** The most lines on one: what the bank puts on it, whatever it was asked for. */
  lines: number;
  /** Those that showed something new. */
  count: number;
  /** It ended at a page that came again and again, and not at an empty one. */
  isRepeated: boolean;
}

/** Shorter than the bank's own: lines that slip between two pages of one reading stand within one of the other. */
export function otherPageSize(pageLines: number): number {
  return pageLines > 13 ? pageLines - 13 : Math.max(1, pageLines - 1);
}

/**
 * Whether what one reading missed between its pages, or past a page that came again, the other would have shown:
 * pages of two lengths are cut, and end, at other lines. One page with nothing after it has no border.
 */
export function areCutOtherwise(first: Pages, second: Pages): boolean {
  const isOnePage = ({ count, isRepeated }: Pages) => count <= 1 && !isRepeated;
  return first.lines !== second.lines || (isOnePage(first) && isOnePage(second));
}
