// Computes cash forecasts. The cost follows the period and what is open, not the history.
import { Injectable } from '@nestjs/common';
import { fieldError } from '../../bank-contract/field-errors.js';
import { BankService } from '../../bank/bank.service.js';
import { addBusinessDays, addDays, daysBetween, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay, statementDayStart } from '../../brazil/statement-day.js';
import type { RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { readCreditDays } from '../../statement/expected-payments/credit-days.queries.js';
import { readLineExtent, readOpeningBalance } from '../exports/exports.queries.js';
import { invalidField, ruleBroken } from '../../platform/errors.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { cashFlowOf, firstComputedDay, type OpenGroup, type ForecastPeriod } from './cash-flow.js';
import * as queries from './cash-forecast.queries.js';
import type { getCashForecast } from './cash-forecast.schema.js';

const defaultDays = 30;
const maxDays = 400;
const maxLines = 1_000_000n;
/** The calendar of plain dates ends in 2199. */
const [earliestDay, latestDay] = ['1970-01-01', '2198-12-31'];

type Query = RouteInput<typeof getCashForecast>['query'];

@Injectable()
export class CashForecasts {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly bank: BankService,
  ) {}

  /** Throws `validation_failed` for a wrong period, and `rule_broken` for too much in it. */
  async read(accountId: number, query: Query): Promise<RouteOutput<typeof getCashForecast>> {
    const today = saoPauloDay(await this.bankTime.now(accountId));
    const period = readPeriod(query, today);
    const first = firstComputedDay(period, today);
    const { prisma } = this.database;
    const window = { from: statementDayStart(first), until: endOf(period, today) };
    // Of a past period too, all that is overdue is shown.
    const openUntil = period.to > today ? period.to : today;
    const [extent, open] = await Promise.all([
      readLineExtent(prisma, accountId, window),
      queries.listOpenGroups(prisma, accountId, openUntil),
    ]);
    if (extent.count > maxLines)
      throw tooLarge(`The days have more than ${maxLines} statement lines.`);
    if (countOf(open) > queries.maxOpenPayments)
      throw tooLarge(`More than ${queries.maxOpenPayments} payments are open until ${openUntil}.`);
    const { arrival } = extent;
    const creditDays = await readCreditDays(prisma, accountId, this.bank.profile.creditDays);
    // What was due earlier may be credited on the first day.
    const from = addBusinessDays(first, -creditDays.slip);
    const [openingCents, settled, statement, { syncedAt }] = await Promise.all([
      readOpeningBalance(prisma, accountId, window, extent),
      queries.listSettledGroups(prisma, accountId, { from, to: period.to }, dueFrom(from)),
      queries.listStatementDays(prisma, accountId, { ...window, arrival }),
      readSync(this.database, accountId),
    ]);
    const flow = cashFlowOf(period, { today, creditDays, open, openingCents, settled, statement });
    return { ...period, today, syncedAt, ...flow };
  }
}

/** Lines come until the end of today; a day after it has none. */
function endOf({ to }: ForecastPeriod, today: PlainDate): Date {
  return statementDayStart(addDays(to > today ? today : to, 1));
}

/** The first due date of which the business day is `first` or later. */
const dueFrom = (first: PlainDate) => addDays(addBusinessDays(first, -1), 1);

const countOf = (open: readonly OpenGroup[]) => open.reduce((sum, { count }) => sum + count, 0);

function readPeriod({ from, to }: Query, today: PlainDate): ForecastPeriod {
  const first = from ?? (to !== undefined && to < today ? to : today);
  if (first < earliestDay || first > latestDay)
    throw invalidField('$.from', `Must be from ${earliestDay} to ${latestDay}.`);
  const last = to ?? addDays(first > today ? first : today, defaultDays);
  if (last < first) throw invalidField('$.to', fieldError('before_field', { field: 'from' }));
  if (last > latestDay) throw invalidField('$.to', `Must not be after ${latestDay}.`);
  // The balances of later days are computed from today on.
  const days = daysBetween(firstComputedDay({ from: first, to: last }, today), last) + 1;
  if (days > maxDays)
    throw invalidField(
      '$.to',
      `The period must have at most ${maxDays} days, counted from today if it begins later.`,
    );
  return { from: first, to: last };
}

function tooLarge(problem: string): Error {
  return ruleBroken('forecast_too_large', `${problem} Request fewer days.`);
}

async function readSync({ prisma }: Database, accountId: number) {
  const state = await prisma.statementState.findUnique({
    where: { accountId },
    select: { syncedAt: true },
  });
  return { syncedAt: state?.syncedAt ?? null };
}
