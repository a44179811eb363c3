// How pressing an open break is: by its amount, and by how long it has stood. Both only ever add, so that what is left
// alone rises by itself.
import { addBusinessDays, type PlainDate } from '../../brazil/calendar.js';

export const severities = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** From so many cents on, one more point each. */
export const amountSteps = [10_000n, 100_000n, 1_000_000n] as const;
/** After so many business days, one more point each. */
export const ageSteps = [1, 3, 10] as const;
/** Points of an amount that is not known. */
export const pointsWithoutAmount = 1;
/** From so many points on: medium, high, critical. */
export const severitySteps = [2, 4, 5] as const;
/** Money may be gone, or the book cannot be trusted: never less than high. */
export const pressingKinds: readonly string[] = [
  'unknown_outcome',
  'failed_but_debited',
  'broken_balance_chain',
];
export const pressingPoints = severitySteps[1];

/** What was opened on these days or before them has stood for one, three, ten business days. */
export function ageCutoffs(today: PlainDate): PlainDate[] {
  return ageSteps.map((days) => addBusinessDays(today, -days));
}

export interface Standing {
  kind: string;
  /** Null where no amount is known. */
  amountCents: bigint | null;
  /** The bank's day on which it was opened. */
  openedDay: PlainDate;
}

/** On the day of which these are the cutoffs. */
export function severityOf(
  { kind, amountCents, openedDay }: Standing,
  cutoffs: readonly PlainDate[],
): Severity {
  const ofAmount =
    amountCents === null
      ? pointsWithoutAmount
      : amountSteps.filter((step) => amountCents >= step).length;
  const ofAge = cutoffs.filter((cutoff) => openedDay <= cutoff).length;
  const floor = pressingKinds.includes(kind) ? pressingPoints : 0;
  const points = Math.max(ofAmount + ofAge, floor);
  const place = severitySteps.filter((step) => points >= step).length;
  return severities[place] ?? 'critical';
}
