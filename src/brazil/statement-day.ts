import { monthAfter, parsePlainDate, type PlainDate } from './calendar.js';
import { saoPauloOffsetMs } from './sao-paulo-time.js';

/**
 * A day of the bank's statement begins at this UTC time on every day of the year ("a date D returns
 * transactions created from D at 03:00:00.000Z"). That is midnight in São Paulo since daylight
 * saving time ended in 2019. In earlier daylight saving time it was 01:00 there.
 */
const DAY_START = 'T03:00:00.000Z';
const DAY_START_MS = 3 * 3_600_000;

/**
 * The calendar day in São Paulo at that instant, by time zone data, so it is right before 2019 too.
 * Throws RangeError when the instant is invalid or outside the years 1900 to 2199.
 */
export function saoPauloDay(instant: Date): PlainDate {
  const hour = Math.floor(instant.getTime() / HOUR_MS);
  const known = dayOfHour.get(hour);
  if (known !== undefined) return known;
  // Local times have no era: a year before Christ would be read as one after Christ.
  requirePlainDate(isoDay(instant.getTime()));
  const day = requirePlainDate(isoDay(instant.getTime() + saoPauloOffsetMs(instant)));
  // Until 1914 the offset was no whole number of hours, and days began within an hour.
  if (hour >= 0) {
    if (dayOfHour.size === maxHours) dayOfHour.clear();
    dayOfHour.set(hour, day);
  }
  return day;
}

const HOUR_MS = 3_600_000;
/** The days of hours since 1970: most lines share their hour with other lines. */
const dayOfHour = new Map<number, PlainDate>();
const maxHours = 10_000;

/**
 * The statement day of an instant: 02:59:59.999Z is in the previous day, 03:00:00.000Z begins the
 * day.
 */
export function statementDayOf(instant: Date): PlainDate {
  return requirePlainDate(isoDay(instant.getTime() - DAY_START_MS));
}

/** The first instant of a statement day, which is the exclusive end of the previous day. */
export function statementDayStart(day: PlainDate): Date {
  return new Date(`${requirePlainDate(day)}${DAY_START}`);
}

/** The time of the statement days of months, `yyyy-mm`, both included. */
export function statementMonths(from: string, to = from): { from: Date; until: Date } {
  return {
    from: statementDayStart(`${from}-01`),
    until: statementDayStart(`${monthAfter(to)}-01`),
  };
}

function isoDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

function requirePlainDate(text: string): PlainDate {
  const date = parsePlainDate(text);
  if (date === null) throw new RangeError(`not a plain date: ${text}`);
  return date;
}
