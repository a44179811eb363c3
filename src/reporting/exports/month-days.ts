// The days of a month as the report shows them: the totals of the lines beside the certificates.
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import type { DayClose } from '../../generated/service/client.js';

type DaySums = Pick<DayClose, 'creditCents' | 'debitCents'>;

/** The totals of the lines of a day. */
export interface DayTotals extends DaySums {
  day: PlainDate;
  lines: bigint;
}

export interface ReportDay extends DayTotals, Pick<DayClose, 'openingCents' | 'closingCents'> {
  certificate: {
    hash: string;
    /** Greater than 1 for an amended certificate. */
    revision: number;
    /** Whether its sums equal those of the lines. */
    agrees: boolean;
  } | null;
}

export function daysOfMonth(month: string): PlainDate[] {
  const days: PlainDate[] = [];
  for (let day = `${month}-01`; day.startsWith(month); day = addDays(day, 1)) days.push(day);
  return days;
}

/**
 * Each day opens with the closing balance of the day before. Of the certificates of one day, the
 * last counts.
 */
export function reportDays(
  days: readonly PlainDate[],
  openingCents: bigint,
  totals: readonly DayTotals[],
  certificates: readonly Omit<DayClose, 'certificate'>[],
): ReportDay[] {
  const byDay = new Map(totals.map((row) => [row.day, row]));
  const certified = new Map(certificates.map((row) => [row.date, row]));
  let balance = openingCents;
  return days.map((day) => {
    const { lines, creditCents, debitCents } = byDay.get(day) ?? noLines;
    const closingCents = balance + creditCents - debitCents;
    const dayFigures = { openingCents: balance, creditCents, debitCents, closingCents };
    balance = closingCents;
    const certificate = certified.get(day);
    return {
      day,
      lines,
      ...dayFigures,
      certificate: certificate
        ? { ...certificate, agrees: hasSameSums(dayFigures, certificate) }
        : null,
    };
  });
}

const noLines = { lines: 0n, creditCents: 0n, debitCents: 0n };

function hasSameSums(a: DaySums, b: DaySums): boolean {
  return a.creditCents === b.creditCents && a.debitCents === b.debitCents;
}
