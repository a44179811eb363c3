import {
  nextBusinessHour,
  parseRequestedTime,
  saoPauloInstant,
  type BusinessHours,
} from '../../brazil/business-hours.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { invalidField, invariant } from '../../platform/errors.js';

/**
 * When a bill is paid: at the requested time or now, in business hours, otherwise when they next
 * begin. Throws `validation_failed` on `$.payAt` when the requested time is past or after `latest`.
 */
export function billPaymentTime(
  requested: string | null,
  { now, latest, hours }: { now: Date; latest: number; hours: BusinessHours },
): Date {
  return nextBusinessHour(requested === null ? now : earliestTime(requested, now, latest), hours);
}

function earliestTime(text: string, now: Date, latest: number): Date {
  const requested = parseRequestedTime(text);
  invariant(requested, 'the route accepts only valid times');
  // Today without a time means any remaining hour of today.
  if ('day' in requested && requested.day === saoPauloDay(now)) return now;
  const instant = 'day' in requested ? saoPauloInstant(requested.day, 0) : requested.instant;
  if (instant < now) throw invalidField('$.payAt', 'Must not be in the past.');
  if (instant.getTime() > latest) throw invalidField('$.payAt', 'Must be before the year 2049.');
  return instant;
}
