// The limits of an account's payments: the periods over which amounts are summed, and the limit
// that a payment exceeds.
import { statementDayOf, statementDayStart } from '../../brazil/statement-day.js';
import { formatReaisWithTwoDecimals } from '../../brazil/cents.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** From `from`, until just before `until`. */
export interface LimitPeriod {
  from: Date;
  until: Date;
}

/** The hours in São Paulo between which the limit per night holds. */
export interface NightHours {
  nightFromHour: number;
  nightUntilHour: number;
}

export function hourAt(at: Date): LimitPeriod {
  return periodOf(Math.floor(at.getTime() / hourMs) * hourMs, hourMs);
}

/** The day in São Paulo, as the bank's statement has it. */
export function dayAt(at: Date): LimitPeriod {
  return periodOf(statementDayStart(statementDayOf(at)).getTime(), dayMs);
}

/** The night in São Paulo that is at that time; null by day. A night may span midnight. */
export function nightAt(
  at: Date,
  { nightFromHour, nightUntilHour }: NightHours,
): LimitPeriod | null {
  const hours = (nightUntilHour - nightFromHour + 24) % 24;
  const today = dayAt(at).from.getTime() + nightFromHour * hourMs;
  const nights = [today - dayMs, today].map((from) => periodOf(from, hours * hourMs));
  return nights.find(({ from, until }) => from <= at && at < until) ?? null;
}

function periodOf(fromMs: number, lengthMs: number): LimitPeriod {
  return { from: new Date(fromMs), until: new Date(fromMs + lengthMs) };
}

/** A limit, and the amounts that count for it without the payment itself. */
export interface UsedLimit {
  /** As the error names it: `per day`. */
  name: string;
  /** Null: no limit. */
  limitCents: bigint | null;
  usedCents: bigint;
  paymentCents: bigint;
}

/** What is wrong with the payment: the first limit that it exceeds. Null if it exceeds none. */
export function findExceeded(limits: readonly UsedLimit[]): string | null {
  for (const { name, limitCents, usedCents, paymentCents } of limits) {
    if (limitCents === null || usedCents + paymentCents <= limitCents) continue;
    const left = usedCents < limitCents ? limitCents - usedCents : 0n;
    return (
      `The payment exceeds the limit ${name} of R$ ${formatReaisWithTwoDecimals(limitCents)}: ` +
      `R$ ${formatReaisWithTwoDecimals(left)} is left. Nothing was sent.`
    );
  }
  return null;
}
