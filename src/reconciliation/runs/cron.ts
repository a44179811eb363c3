// When an account is gone over by itself: five fields of cron in a time zone, as people write them.
import { CronExpressionParser } from 'cron-parser';

export interface Cron {
  cron: string;
  /** IANA's name. */
  timezone: string;
}

/** Before business hours, when the day before has been told. */
export const defaultCron: Cron = { cron: '0 6 * * *', timezone: 'America/Sao_Paulo' };

const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const weekdays = 'sun|mon|tue|wed|thu|fri|sat';
// What is left out on purpose: the parser's own words (H is drawn anew each time, L and # are not cron's).
const fields = [/^\d+$/, /^\d+$/, /^\d+$/, wordOr(months), wordOr(weekdays)];

function wordOr(words: string): RegExp {
  return new RegExp(`^(?:\\d+|${words})$`, 'i');
}

/** The first time after an instant; null where the expression names none. */
export function nextTime({ cron, timezone }: Cron, after: Date): Date | null {
  try {
    const times = CronExpressionParser.parse(cron, { tz: timezone, currentDate: after });
    return times.next().toDate();
  } catch {
    return null;
  }
}

/** What is wrong with it, by JSON path; null where nothing is. */
export function problemOf({ cron, timezone }: Cron, after: Date): Record<string, string[]> | null {
  if (!isTimezone(timezone)) return { '$.timezone': ['Is not a time zone, as America/Sao_Paulo.'] };
  const written = cron.trim().split(/\s+/);
  if (written.length !== fields.length || !written.every(isField))
    return {
      '$.cron': ['Must have five fields: minute, hour, day, month and weekday, as 0 6 * * *.'],
    };
  if (nextTime({ cron, timezone }, after) === null)
    return { '$.cron': ['Names no time that ever comes.'] };
  return null;
}

function isField(field: string, index: number): boolean {
  return field.split(/[,/-]/).every((part) => part === '*' || (fields[index]?.test(part) ?? false));
}

function isTimezone(name: string): boolean {
  // Offsets are refused: they follow no summer time.
  if (!/^[a-z]/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
