// The severity of a break, from its amount and its age. Points are only ever added, so an
// unattended break rises.
import { addBusinessDays, type PlainDate } from '../../brazil/calendar.js';
import { severityFloorOf } from '../decide/break-kinds.js';

export const severities = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** The steps of an account. A break has one point for each step that it reaches. */
export interface SeveritySteps {
  /** In cents, ascending. */
  amountSteps: readonly bigint[];
  /** Ages in business days, ascending. */
  ageSteps: readonly number[];
}

/** The steps of an account that has set none. */
export const defaultSeveritySteps: SeveritySteps = {
  amountSteps: [10_000n, 100_000n, 1_000_000n],
  ageSteps: [1, 3, 10],
};

/** The steps as of a day at the bank. */
export interface SeverityScale {
  today: PlainDate;
  amountSteps: readonly bigint[];
  /** The latest days of breaks that have reached each age. */
  cutoffs: readonly PlainDate[];
}

/** Points for an unknown amount. */
export const pointsWithoutAmount = 1;
/** The points from which a break is medium, high, critical. */
export const severityPoints = [2, 4, 5] as const;
/** The points that breaks of a kind have at least. */
export const floorOf = (severity: Severity): number =>
  severityPoints[severities.indexOf(severity) - 1] ?? 0;

/** `today` is a day at the bank. */
export function severityScale(
  { amountSteps, ageSteps }: SeveritySteps,
  today: PlainDate,
): SeverityScale {
  return { today, amountSteps, cutoffs: ageSteps.map((days) => addBusinessDays(today, -days)) };
}

export interface SeverityFacts {
  kind: string;
  /** Null if unknown. */
  amountCents: bigint | null;
  /** From which the age of the break counts: the day of its line, or of its opening. */
  openedDay: PlainDate;
}

/** The severity on the day of the scale. */
export function severityOf(
  { kind, amountCents, openedDay }: SeverityFacts,
  scale: SeverityScale,
): Severity {
  const reachedSteps =
    amountCents === null ? null : scale.amountSteps.filter((step) => amountCents >= step).length;
  return severityOfSteps({ kind, reachedSteps, openedDay }, scale);
}

/** `reachedSteps`: how many steps the amount reaches; null if it is unknown. */
export function severityOfSteps(
  {
    kind,
    reachedSteps,
    openedDay,
  }: Omit<SeverityFacts, 'amountCents'> & { reachedSteps: number | null },
  { cutoffs }: SeverityScale,
): Severity {
  const ofAmount = reachedSteps ?? pointsWithoutAmount;
  const ofAge = cutoffs.filter((cutoff) => openedDay <= cutoff).length;
  const points = Math.max(ofAmount + ofAge, floorOf(severityFloorOf(kind)));
  const index = severityPoints.filter((least) => points >= least).length;
  return severities[index] ?? 'critical';
}
