/** A day without time or zone, `yyyy-mm-dd`, in the years 1900 to 2199. Days compare as text. */
export type PlainDate = string;

const PLAIN_DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const DAY_MS = 86_400_000;
const FIRST_YEAR = 1900;
const LAST_YEAR = 2199;

/**
 * Fixed national holidays, `mm-dd`, with their first year. 20 November was added by Lei
 * 14.759/2023. State and city holidays close branches but not the financial market, so they are not
 * in the list.
 */
const FIXED_HOLIDAYS = new Map([
  ['01-01', FIRST_YEAR],
  ['04-21', FIRST_YEAR],
  ['05-01', FIRST_YEAR],
  ['09-07', FIRST_YEAR],
  ['10-12', FIRST_YEAR],
  ['11-02', FIRST_YEAR],
  ['11-15', FIRST_YEAR],
  ['11-20', 2024],
  ['12-25', FIRST_YEAR],
]);

/**
 * Carnival Monday and Tuesday, Good Friday and Corpus Christi, in days from Easter Sunday
 * (Resolução CMN 4.880/2020, art. 6). Ash Wednesday is a business day.
 */
const HOLIDAYS_FROM_EASTER = new Set([-48, -47, -2, 60]);

/** Parses `yyyy-mm-dd`; null for any other text. */
export function parsePlainDate(text: string): PlainDate | null {
  if (!PLAIN_DATE.test(text)) return null;
  const [year, month, day] = [+text.slice(0, 4), +text.slice(5, 7), +text.slice(8)];
  if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > 12) return null;
  return day >= 1 && day <= daysOfMonth(year, month) ? text : null;
}

function daysOfMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** `days` may be negative. Throws RangeError when `date` or the result is not a plain date. */
export function addDays(date: PlainDate, days: number): PlainDate {
  return fromEpochDay(epochDay(date) + days);
}

/** The same day that many months later, or the last day of a month that has no such day. */
export function addMonths(date: PlainDate, months: number): PlainDate {
  const [year, month, day] = [+date.slice(0, 4), +date.slice(5, 7), +date.slice(8)];
  const total = year * 12 + (month - 1) + months;
  const [toYear, toMonth] = [Math.floor(total / 12), (total % 12) + 1];
  const toDay = Math.min(day, daysOfMonth(toYear, toMonth));
  const [monthText, dayText] = [toMonth, toDay].map((part) => String(part).padStart(2, '0'));
  return addDays(`${toYear}-${monthText}-${dayText}`, 0);
}

/** The month, `yyyy-mm`, of a day or of a month. */
export const monthOf = (period: string): string => period.slice(0, 7);
export const monthBefore = (month: string): string => monthOf(addDays(`${month}-01`, -1));
export const monthAfter = (month: string): string => monthOf(addDays(`${month}-28`, 4));

/** Days from `from` to `to`, negative when `to` is earlier. */
export function daysBetween(from: PlainDate, to: PlainDate): number {
  return epochDay(to) - epochDay(from);
}

/** Whether the national financial market works that day. Pix works on every day. */
export function isBusinessDay(date: PlainDate): boolean {
  const day = epochDay(date);
  const weekday = new Date(day * DAY_MS).getUTCDay();
  if (weekday === 0 || weekday === 6) return false;
  const year = Number(date.slice(0, 4));
  const holidaySince = FIXED_HOLIDAYS.get(date.slice(5));
  if (holidaySince !== undefined && year >= holidaySince) return false;
  return !HOLIDAYS_FROM_EASTER.has(day - easterEpochDay(year));
}

/** The first business day strictly after `date`. */
export function nextBusinessDay(date: PlainDate): PlainDate {
  return addBusinessDays(date, 1);
}

/** `date` if it is a business day, else the next one. Due dates move by this rule. */
export const rollToBusinessDay = oncePerDay((date: PlainDate): PlainDate =>
  isBusinessDay(date) ? date : nextBusinessDay(date),
);

/** Many charges are due on one day: what follows from a day alone is computed once. */
export function oncePerDay<Value>(compute: (date: PlainDate) => Value): (date: PlainDate) => Value {
  const values = new Map<PlainDate, Value>();
  return (date) => {
    let value = values.get(date);
    if (value === undefined) {
      value = compute(date);
      if (values.size === MAX_DAYS) values.clear();
      values.set(date, value);
    }
    return value;
  };
}

const MAX_DAYS = 1_000;

/**
 * The day that many business days later, or earlier if the number is negative. 0 returns `date`,
 * also when it is not a business day.
 */
export function addBusinessDays(date: PlainDate, businessDays: number): PlainDate {
  if (!Number.isSafeInteger(businessDays)) {
    throw new RangeError(`not a whole number of business days: ${businessDays}`);
  }
  const step = Math.sign(businessDays);
  let current = date;
  for (let left = Math.abs(businessDays); left > 0;) {
    current = addDays(current, step);
    if (isBusinessDay(current)) left -= 1;
  }
  return current;
}

function epochDay(date: PlainDate): number {
  if (parsePlainDate(date) === null) throw new RangeError(`not a plain date: ${date}`);
  return Date.parse(`${date}T00:00:00Z`) / DAY_MS;
}

function fromEpochDay(day: number): PlainDate {
  const instant = new Date(day * DAY_MS);
  const date = Number.isInteger(day) && !Number.isNaN(instant.getTime()) ? toIsoDay(instant) : '';
  if (parsePlainDate(date) === null) {
    throw new RangeError(`outside the years ${FIRST_YEAR} to ${LAST_YEAR}`);
  }
  return date;
}

function toIsoDay(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

/** Easter Sunday by the Gregorian computus (Meeus, Astronomical Algorithms, ch. 8). */
function easterEpochDay(year: number): number {
  const a = year % 19;
  const century = Math.floor(year / 100);
  const c = year % 100;
  const d = Math.floor(century / 4);
  const f = Math.floor((century + 8) / 25);
  const g = Math.floor((century - f + 1) / 3);
  const h = (19 * a + century - d - g + 15) % 30;
  const l = (32 + 2 * (century % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const n = h + l - 7 * m + 114;
  return Date.UTC(year, Math.floor(n / 31) - 1, (n % 31) + 1) / DAY_MS;
}
