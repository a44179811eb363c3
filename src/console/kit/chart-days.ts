// The days of a chart: each day of a span has its figures, also where nothing happened.
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import type { Cents } from '../../brazil/cents.js';

export const chartOutcomes = ['matched', 'classified', 'in_break', 'pending'] as const;
export type ChartOutcome = (typeof chartOutcomes)[number];

/** The money of a day, and its lines by outcome. */
export interface ChartDay {
  day: PlainDate;
  creditCents: Cents;
  debitCents: Cents;
  lines: Record<ChartOutcome, bigint>;
}

interface TotalOfOutcome {
  day: PlainDate;
  state: ChartOutcome;
  lineCount: bigint;
  creditCents: Cents;
  debitCents: Cents;
}

/** `count` days, the last one `until`. */
export function chartDaysOf(
  totals: readonly TotalOfOutcome[],
  until: PlainDate,
  count: number,
): ChartDay[] {
  const days = Array.from({ length: count }, (_, index): ChartDay => {
    const lines = { matched: 0n, classified: 0n, in_break: 0n, pending: 0n };
    return { day: addDays(until, index - count + 1), creditCents: 0n, debitCents: 0n, lines };
  });
  const byDay = new Map(days.map((one) => [one.day, one]));
  for (const { day, state, lineCount, creditCents, debitCents } of totals) {
    const one = byDay.get(day);
    if (!one) continue;
    one.creditCents += creditCents;
    one.debitCents += debitCents;
    one.lines[state] += lineCount;
  }
  return days;
}
