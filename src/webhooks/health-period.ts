// The span that webhooks are held against the statement in.
import { addDays, parsePlainDate } from '../brazil/calendar.js';
import { statementDayStart } from '../brazil/statement-day.js';
import { AppError } from '../platform/errors.js';
import { parseInstant } from '../statement/line.js';

const dayMs = 86_400_000;
const mostDays = 90;

export interface AskedPeriod {
  from?: string | undefined;
  to?: string | undefined;
}

/** Throws `validation_failed`. `usualDays` is what is taken where no beginning is said. */
export function healthPeriod(
  { from, to }: AskedPeriod,
  now: Date,
  usualDays: number,
): { from: Date; until: Date } {
  const until = to === undefined ? now : instantOf('to', to, 1);
  const since =
    from === undefined ? new Date(until.getTime() - usualDays * dayMs) : instantOf('from', from, 0);
  if (since >= until) throw wrong('from', 'Must be before to.');
  if (until.getTime() - since.getTime() > mostDays * dayMs)
    throw wrong('from', `Must be within ${mostDays} days of to.`);
  return { from: since, until };
}

/** A day stands for its beginning, or with `endsAfterDays` for its end. */
function instantOf(field: 'from' | 'to', text: string, endsAfterDays: number): Date {
  const day = parsePlainDate(text);
  const instant =
    day === null ? parseInstant(text) : statementDayStart(addDays(day, endsAfterDays));
  if (!instant) throw wrong(field, 'Could not be read as an instant (ISO 8601) or a date.');
  return instant;
}

function wrong(field: 'from' | 'to', message: string): AppError {
  return new AppError('validation_failed', { errors: { [`$.${field}`]: [message] } });
}
