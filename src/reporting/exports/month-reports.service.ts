// Reads what a month came to, and shows it as a page.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import type { PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay, statementMonths } from '../../brazil/statement-day.js';
import { Database, type Db } from '../../platform/postgres/database.service.js';
import { AppError } from '../../platform/errors.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import * as queries from './exports.queries.js';
import { monthFigures, type MonthFigures } from './month-figures.js';
import { monthPage } from './month-page.js';
import { daysOfMonth } from './month-days.js';
import { ReadingLimits } from './reading-limits.service.js';

/** The figures of a month, and the lines that they are of. */
export interface ReadMonth {
  figures: MonthFigures;
  firstDay: PlainDate;
  lastDay: PlainDate;
  window: queries.Window;
  extent: queries.LineExtent;
}

@Injectable()
export class MonthReports {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bankTime: BankTime,
    private readonly limits: ReadingLimits,
  ) {}

  async page(accountId: number, month: string): Promise<string> {
    return monthPage(await this.figures(accountId, month));
  }

  async figures(accountId: number, month: string): Promise<MonthFigures> {
    return (await this.read(accountId, month)).figures;
  }

  /** Throws `not_found` if the month has not begun, or the statement has no line up to its end. */
  async read(accountId: number, month: string): Promise<ReadMonth> {
    return this.limits.withReadSlot(() => this.readFrom(this.database.prisma, accountId, month));
  }

  /** As `read`, by one query after another: a read slot may use one connection only. */
  async readFrom(db: Db, accountId: number, month: string): Promise<ReadMonth> {
    const now = await this.bankTime.now(accountId);
    const today = saoPauloDay(now);
    if (month > today.slice(0, 7)) throw new AppError('not_found');
    const days = daysOfMonth(month);
    const [firstDay, lastDay] = [days[0], days.at(-1)] as [PlainDate, PlainDate];
    const window = statementMonths(month);
    const where = { accountId, occurredAt: { lt: window.until } };
    if (!(await db.statementLine.findFirst({ where }))) throw new AppError('not_found');
    const { slug } = await this.accounts.get(accountId);
    const extent = await queries.readLineExtent(db, accountId, window);
    const figures = monthFigures({
      ...{ slug, month, today, generatedAt: now },
      shownDays: days.filter((day) => day <= today),
      openingCents: await queries.readOpeningBalance(db, accountId, window, extent),
      lines: await queries.listLineTotals(db, accountId, window, extent),
      breaks: await queries.listBreakTotals(db, accountId, lastDay),
      certificates: await db.dayClose.findMany({
        where: { accountId, date: { gte: firstDay, lte: lastDay } },
        orderBy: { revision: 'asc' },
        omit: { certificate: true },
      }),
    });
    return { figures, firstDay, lastDay, window, extent };
  }
}
