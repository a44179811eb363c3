// The severity of a break, from its amount and its age. Points are only ever added, so an
// unattended break rises.
import { addBusinessDays, type PlainDate } from '../../brazil/calendar.js';
import { urgentKinds } from '../decide/break-kinds.js';

export const severities = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** One point for each of these amounts, in cents, that the break reaches. */
export const amountSteps = [10_000n, 100_000n, 1_000_000n] as const;
/** One point for each of these ages, in business days, that the break reaches. */
export const ageSteps = [1, 3, 10] as const;
/** Points for an unknown amount. */
export const pointsWithoutAmount = 1;
/** The points from which a break is medium, high, critical. */
export const severitySteps = [2, 4, 5] as const;
/** Points of an urgent kind: at least high. */
export const urgentPoints = severitySteps[1];

/** The latest opening days of breaks that are one, three, ten business days old. */
export function ageCutoffs(today: PlainDate): PlainDate[] {
  return ageSteps.map((days) => addBusinessDays(today, -days));
}

export interface SeverityFacts {
  kind: string;
  /** Null if unknown. */
  amountCents: bigint | null;
  /** The day at the bank on which the break was opened. */
  openedDay: PlainDate;
}

/** The severity on the day to which `cutoffs` belong. */
export function severityOf(
  { kind, amountCents, openedDay }: SeverityFacts,
  cutoffs: readonly PlainDate[],
): Severity {
  const ofAmount =
    amountCents === null
      ? pointsWithoutAmount
      : amountSteps.filter((step) => amountCents >= step).length;
  const ofAge = cutoffs.filter((cutoff) => openedDay <= cutoff).length;
  const floor = urgentKinds.includes(kind) ? urgentPoints : 0;
  const points = Math.max(ofAmount + ofAge, floor);
  const index = severitySteps.filter((step) => points >= step).length;
  return severities[index] ?? 'critical';
}
