import { saoPauloDay } from './statement-day.js';

const HOUR_MS = 3_600_000;

const WALL = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Sao_Paulo',
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  hour: '2-digit',
});

/** What the clocks in São Paulo show. */
export interface SaoPauloTime {
  /** `yyyymmddhhmmss`. */
  digits: string;
  /** -3, and -2 in the summers until 2019. */
  offsetHours: number;
}

/** By zone data, so right before 2019 too. RangeError outside the years 1900 to 2199. */
export function saoPauloTime(instant: Date): SaoPauloTime {
  const offsetHours = offsetOf(instant);
  const wall = new Date(instant.getTime() + offsetHours * HOUR_MS).toISOString();
  return { digits: wall.slice(0, 19).replace(/\D/g, ''), offsetHours };
}

/** Zone data is asked once an hour of the statement: a file of a million lines asks it a few thousand times. */
let asked = { hour: Number.NaN, offsetHours: 0 };

function offsetOf(instant: Date): number {
  const hour = Math.floor(instant.getTime() / HOUR_MS);
  if (asked.hour === hour) return asked.offsetHours;
  const start = new Date(hour * HOUR_MS);
  const wallHour = Date.parse(`${saoPauloDay(start)}T${WALL.format(start)}:00:00Z`) / HOUR_MS;
  asked = { hour, offsetHours: wallHour - hour };
  return asked.offsetHours;
}
