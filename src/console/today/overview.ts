// What the page of the finance director computes from sums.
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import type { Cents } from '../../brazil/cents.js';

/** Breaks by the days at the bank on which they were opened and resolved; null while open. */
export interface BreakSpan {
  openedDay: PlainDate;
  resolvedDay: PlainDate | null;
  cents: Cents;
}

/** The money of the breaks that were open at the end of each of the last days. */
export function unexplainedByDay(
  spans: readonly BreakSpan[],
  today: PlainDate,
  count: number,
): { day: PlainDate; cents: Cents }[] {
  return Array.from({ length: count }, (_, index) => {
    const day = addDays(today, index - count + 1);
    const cents = spans
      // What was opened by a clock ahead of the bank's is of today.
      .filter(({ openedDay }) => openedDay <= day || day === today)
      .filter(({ resolvedDay }) => resolvedDay === null || resolvedDay > day)
      .reduce((sum, span) => sum + span.cents, 0n);
    return { day, cents };
  });
}

interface ExpectedDay {
  date: PlainDate;
  expectedIn: Cents;
  expectedOut: Cents;
}

/** What is expected on so many days, the first of them today. */
export function expectedWithin(days: readonly ExpectedDay[], today: PlainDate, count: number) {
  const end = addDays(today, count);
  return days
    .filter(({ date }) => date < end)
    .reduce(
      (sum, { expectedIn, expectedOut }) => ({
        ...{ in: sum.in + expectedIn, out: sum.out + expectedOut },
      }),
      { in: 0n, out: 0n },
    );
}
