// The days of a month as its report shows them: what the lines say beside what was certified.
import { addDays, type PlainDate } from '../brazil/calendar.js';

interface DaySums {
  creditCents: bigint;
  debitCents: bigint;
}

/** What a day's lines add up to, or what its certificate says of them. */
interface DayFigures extends DaySums {
  openingCents: bigint;
  closingCents: bigint;
}

export interface ReportDay extends DayFigures {
  day: PlainDate;
  lines: bigint;
  certificate: {
    hash: string;
    /** More than 1 for an amended one. */
    revision: number;
    /** Whether it says what the lines say. */
    agrees: boolean;
  } | null;
}

export function daysOfMonth(month: string): PlainDate[] {
  const days: PlainDate[] = [];
  for (let day = `${month}-01`; day.startsWith(month); day = addDays(day, 1)) days.push(day);
  return days;
}

/** A day begins with what the day before ended with, and ends with what its lines make of that. */
export function reportDays(
  days: readonly PlainDate[],
  openingCents: bigint,
  figures: readonly (DaySums & { day: string; lines: bigint })[],
  certificates: readonly (DayFigures & { day: string; hash: string; revision: number })[],
): ReportDay[] {
  const byDay = new Map(figures.map((row) => [row.day, row]));
  const certified = new Map(certificates.map((row) => [row.day, row]));
  let balance = openingCents;
  return days.map((day) => {
    const { lines, creditCents, debitCents } = byDay.get(day) ?? quiet;
    const closingCents = balance + creditCents - debitCents;
    const told = { openingCents: balance, creditCents, debitCents, closingCents };
    balance = closingCents;
    const certificate = certified.get(day);
    return {
      day,
      lines,
      ...told,
      certificate: certificate
        ? {
            hash: certificate.hash,
            revision: certificate.revision,
            agrees: isSame(told, certificate),
          }
        : null,
    };
  });
}

const quiet = { lines: 0n, creditCents: 0n, debitCents: 0n };

function isSame(a: DaySums, b: DaySums): boolean {
  return a.creditCents === b.creditCents && a.debitCents === b.debitCents;
}
