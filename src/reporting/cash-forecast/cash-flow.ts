// Computes a cash forecast from what is open, what came and what the statement shows. Amounts in
// cents; days are statement days.
import { amountOwed } from '../../brazil/amount-owed.js';
import { addBusinessDays, addDays, type PlainDate } from '../../brazil/calendar.js';
import { parseAdjustments } from '../../bank-contract/charge-terms.js';
import { creditDaysOf, type CreditDays } from '../../statement/expected-payments/credit-days.js';

/** Both days included. */
export interface ForecastPeriod {
  from: PlainDate;
  to: PlainDate;
}

/** Open payments of one last payment day; `day` is null where they have none. */
export interface OpenGroup {
  day: PlainDate | null;
  isCredit: boolean;
  /** Null for a payment that is no charge. */
  chargeType: string | null;
  /** With `dueDate` and `amountCents`, where the amount owed depends on the day. */
  terms: string | null;
  dueDate: PlainDate | null;
  amountCents: bigint | null;
  count: number;
  /** How many have an amount: the payer of a static QR code may choose it. */
  withAmount: number;
  totalCents: bigint;
}

/** What came on `cameOn` of the payments expected on `day`. */
export interface SettledGroup {
  day: PlainDate;
  isCredit: boolean;
  /** Null for a payment that is no charge. */
  chargeType: string | null;
  cameOn: PlainDate;
  count: number;
  totalCents: bigint;
}

export interface StatementDay {
  day: PlainDate;
  isCredit: boolean;
  totalCents: bigint;
  matchedCents: bigint;
  undatedCents: bigint;
}

export interface Settled {
  onTime: bigint;
  late: bigint;
  early: bigint;
}

export interface ForecastDay {
  date: PlainDate;
  expectedIn: bigint;
  expectedOut: bigint;
  settledIn: Settled;
  settledOut: Settled;
  unexpectedIn: bigint;
  unexpectedOut: bigint;
  /** Of the statement; null for a day that has not begun. */
  statement: { in: bigint; out: bigint } | null;
  openingBalance: bigint;
  closingBalance: bigint;
  /** Whether the closing balance is projected: the day is not over. */
  isProjected: boolean;
}

/** Open payments that stand on no day of the forecast. */
export interface ApartFlow {
  in: bigint;
  out: bigint;
  count: number;
  /** Those without an amount, which are in no sum. */
  withoutAmount: number;
}

export interface CashFlow {
  days: ForecastDay[];
  overdue: ApartFlow;
  undated: ApartFlow;
}

interface FlowFacts {
  today: PlainDate;
  creditDays: CreditDays;
  /** Of the first day that is computed: the first of the period, or today if that is earlier. */
  openingCents: bigint;
  open: readonly OpenGroup[];
  settled: readonly SettledGroup[];
  statement: readonly StatementDay[];
}

/** The first day from which the balances of a period are computed. */
export const firstComputedDay = ({ from }: ForecastPeriod, today: PlainDate): PlainDate =>
  from < today ? from : today;

export function cashFlowOf(period: ForecastPeriod, facts: FlowFacts): CashFlow {
  const { today, openingCents, open, creditDays } = facts;
  const first = firstComputedDay(period, today);
  const days = new Map<PlainDate, ForecastDay>();
  for (let date = first; date <= period.to; date = addDays(date, 1))
    days.set(date, emptyDay(date, today));
  const overdue = emptyFlow();
  const undated = emptyFlow();
  for (const group of open) {
    const { day: lastDay, isCredit } = group;
    // What is paid on its last day is credited after the credit days.
    const expectedOn = lastDay === null ? null : creditedOn(lastDay, group, creditDays);
    const isOverdue = expectedOn !== null && expectedOn < today;
    const owed = owedCents(group, isOverdue ? today : lastDay);
    if (expectedOn === null) addApart(undated, group, owed);
    else {
      if (isOverdue) addApart(overdue, group, owed);
      const day = days.get(expectedOn);
      if (day) day[isCredit ? 'expectedIn' : 'expectedOut'] += owed;
    }
  }
  addSettled(days, facts);
  addStatement(days, facts);
  addBalances([...days.values()], openingCents, today);
  return { days: [...days.values()].filter(({ date }) => date >= period.from), overdue, undated };
}

function emptyDay(date: PlainDate, today: PlainDate): ForecastDay {
  return {
    ...{ date, expectedIn: 0n, expectedOut: 0n, unexpectedIn: 0n, unexpectedOut: 0n },
    settledIn: { onTime: 0n, late: 0n, early: 0n },
    settledOut: { onTime: 0n, late: 0n, early: 0n },
    statement: date <= today ? { in: 0n, out: 0n } : null,
    ...{ openingBalance: 0n, closingBalance: 0n, isProjected: date >= today },
  };
}

const emptyFlow = (): ApartFlow => ({ in: 0n, out: 0n, count: 0, withoutAmount: 0 });

function addApart(flow: ApartFlow, group: OpenGroup, owed: bigint): void {
  flow[group.isCredit ? 'in' : 'out'] += owed;
  flow.count += group.count;
  flow.withoutAmount += group.count - group.withAmount;
}

/** What is owed on the last payment day, or today for what is overdue. */
function owedCents(group: OpenGroup, paidOn: PlainDate | null): bigint {
  const { terms, dueDate, amountCents, count, totalCents } = group;
  if (terms === null || dueDate === null || amountCents === null || paidOn === null)
    return totalCents;
  const owed = amountOwed({ amountCents, dueDate, ...parseAdjustments(terms) }, paidOn);
  return owed * BigInt(count);
}

function addSettled(
  days: ReadonlyMap<PlainDate, ForecastDay>,
  { settled, statement, creditDays }: FlowFacts,
): void {
  for (const group of settled) {
    const { day: date, isCredit, cameOn, totalCents } = group;
    const latest = addBusinessDays(date, creditDaysOf(creditDays, group.chargeType).most);
    const punctuality = cameOn < date ? 'early' : cameOn <= latest ? 'onTime' : 'late';
    const day = days.get(creditedOn(date, group, creditDays));
    if (day) day[isCredit ? 'settledIn' : 'settledOut'][punctuality] += totalCents;
  }
  // What has no day is expected when it comes.
  for (const { day: date, isCredit, undatedCents } of statement) {
    const day = days.get(date);
    if (day) day[isCredit ? 'settledIn' : 'settledOut'].onTime += undatedCents;
  }
}

/** When a charge that is paid on its last day is credited; a slip with a QR code as a Pix. */
function creditedOn(
  day: PlainDate,
  { chargeType }: Pick<OpenGroup, 'chargeType'>,
  creditDays: CreditDays,
): PlainDate {
  if (chargeType === null) return day;
  return addBusinessDays(day, creditDaysOf(creditDays, chargeType).least);
}

function addStatement(days: ReadonlyMap<PlainDate, ForecastDay>, { statement }: FlowFacts): void {
  for (const { day: date, isCredit, totalCents, matchedCents } of statement) {
    const day = days.get(date);
    if (!day?.statement) continue;
    day.statement[isCredit ? 'in' : 'out'] += totalCents;
    day[isCredit ? 'unexpectedIn' : 'unexpectedOut'] += totalCents - matchedCents;
  }
}

/** A day that is over closes as its statement shows; what is overdue is in no projection. */
function addBalances(days: readonly ForecastDay[], openingCents: bigint, today: PlainDate): void {
  let balance = openingCents;
  for (const day of days) {
    day.openingBalance = balance;
    if (day.statement) balance += day.statement.in - day.statement.out;
    if (day.date >= today) balance += day.expectedIn - day.expectedOut;
    day.closingBalance = balance;
  }
}
