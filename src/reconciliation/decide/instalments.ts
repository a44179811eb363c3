// Expected payments that are paid in a declared number of instalments. Each instalment has its day
// and its part of the amount, so a line pays one instalment or none: no set of lines is searched.
import { addDays, addMonths, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { dueDateAt } from '../../statement/expected-payments/due-dates.js';
import { groupBy } from '../../platform/grouping.js';
import {
  agrees,
  compareByTime,
  toleranceOf,
  type InstalmentPlan,
  type MatchAction,
  type PaidPart,
  type RuleExpectedPayment,
  type RuleLine,
} from './rule.js';

export interface Instalment {
  /** From 1. */
  number: number;
  day: PlainDate;
  cents: bigint;
}

/** Plans that begin later have no instalments: the calendar ends in 2199. */
const lastFirstDay = '2180-12-31';

type Planned = Pick<RuleExpectedPayment, 'amountCents' | 'dueDate' | 'dueDates' | 'createdAt'>;

/**
 * Equal parts of the amount, on the days that follow from the due date in force at a time, or from
 * the last one. The last part takes the rest. None where the payer chooses the amount.
 */
export function instalmentsOf(plan: InstalmentPlan, expected: Planned, at?: Date): Instalment[] {
  const { amountCents, dueDate, createdAt } = expected;
  const first = (at ? dueDateAt(expected, at) : dueDate) ?? saoPauloDay(createdAt);
  if (amountCents === null || first > lastFirstDay) return [];
  const count = BigInt(plan.count);
  const part = amountCents / count;
  return Array.from({ length: plan.count }, (_, index) => ({
    number: index + 1,
    day:
      plan.intervalDays === null
        ? addMonths(first, index)
        : addDays(first, index * plan.intervalDays),
    cents: index + 1 === plan.count ? amountCents - part * (count - 1n) : part,
  }));
}

/** The instalment of a day: no two are near enough to each other for one day. */
export function instalmentOfDay(
  { toleranceDays }: InstalmentPlan,
  instalments: readonly Instalment[],
  day: PlainDate,
): Instalment | null {
  const isNear = (one: Instalment) =>
    day >= addDays(one.day, -toleranceDays) && day <= addDays(one.day, toleranceDays);
  return instalments.find(isNear) ?? null;
}

/**
 * The instalments that no payment has taken, on their days as of a time, or on their last days.
 * Null if the payments do not follow the plan.
 */
export function openInstalments(
  plan: InstalmentPlan,
  expected: Planned,
  payments: readonly PaidPart[],
  at?: Date,
): Instalment[] | null {
  const taken = new Set<number>();
  const openAt = (time?: Date) =>
    instalmentsOf(plan, expected, time).filter(({ number }) => !taken.has(number));
  for (const { occurredAt } of payments) {
    const paid = instalmentOfDay(plan, openAt(occurredAt), saoPauloDay(occurredAt));
    if (!paid) return null;
    taken.add(paid.number);
  }
  return openAt(at);
}

/** What a line may pay of a payment by its plan. */
export interface InstalmentClaim {
  line: RuleLine;
  /** Null if the line pays the whole amount at once. */
  instalment: Instalment | null;
}

/** What the line may pay by its day and amount: an instalment, the whole amount, or nothing. */
export function claimsOf(
  action: MatchAction,
  line: RuleLine,
  expected: RuleExpectedPayment,
): InstalmentClaim[] {
  const { plan } = action;
  if (!plan || expected.isMultiUse || expected.amountCents === null) return [];
  const isNear = (cents: bigint) => {
    const difference = line.amountCents - cents;
    return (difference < 0n ? -difference : difference) <= toleranceOf(action, cents);
  };
  const isWhole = ({ amountCents: cents }: RuleLine, { accepted }: RuleExpectedPayment) =>
    isNear(expected.amountCents ?? 0n) &&
    (accepted === null || (cents >= accepted.fromCents && cents <= accepted.toCents));
  const claims: InstalmentClaim[] = [];
  const open = openInstalments(plan, expected, expected.payments, line.occurredAt) ?? [];
  const instalment = instalmentOfDay(plan, open, saoPauloDay(line.occurredAt));
  // An instalment has its own day: the window around the due date is that of the whole amount.
  if (instalment && isNear(instalment.cents) && agrees(action, line, expected, { hasOwnDay: true }))
    claims.push({ line, instalment });
  if (expected.paidCents === 0n && isWhole(line, expected) && agrees(action, line, expected))
    claims.push({ line, instalment: null });
  return claims;
}

/**
 * The claims that nothing competes with: of one line on each instalment, and on the whole amount if
 * no line claims an instalment.
 */
export function uncontested(claims: readonly InstalmentClaim[]): InstalmentClaim[] {
  if (claims.some(({ instalment }) => instalment === null))
    return claims.length === 1 ? [...claims] : [];
  const byNumber = groupBy(claims, ({ instalment }) => instalment?.number);
  return [...byNumber.values()].filter(({ length }) => length === 1).flat();
}

/**
 * The total owed once each of these claims is paid: what was paid until then, and the instalments
 * that are still open. A tolerated difference of an instalment is owed no more.
 */
export function owedAfterClaims(
  plan: InstalmentPlan,
  expected: RuleExpectedPayment,
  claims: readonly InstalmentClaim[],
): Map<bigint, bigint> {
  const all = [...expected.payments, ...claims.map(({ line }) => line)].sort(compareByTime);
  const owed = new Map<bigint, bigint>();
  for (const { line, instalment } of claims) {
    const until = all.filter((one) => compareByTime(one, line) <= 0);
    const open = instalment === null ? [] : (openInstalments(plan, expected, until) ?? []);
    owed.set(line.nsu, sumOf(until, 'amountCents') + sumOf(open, 'cents'));
  }
  return owed;
}

function sumOf<Name extends string>(values: readonly Record<Name, bigint>[], name: Name): bigint {
  return values.reduce((sum, value) => sum + value[name], 0n);
}

/** The instalment that a match stores in its evidence, with the plan that it is of. */
export interface InstalmentEvidence extends InstalmentPlan {
  number: number;
}

export function readInstalment(evidence: object): InstalmentEvidence | null {
  return (evidence as { instalment?: InstalmentEvidence }).instalment ?? null;
}
