// By when a day must have its certificate. There is one for each day, also for days that are no
// business days.
import { saoPauloInstant } from '../../brazil/business-hours.js';
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';

const minuteMs = 60_000;

/** From midnight to a time of the day, `hh:mm`. */
function sinceMidnightMs(time: string): number {
  return (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * minuteMs;
}

/**
 * The last day that must have its certificate: from the time `by` on (`hh:mm` in São Paulo) it is
 * the day before, and until then the one before that. `now` is the time at the bank.
 */
export function lastDueDay(now: Date, by: string): PlainDate {
  const today = saoPauloDay(now);
  const isDue = now >= saoPauloInstant(today, sinceMidnightMs(by));
  return addDays(today, isDue ? -1 : -2);
}
