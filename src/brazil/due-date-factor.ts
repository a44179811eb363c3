import { addDays, daysBetween, type PlainDate } from './calendar.js';

/** 1000, the factor that both cycles begin with. */
const FIRST_FACTOR = 1000;
/** Factors run from 1000 to 9999, so a factor comes back after 9,000 days. */
const CYCLE_DAYS = 9000;

/** Factor 1000 of the first cycle; before it, slips carried no factor. */
export const FIRST_DUE_DATE: PlainDate = '2000-07-03';
/** Factor 9999 of the second cycle; no rule is published for what follows. */
export const LAST_DUE_DATE: PlainDate = '2049-10-13';

/**
 * How far ahead of the reference date a due date is still read as the second cycle's. FEBRABAN
 * publishes no rule; the field's heuristic window is -3000 to +5500 days, and this bound gives
 * the same answer inside that window and the nearer date outside it.
 */
const MAX_DAYS_AHEAD = 5500;

/**
 * The four digits for a due date: 9999 = 2025-02-21, then 1000 = 2025-02-22 again (FEBRABAN
 * FB-009/2023). RangeError outside FIRST_DUE_DATE to LAST_DUE_DATE.
 */
export function factorOfDueDate(dueDate: PlainDate): string {
  const days = daysBetween(FIRST_DUE_DATE, dueDate);
  if (days < 0 || dueDate > LAST_DUE_DATE) {
    throw new RangeError(`no factor for ${dueDate}: ${FIRST_DUE_DATE} to ${LAST_DUE_DATE}`);
  }
  return String(FIRST_FACTOR + (days % CYCLE_DAYS));
}

/** The two days, 9,000 apart, that a factor of 1000 to 9999 can mean; RangeError on any other. */
export function possibleDueDates(factor: string): [first: PlainDate, second: PlainDate] {
  if (!/^[1-9][0-9]{3}$/.test(factor)) throw new RangeError(`not a due date factor: ${factor}`);
  const first = addDays(FIRST_DUE_DATE, Number(factor) - FIRST_FACTOR);
  return [first, addDays(first, CYCLE_DAYS)];
}

/** Picks between the two by a day near which the slip is being read. A heuristic: see above. */
export function dueDateOfFactor(factor: string, referenceDate: PlainDate): PlainDate {
  const [first, second] = possibleDueDates(factor);
  return daysBetween(referenceDate, second) <= MAX_DAYS_AHEAD ? second : first;
}
