import { saoPauloDay } from './statement-day.js';

const HOUR_MS = 3_600_000;

const LOCAL_HOUR = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Sao_Paulo',
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  hour: '2-digit',
});

/** The local time in São Paulo. */
export interface SaoPauloTime {
  /** `yyyymmddhhmmss`. */
  digits: string;
  /** -3, or -2 in daylight saving time until 2019. */
  offsetHours: number;
}

/**
 * Uses time zone data, so it is right before 2019 too. Throws RangeError outside the years 1900 to
 * 2199.
 */
export function saoPauloTime(instant: Date): SaoPauloTime {
  const offsetHours = offsetOf(instant);
  const local = new Date(instant.getTime() + offsetHours * HOUR_MS).toISOString();
  return { digits: local.slice(0, 19).replace(/\D/g, ''), offsetHours };
}

/**
 * The offset of the previous hour. Time zone data is slow, and consecutive statement lines share
 * their hour.
 */
let cached = { hour: Number.NaN, offsetHours: 0 };

function offsetOf(instant: Date): number {
  const hour = Math.floor(instant.getTime() / HOUR_MS);
  if (cached.hour === hour) return cached.offsetHours;
  const start = new Date(hour * HOUR_MS);
  const localHour =
    Date.parse(`${saoPauloDay(start)}T${LOCAL_HOUR.format(start)}:00:00Z`) / HOUR_MS;
  cached = { hour, offsetHours: localHour - hour };
  return cached.offsetHours;
}
