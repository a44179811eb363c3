// Counts open breaks by severity and by age, from their totals.
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import type { OpenBreakTotal } from '../../generated/service/client.js';
import type { BreakTotal } from './break-list.queries.js';
import { severities, severityOfSteps, type Severity, type SeverityScale } from './severity.js';

/** Ages in days, both included; null has no end. */
export const ageBands = [
  { from: 0, to: 1 },
  { from: 2, to: 7 },
  { from: 8, to: 30 },
  { from: 31, to: null },
] as const;

interface AgeBand {
  /** In days; `to` is null where the band has no end. */
  ages: { from: number; to: number | null };
  /** The days of opening; `from` is null where the band has no beginning. */
  opened: { from: PlainDate | null; to: PlainDate };
}
export interface AgeCount extends AgeBand {
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
  const byAge = ageBandsOn(today).map((band) => ({
    ...band,
    breaks: sumOf(({ openedDay }) => isOpenedIn(band, openedDay)),
  }));
  const kinds = [...new Set(totals.map(({ kind }) => kind))];
  const byKind = kinds
    .map((kind) => ({ kind, breaks: sumOf((total) => total.kind === kind) }))
    .sort((one, other) => Number(other.breaks - one.breaks) || (one.kind < other.kind ? -1 : 1));
  return { bySeverity, byAge, byKind };
}

/** The ages on a day at the bank, the youngest first. */
export function ageBandsOn(today: PlainDate): AgeBand[] {
  return ageBands.map((ages) => {
    const from = ages.to === null ? null : addDays(today, -ages.to);
    return { ages, opened: { from, to: addDays(today, -ages.from) } };
  });
}

/** A break that was opened by a clock ahead of the bank's is of today. */
function isOpenedIn({ ages, opened: { from, to } }: AgeBand, day: PlainDate): boolean {
  return (from === null || day >= from) && (ages.from === 0 || day <= to);
}

/** Breaks, and their reais where they have an amount. */
export interface BreakSum {
  breaks: bigint;
  cents: bigint;
}
export interface BreakTotals extends BreakSum {
  /** The largest sum first. */
  byKind: (BreakSum & { kind: string })[];
  /** The youngest first. */
  byAge: (BreakSum & AgeBand)[];
}

export function sumTotals(totals: readonly BreakTotal[], today: PlainDate): BreakTotals {
  const sumOf = (selected: readonly BreakTotal[]): BreakSum => ({
    breaks: selected.reduce((sum, { breaks }) => sum + breaks, 0n),
    cents: selected.reduce((sum, { cents }) => sum + cents, 0n),
  });
  const kinds = [...new Set(totals.map(({ kind }) => kind))];
  const byKind = kinds
    .map((kind) => ({ kind, ...sumOf(totals.filter((one) => one.kind === kind)) }))
    .sort((one, other) => Number(other.cents - one.cents) || Number(other.breaks - one.breaks));
  const byAge = ageBandsOn(today).map((band) => ({
    ...band,
    ...sumOf(totals.filter(({ openedDay }) => isOpenedIn(band, openedDay))),
  }));
  return { ...sumOf(totals), byKind, byAge };
}
