// Counts open breaks by severity and by age, from their totals.
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import type { OpenBreakTotal } from '../../generated/service/client.js';
import { severities, severityOfSteps, type Severity, type SeverityScale } from './severity.js';

/** Ages in days, both included; null has no end. */
export const ageBands = [
  { from: 0, to: 1 },
  { from: 2, to: 7 },
  { from: 8, to: 30 },
  { from: 31, to: null },
] as const;

export interface AgeCount {
  /** In days; `to` is null where the band has no end. */
  ages: { from: number; to: number | null };
  /** The days of opening; `from` is null where the band has no beginning. */
  opened: { from: PlainDate | null; to: PlainDate };
  breaks: bigint;
}

export interface OpenBreakCounts {
  /** The highest severity first. */
  bySeverity: { severity: Severity; breaks: bigint }[];
  /** The youngest first. */
  byAge: AgeCount[];
  byKind: { kind: string; breaks: bigint }[];
}

/** `today` is a day at the bank. */
export function countBreaksByFacts(
  totals: readonly Omit<OpenBreakTotal, 'accountId'>[],
  scale: SeverityScale,
  today: PlainDate,
): OpenBreakCounts {
  const sumOf = (matches: (total: (typeof totals)[number]) => boolean) =>
    totals.filter(matches).reduce((sum, { breakCount }) => sum + breakCount, 0n);
  const severityByTotal = new Map(
    totals.map((total) => {
      const reachedSteps = total.amountSteps < 0 ? null : total.amountSteps;
      return [total, severityOfSteps({ ...total, reachedSteps }, scale)];
    }),
  );
  const bySeverity = [...severities].reverse().map((severity) => ({
    severity,
    breaks: sumOf((total) => severityByTotal.get(total) === severity),
  }));
  const byAge = ageBands.map((ages) => {
    const from = ages.to === null ? null : addDays(today, -ages.to);
    const to = addDays(today, -ages.from);
    // A break that was opened by a clock ahead of the bank's is of today.
    const isYoungest = ages.from === 0;
    const breaks = sumOf(
      ({ openedDay }) => (from === null || openedDay >= from) && (isYoungest || openedDay <= to),
    );
    return { ages, opened: { from, to }, breaks };
  });
  const kinds = [...new Set(totals.map(({ kind }) => kind))];
  const byKind = kinds
    .map((kind) => ({ kind, breaks: sumOf((total) => total.kind === kind) }))
    .sort((one, other) => Number(other.breaks - one.breaks) || (one.kind < other.kind ? -1 : 1));
  return { bySeverity, byAge, byKind };
}
