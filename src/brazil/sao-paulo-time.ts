const HOUR_MS = 3_600_000;

/** Writes `2026-11-20 23:59:59`. */
const LOCAL_TIME = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'America/Sao_Paulo',
  calendar: 'gregory',
  numberingSystem: 'latn',
  dateStyle: 'short',
  timeStyle: 'medium',
});

/** The local time in São Paulo. */
export interface SaoPauloTime {
  /** `yyyymmddhhmmss`. */
  digits: string;
  /** -3, or -2 in daylight saving time until 2019. */
  offsetHours: number;
}

/** Uses time zone data, so it is right before 2019 too. For the years 1914 to 2199. */
export function saoPauloTime(instant: Date): SaoPauloTime {
  const offsetMs = saoPauloOffsetMs(instant);
  const local = new Date(instant.getTime() + offsetMs).toISOString();
  return { digits: local.slice(0, 19).replace(/\D/g, ''), offsetHours: offsetMs / HOUR_MS };
}

/**
 * The offset of the previous hour. Time zone data is slow, and consecutive statement lines share
 * their hour.
 */
let cached = { hour: Number.NaN, offsetMs: 0 };

/**
 * The offset of São Paulo's clocks from UTC at that instant. It is negative, and changes only at
 * the start of an hour. Throws RangeError when the instant is invalid.
 */
export function saoPauloOffsetMs(instant: Date): number {
  const hour = Math.floor(instant.getTime() / HOUR_MS);
  if (cached.hour === hour) return cached.offsetMs;
  const local = Date.parse(`${LOCAL_TIME.format(hour * HOUR_MS).replace(' ', 'T')}Z`);
  cached = { hour, offsetMs: local - hour * HOUR_MS };
  return cached.offsetMs;
}
