// The period over which webhooks are compared with the statement.
import { addDays, parsePlainDate } from '../../brazil/calendar.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import { invalidField } from '../../platform/errors.js';
import { parseInstant } from '../../statement/lines/statement-line.js';

const dayMs = 86_400_000;
/** A statement day begins at 03:00Z. */
const dayStartMs = 3 * 3_600_000;
const maxDays = 90;

export interface RequestedPeriod {
  from?: string | undefined;
  to?: string | undefined;
}

/**
 * Reads the `from` and `to` of a query; both may be instants or days in São Paulo. Without `to` the
 * period ends now, and without `from` it is `defaultDays` long. Throws `validation_failed`.
 */
export function healthPeriod(
  { from, to }: RequestedPeriod,
  now: Date,
  defaultDays: number,
): { from: Date; until: Date } {
  const until = to === undefined ? now : instantOf('to', to, 1);
  const since =
    from === undefined
      ? new Date(until.getTime() - defaultDays * dayMs)
      : instantOf('from', from, 0);
  if (since >= until) throw invalidField('$.from', 'Must be before to.');
  if (until.getTime() - since.getTime() > maxDays * dayMs)
    throw invalidField('$.from', `Must be within ${maxDays} days of to.`);
  return { from: since, until };
}

const hourMs = 3_600_000;

/** Hours, or statement days, from the first until before the second time. */
export interface CountedSpan {
  isDay: boolean;
  from: Date;
  until: Date;
}

/**
 * The whole hours of a period, as whole statement days and the hours before and after them: what is
 * counted is counted by both.
 */
export function countedPeriod(period: { from: Date; until: Date }): {
  from: Date;
  until: Date;
  spans: CountedSpan[];
} {
  const from = Math.floor(period.from.getTime() / hourMs) * hourMs;
  const until = Math.ceil(period.until.getTime() / hourMs) * hourMs;
  const firstDay = Math.ceil((from - dayStartMs) / dayMs) * dayMs + dayStartMs;
  const lastDay = Math.floor((until - dayStartMs) / dayMs) * dayMs + dayStartMs;
  const span = (isDay: boolean, start: number, end: number) =>
    start < end ? [{ isDay, from: new Date(start), until: new Date(end) }] : [];
  const spans =
    firstDay < lastDay
      ? [
          ...span(false, from, firstDay),
          ...span(true, firstDay, lastDay),
          ...span(false, lastDay, until),
        ]
      : span(false, from, until);
  return { from: new Date(from), until: new Date(until), spans };
}

/** A day means its start; with `daysToAdd` of 1, its end. */
function instantOf(field: 'from' | 'to', text: string, daysToAdd: number): Date {
  const day = parsePlainDate(text);
  const instant = day === null ? parseInstant(text) : statementDayStart(addDays(day, daysToAdd));
  if (!instant)
    throw invalidField(`$.${field}`, 'Must be an instant (ISO 8601) or a date (yyyy-mm-dd).');
  return instant;
}
