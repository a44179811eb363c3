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
  /** From when on someone waits for a closed span; null when nobody does. */
  neededFrom: Date | null;
  /** Not later than the moment at which the first reading begins. */
  bankTime: Date;
  visibilityBoundMs: number;
}

export interface Span {
  /** The statement's day that both readings begin with, yyyy-mm-dd. */
  startDate: string;
  from: Date;
  until: Date;
}

/** Beyond this, reading all that came since would cost more than it tells: a new span begins. */
const longestGapDays = 7;

/**
 * The end lies one visibility bound before the first reading: an effect before it had shown by then, and the more
 * so when the second reading began. It begins where the closed span ends, so that this grows, or with the need that
 * is older. Null when nothing can be closed yet.
 */
export function spanToClose(need: ClosingNeed): Span | null {
  const until = new Date(need.bankTime.getTime() - need.visibilityBoundMs);
  const startDate = statementDayOf(baseOf(need, until));
  const from = statementDayStart(startDate);
  return from < until ? { startDate, from, until } : null;
}

function baseOf({ closedFrom, closedUntil, neededFrom }: ClosingNeed, until: Date): Date {
  const oldest = statementDayStart(addDays(statementDayOf(until), -longestGapDays));
  if (!closedFrom || !closedUntil || closedUntil < oldest) return neededFrom ?? until;
  return neededFrom && neededFrom < closedFrom ? neededFrom : closedUntil;
}

/** What one reading showed before an instant: each line by its number and content. */
export function linesBefore(readings: Iterable<LineReading>, until: Date): Set<string> {
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
