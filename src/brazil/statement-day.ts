import { addDays, parsePlainDate, type PlainDate } from './calendar.js';

/**
 * The bank cuts its statement at this time of UTC on every day of the year ("a date D returns
 * transactions created from D at 03:00:00.000Z"). It is São Paulo's midnight since daylight saving
 * ended in 2019; in older summers it was one in the morning there.
 */
const CUT = 'T03:00:00.000Z';
const CUT_HOURS_MS = 3 * 3_600_000;

const SAO_PAULO = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Sao_Paulo',
  calendar: 'gregory',
  numberingSystem: 'latn',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

/** The query that returns one statement day: the bank reads `endDate` as "up to D at 03:00Z". */
export interface StatementDayWindow {
  startDate: PlainDate;
  endDate: PlainDate;
}

/**
 * The day on the wall in São Paulo at that instant, by zone data, so right before 2019 too.
 * RangeError when the instant is invalid or outside the years 1900 to 2199.
 */
export function saoPauloDay(instant: Date): PlainDate {
  // Without an era, the formatter would write a year before Christ as if it were after.
  requirePlainDate(instant.toISOString().slice(0, 10));
  const parts = new Map(SAO_PAULO.formatToParts(instant).map((part) => [part.type, part.value]));
  return requirePlainDate(`${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`);
}

/**
 * The statement day an instant belongs to under the bank's cut: 02:59:59.999Z is still the day
 * before, 03:00:00.000Z begins the day.
 */
export function statementDayOf(instant: Date): PlainDate {
  return requirePlainDate(new Date(instant.getTime() - CUT_HOURS_MS).toISOString().slice(0, 10));
}

/** The first instant of a statement day, which is also the first instant after the day before. */
export function statementDayStart(day: PlainDate): Date {
  return new Date(`${requirePlainDate(day)}${CUT}`);
}

/**
 * What to ask the bank for to get all of `day`: D and D+1. Whether the bank counts a line at exactly
 * D+1 03:00:00.000Z as inside is not stated, so lines are kept by `statementDayOf`, not by the query.
 */
export function statementDayWindow(day: PlainDate): StatementDayWindow {
  return { startDate: day, endDate: addDays(day, 1) };
}

function requirePlainDate(text: string): PlainDate {
  const date = parsePlainDate(text);
  if (date === null) throw new RangeError(`not a plain date: ${text}`);
  return date;
}
