import { isBusinessDay, nextBusinessDay, parsePlainDate, type PlainDate } from './calendar.js';
import { saoPauloOffsetMs } from './sao-paulo-time.js';
import { saoPauloDay } from './statement-day.js';

/**
 * The hours of São Paulo in which the bank works on business days, from `open` until before
 * `close`.
 */
export interface BusinessHours {
  /** 0 to 23. */
  open: number;
  /** 1 to 24. */
  close: number;
}

/** `from` if it is in business hours, else the next opening. */
export function nextBusinessHour(from: Date, { open, close }: BusinessHours): Date {
  const day = saoPauloDay(from);
  if (isBusinessDay(day)) {
    const opening = saoPauloInstant(day, open * HOUR_MS);
    if (from < opening) return opening;
    if (from < saoPauloInstant(day, close * HOUR_MS)) return from;
  }
  return saoPauloInstant(nextBusinessDay(day), open * HOUR_MS);
}

const HOUR_MS = 3_600_000;

/**
 * The instant at which clocks in São Paulo show that time of that day, by time zone data. A time
 * that daylight saving skipped is read as the adjacent hour.
 */
export function saoPauloInstant(day: PlainDate, sinceMidnightMs: number): Date {
  const localMs = Date.parse(`${day}T00:00:00Z`) + sinceMidnightMs;
  // The first offset is that of an instant at most a day off. The second corrects a change of the
  // clocks in between.
  const near = localMs - saoPauloOffsetMs(new Date(localMs));
  return new Date(localMs - saoPauloOffsetMs(new Date(near)));
}

/** The requested time of a payment: an instant, or a day at any hour. */
export type RequestedTime = { instant: Date } | { day: PlainDate };

const REQUESTED_TIME =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$/;
const OFFSET = /^([+-])([0-9]{2}):?([0-9]{2})$/;

/**
 * Parses an ISO 8601 date or time. A time without a zone is of São Paulo. Null when the time does
 * not exist.
 */
export function parseRequestedTime(text: string): RequestedTime | null {
  const parts = REQUESTED_TIME.exec(text);
  const day = parts && parsePlainDate(parts[1] ?? '');
  if (!parts || !day) return null;
  if (parts[2] === undefined) return { day };
  const [hours, minutes, seconds] = [parts[2], parts[3], parts[4] ?? '0'].map(Number) as [
    number,
    number,
    number,
  ];
  if (hours > 23 || minutes > 59 || seconds > 59) return null;
  const milliseconds = Number((parts[5] ?? '').slice(0, 3).padEnd(3, '0'));
  const sinceMidnightMs = ((hours * 60 + minutes) * 60 + seconds) * 1_000 + milliseconds;
  const zone = parts[6];
  if (zone === undefined) return { instant: saoPauloInstant(day, sinceMidnightMs) };
  const aheadMs = zoneMs(zone);
  if (aheadMs === null) return null;
  return { instant: new Date(Date.parse(`${day}T00:00:00Z`) + sinceMidnightMs - aheadMs) };
}

/** Clients stamp the moment of the call, by their own clocks. */
const nearNowMs = 5 * 60_000;

/**
 * When a requested payment takes effect, if that is later than now. A time near to the present is
 * now; without a zone it is read in UTC for that too, as programs write the present.
 */
export function scheduledTime(text: string | null | undefined, now: Date): Date | null {
  const requested = text ? parseRequestedTime(text) : null;
  if (!requested || !text) return null;
  const at = 'day' in requested ? saoPauloInstant(requested.day, 0) : requested.instant;
  const asUtc = parseRequestedTime(`${text}Z`);
  const isStamp =
    asUtc !== null &&
    'instant' in asUtc &&
    Math.abs(asUtc.instant.getTime() - now.getTime()) <= nearNowMs;
  return isStamp || at.getTime() <= now.getTime() + nearNowMs ? null : at;
}

function zoneMs(zone: string): number | null {
  if (zone === 'Z') return 0;
  const [, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (Number(hours) > 23 || Number(minutes) > 59) return null;
  return (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
}
