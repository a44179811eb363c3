// Cron expressions of run schedules: five fields in a time zone.
import { CronExpressionParser } from 'cron-parser';

export interface Cron {
  cron: string;
  /** IANA name. */
  timezone: string;
}

/** Before business hours, when the statement of the day before is complete. */
export const defaultCron: Cron = { cron: '0 6 * * *', timezone: 'America/Sao_Paulo' };

const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const weekdays = 'sun|mon|tue|wed|thu|fri|sat';
// The parser's extensions are refused: H is random at each parse, L and # are not standard
// cron.
const fields = [/^\d+$/, /^\d+$/, /^\d+$/, wordOr(months), wordOr(weekdays)];

function wordOr(words: string): RegExp {
  return new RegExp(`^(?:\\d+|${words})$`, 'i');
}

/** The first time after an instant; null if there is none. */
export function nextCronTime({ cron, timezone }: Cron, after: Date): Date | null {
  try {
    const times = CronExpressionParser.parse(cron, { tz: timezone, currentDate: after });
    return times.next().toDate();
  } catch {
    return null;
  }
}

/** Validation errors by JSON path; null if the expression and time zone are valid. */
export function findCronProblem(
  { cron, timezone }: Cron,
  after: Date,
): Record<string, string[]> | null {
  if (!isTimezone(timezone))
    return { '$.timezone': ['Must be an IANA time zone such as America/Sao_Paulo.'] };
  const parts = cron.trim().split(/\s+/);
  if (parts.length !== fields.length || !parts.every(isField))
    return {
      '$.cron': ['Must have five fields: minute, hour, day, month and weekday, such as 0 6 * * *.'],
    };
  if (nextCronTime({ cron, timezone }, after) === null)
    return { '$.cron': ['Must match at least one future time.'] };
  return null;
}

function isField(field: string, index: number): boolean {
  return field.split(/[,/-]/).every((part) => part === '*' || (fields[index]?.test(part) ?? false));
}

function isTimezone(name: string): boolean {
  // Offsets are refused because they do not follow daylight saving time.
  if (!/^[a-z]/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
