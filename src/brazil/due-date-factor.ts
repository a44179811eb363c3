import { addDays, daysBetween, type PlainDate } from './calendar.js';

/** The first factor of both cycles. */
const FIRST_FACTOR = 1000;
/** Factors run from 1000 to 9999, so each factor repeats after 9,000 days. */
const CYCLE_DAYS = 9000;

/** The day of factor 1000 in the first cycle. Slips had no factor before. */
export const FIRST_DUE_DATE: PlainDate = '2000-07-03';
/** The day of factor 9999 in the second cycle. No rule is published for later days. */
export const LAST_DUE_DATE: PlainDate = '2049-10-13';

/**
 * The maximum days from the reference date to a due date of the second cycle. FEBRABAN publishes no
 * rule. The usual heuristic is a window of -3000 to +5500 days. This bound gives the same result
 * inside that window, and the nearer date outside it.
 */
const MAX_DAYS_AHEAD = 5500;

/**
 * The four-digit factor of a due date. 2025-02-21 has 9999 and 2025-02-22 has 1000 again (FEBRABAN
 * FB-009/2023). Throws RangeError outside FIRST_DUE_DATE to LAST_DUE_DATE.
 */
export function factorOfDueDate(dueDate: PlainDate): string {
  const days = daysBetween(FIRST_DUE_DATE, dueDate);
  if (days < 0 || dueDate > LAST_DUE_DATE) {
    throw new RangeError(`no factor for ${dueDate}: ${FIRST_DUE_DATE} to ${LAST_DUE_DATE}`);
  }
  return String(FIRST_FACTOR + (days % CYCLE_DAYS));
}

/**
 * The two days, 9,000 days apart, that a factor can mean. Throws RangeError unless it is 1000 to
 * 9999.
 */
export function possibleDueDates(factor: string): [first: PlainDate, second: PlainDate] {
  if (!/^[1-9][0-9]{3}$/.test(factor)) throw new RangeError(`not a due date factor: ${factor}`);
  const first = addDays(FIRST_DUE_DATE, Number(factor) - FIRST_FACTOR);
  return [first, addDays(first, CYCLE_DAYS)];
}

/**
 * Chooses between the two days by a reference date, usually the current day. See MAX_DAYS_AHEAD.
 */
export function dueDateOfFactor(factor: string, referenceDate: PlainDate): PlainDate {
  const [first, second] = possibleDueDates(factor);
  return daysBetween(referenceDate, second) <= MAX_DAYS_AHEAD ? second : first;
}
