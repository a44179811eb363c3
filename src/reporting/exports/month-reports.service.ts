// Reads the data of a monthly report.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import { Database } from '../../platform/postgres/database.service.js';
import { AppError } from '../../platform/errors.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import * as queries from './exports.queries.js';
import { monthPage } from './month-page.js';
import { daysOfMonth, reportDays } from './month-days.js';
import { ReadingLimits } from './reading-limits.service.js';

@Injectable()
export class MonthReports {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bankTime: BankTime,
    private readonly limits: ReadingLimits,
  ) {}

  /** Throws `not_found` if the month has not begun, or the statement has no line up to its end. */
  async page(accountId: number, month: string): Promise<string> {
    const now = await this.bankTime.now(accountId);
    const today = await this.bankTime.today(accountId);
    if (month > today.slice(0, 7)) throw new AppError('not_found');
    const allDays = daysOfMonth(month);
    const [first, last] = [allDays[0], allDays.at(-1)] as [PlainDate, PlainDate];
    const window = { from: statementDayStart(first), until: statementDayStart(addDays(last, 1)) };
    const db = this.database.prisma;
    const where = { accountId, occurredAt: { lt: window.until } };
    if (!(await db.statementLine.findFirst({ where }))) throw new AppError('not_found');
    const { slug } = await this.accounts.get(accountId);
    const { openingCents, days, certificates, explanations, breaks } =
      await this.limits.withReadSlot(
        // One query after another: a read slot may use one connection only.
        async () => ({
          openingCents: await queries.readOpeningBalance(
            db,
            accountId,
            window,
            await queries.readLineExtent(db, accountId, window),
          ),
          days: await queries.listDayTotals(db, accountId, window),
          certificates: await db.dayClose.findMany({
            where: { accountId, date: { gte: first, lte: last } },
            orderBy: { revision: 'asc' },
            omit: { certificate: true },
          }),
          explanations: await queries.countExplanations(db, accountId, window),
          breaks: await queries.countOpenBreaks(db, accountId, window),
        }),
      );
    const shownDays = allDays.filter((day) => day <= today);
    return monthPage({
      slug,
      month,
      today,
      generatedAt: now,
      openingCents,
      days: reportDays(shownDays, openingCents, days, certificates),
      explanations: new Map(explanations.map(({ state, lines }) => [state, lines])),
      breaks,
    });
  }
}
