// The days of a month as the report shows them: the totals of the lines beside the certificates.
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import type { DayClose, LineOutcome } from '../../generated/service/client.js';
import { groupBy } from '../../platform/grouping.js';

export interface LineSums {
  lines: bigint;
  creditCents: bigint;
  /** Not negative. */
  debitCents: bigint;
}

/** Lines of one day, direction and outcome. */
export interface LineTotal extends Pick<LineOutcome, 'state' | 'label'> {
  day: PlainDate;
  isCredit: boolean;
  /** Whether they give back what was received, or bring back what was paid. */
  undoes: boolean;
  lines: bigint;
  cents: bigint;
}

/** Open breaks of one kind and day: of the line, or else the due day, or else of the opening. */
export interface BreakSums {
  kind: string;
  day: PlainDate;
  isOfLine: boolean;
  breaks: bigint;
  /** What they are about, by its direction: neither is negative. */
  creditCents: bigint;
  debitCents: bigint;
}

/** What days are reported from. */
export interface DayFacts {
  lines: readonly LineTotal[];
  breaks: readonly BreakSums[];
  certificates: readonly Omit<DayClose, 'certificate'>[];
}

export interface ReportDay extends LineSums, Pick<DayClose, 'openingCents' | 'closingCents'> {
  day: PlainDate;
  /** Lines that are not decided, or wait. */
  pending: bigint;
  /** Open breaks of its lines, or lines in a break, if they are more. */
  inBreak: bigint;
  certificate: {
    hash: string;
    /** Greater than 1 for an amended certificate. */
    revision: number;
    /** Whether its sums equal those of the lines. */
    agrees: boolean;
  } | null;
}

/** What it adds to the balance. */
export const netOf = ({ creditCents, debitCents }: Omit<LineSums, 'lines'>): bigint =>
  creditCents - debitCents;

export const addMoney = (a: LineSums, b: LineSums): LineSums => ({
  lines: a.lines + b.lines,
  creditCents: a.creditCents + b.creditCents,
  debitCents: a.debitCents + b.debitCents,
});

export const sumOf = (totals: readonly LineTotal[]): LineSums =>
  totals
    .map(({ lines, isCredit, cents }) => ({
      lines,
      creditCents: isCredit ? cents : 0n,
      debitCents: isCredit ? 0n : cents,
    }))
    .reduce(addMoney, { lines: 0n, creditCents: 0n, debitCents: 0n });

/** Whether each line of the day is explained. A certificate does not need it. */
export const isExplained = ({ pending, inBreak }: ReportDay): boolean =>
  pending === 0n && inBreak === 0n;

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
  { lines, breaks, certificates }: DayFacts,
): ReportDay[] {
  const linesByDay = groupBy(lines, ({ day }) => day);
  const breaksByDay = groupBy(
    breaks.filter(({ isOfLine }) => isOfLine),
    ({ day }) => day,
  );
  const certified = new Map(certificates.map((row) => [row.date, row]));
  let balance = openingCents;
  return days.map((day) => {
    const ofDay = linesByDay.get(day) ?? [];
    const inState = (state: string) => sumOf(ofDay.filter((one) => one.state === state)).lines;
    const open = (breaksByDay.get(day) ?? []).reduce((sum, one) => sum + one.breaks, 0n);
    const total = sumOf(ofDay);
    const opening = balance;
    balance += total.creditCents - total.debitCents;
    const certificate = certified.get(day);
    const unexplained = inState('in_break');
    return {
      ...{ day, ...total, openingCents: opening, closingCents: balance },
      pending: inState('pending'),
      inBreak: open > unexplained ? open : unexplained,
      certificate: certificate ? { ...certificate, agrees: hasSameSums(total, certificate) } : null,
    };
  });
}

type DaySums = Pick<DayClose, 'creditCents' | 'debitCents'>;

function hasSameSums(a: DaySums, b: DaySums): boolean {
  return a.creditCents === b.creditCents && a.debitCents === b.debitCents;
}
