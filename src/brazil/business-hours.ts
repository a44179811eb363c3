import { isBusinessDay, nextBusinessDay, parsePlainDate, type PlainDate } from './calendar.js';
import { saoPauloDay } from './statement-day.js';

/** Full hours of São Paulo between which the bank works on business days; the closing one is outside. */
export interface BusinessHours {
  /** 0 to 23. */
  open: number;
  /** 1 to 24. */
  close: number;
}

/** `from` itself when the bank works then, else the next opening. */
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

const WALL = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Sao_Paulo',
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/**
 * The instant at which clocks in São Paulo show that time of that day, by zone data. A time that a change of the
 * clocks left out is read as the hour beside it.
 */
export function saoPauloInstant(day: PlainDate, sinceMidnightMs: number): Date {
  const wallMs = Date.parse(`${day}T00:00:00Z`) + sinceMidnightMs;
  // The offset of an instant that is a day off at most; once more, should a change of the clocks lie between.
  const near = wallMs - offsetMs(new Date(wallMs));
  return new Date(wallMs - offsetMs(new Date(near)));
}

/** How far São Paulo's clocks are ahead of UTC then: negative. */
function offsetMs(instant: Date): number {
  const seconds = Math.floor(instant.getTime() / 1_000) * 1_000;
  const parts = new Map(WALL.formatToParts(instant).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return wall - seconds;
}

/** When a payment is asked for: an instant, or a day of which any hour will do. */
export type AskedTime = { instant: Date } | { day: PlainDate };

const ASKED_TIME =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$/;
const OFFSET = /^([+-])([0-9]{2}):?([0-9]{2})$/;

/** Reads an ISO 8601 date, or a time with its zone or, without one, of São Paulo; null when it does not exist. */
export function parseAskedTime(text: string): AskedTime | null {
  const parts = ASKED_TIME.exec(text);
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

function zoneMs(zone: string): number | null {
  if (zone === 'Z') return 0;
  const [, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (Number(hours) > 23 || Number(minutes) > 59) return null;
  return (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
}
