// Reads how a month stands: its figures, its checklist, who signed it, and what changed since.
import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { Database, type Db } from '../../platform/postgres/database.service.js';
import { AppError } from '../../platform/errors.js';
import { sha256 } from '../../platform/json/exact-json.js';
import { readPage, toList } from '../../platform/http/listing.js';
import { readClosedStatement } from '../../reconciliation/apply/decision-writer.queries.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { isCovered } from '../day-closes/closed-day.js';
import { findFirstCertificate } from '../day-closes/day-closes.queries.js';
import { daysOfMonth } from '../exports/month-days.js';
import { listStandingCloses } from '../journal/journal.queries.js';
import { MonthReports, type ReadMonth } from '../exports/month-reports.service.js';
import { ReadingLimits } from '../exports/reading-limits.service.js';
import { Journals } from '../journal/journals.service.js';
import {
  checklistNames,
  checklistOf,
  noLimits,
  nothingFound,
  type ItemFinding,
  type MonthFindings,
} from './checklist.js';
import { MonthAmendments } from './month-amendments.service.js';
import { hasPriceList, listFindings } from './month-facts.queries.js';
import { signedFiguresOf, sumsOfMonth } from './month-figures.js';
import { lastMonthOver, monthsUntil, standingOf } from './month-state.js';
import type { getMonth, listMonths } from './months.schema.js';

const monthText = /^\d{4}-\d{2}$/;

@Injectable()
export class MonthReader {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly reports: MonthReports,
    private readonly limits: ReadingLimits,
    private readonly amendments: MonthAmendments,
    private readonly journals: Journals,
  ) {}

  /** Newest first, from the current month to the first one. */
  async list(
    accountId: number,
    query: RouteInput<typeof listMonths>['query'],
  ): Promise<RouteOutput<typeof listMonths>> {
    const page = readPage(query, (key) => monthText.test(key));
    const db = this.database.prisma;
    const current = (await this.bankTime.today(accountId)).slice(0, 7);
    const shown = (await listMonthsUntil(db, accountId, current))
      .toReversed()
      .filter((month) => page.after === null || month < page.after)
      .slice(0, page.limit + 1);
    const where = { accountId, month: { in: shown } };
    const decisions = await db.monthDecision.findMany({ where, orderBy: { sequence: 'asc' } });
    const closes = await db.monthClose.findMany({ where, omit: { report: true } });
    const rows = shown.map((month) => {
      const isOf = (one: { month: string }) => one.month === month;
      const { state, closed } = standingOf(decisions.filter(isOf), closes.filter(isOf));
      return {
        ...{ month, state, revision: closed?.revision ?? null, hash: closed?.hash ?? null },
        closedAt: closed?.createdAt ?? null,
      };
    });
    return toList(rows, page, ({ month }) => month);
  }

  /** The months that have been over at the bank for so many days, and are not closed. */
  async listOverdue(accountId: number, days: number): Promise<string[]> {
    const db = this.database.prisma;
    const last = lastMonthOver(days, await this.bankTime.today(accountId));
    const months = await listMonthsUntil(db, accountId, last);
    const closed = (await listStandingCloses(db, accountId)).map(({ month }) => month);
    return months.filter((month) => !closed.includes(month));
  }

  /** Throws `not_found` for a month that has not begun, or before the first certified day. */
  async get(accountId: number, month: string): Promise<RouteOutput<typeof getMonth>> {
    const db = this.database.prisma;
    // One query after another: a read slot may use one connection only.
    return this.limits.withReadSlot(async () => {
      const today = await this.bankTime.today(accountId);
      const read = await this.read(db, accountId, month, today);
      const standing = await listStandingCloses(db, accountId);
      const { closed } = read;
      const changes = await this.amendments.find(db, accountId, month, { closed, standing });
      const { decisions, closes, policy, checklist } = read;
      return {
        ...{ month, state: read.state, firstDay: read.firstDay, ...sumsOfMonth(read.report) },
        ...{ revision: closed?.revision ?? null, hash: closed?.hash ?? null },
        figuresHash: read.hash,
        groups: Object.fromEntries(
          Object.entries(read.report.groups).map(([name, { lines }]) => [name, Number(lines)]),
        ),
        checklist: checklist.map(({ cents: amount, seen: _, ...item }) => ({ ...item, amount })),
        policy: describePolicy(policy),
        decisions: decisions.map(({ itemCount: count, cents: amount, createdAt: at, ...one }) => ({
          ...{ ...one, count, amount, at },
        })),
        closes: closes.map((one) => ({ ...one, at: one.createdAt, stands: one === closed })),
        amendments: {
          ...{ lines: changes.lines, balance: changes.balanceCents },
          outcomes: changes.outcomeCents,
          data: changes.listed.map(({ day: date, effectCents: effect, ...one }) => {
            return { ...one, date, effect };
          }),
        },
      };
    });
  }

  /** The month as `db` sees it: in the transaction of a close, as the locks keep it. */
  async read(db: Db, accountId: number, month: string, today: string) {
    const firstDay = await readFirstDay(db, accountId);
    if (!firstDay || month < firstDay.slice(0, 7) || month > today.slice(0, 7))
      throw new AppError('not_found');
    const read = await this.reports.readFrom(db, accountId, month);
    const where = { accountId, month };
    const decisions = await db.monthDecision.findMany({ where, orderBy: { sequence: 'asc' } });
    const closes = await db.monthClose.findMany({ where, orderBy: { revision: 'asc' } });
    const policy = await findPolicy(db, accountId);
    const findings = await this.findings(db, { accountId, month, today, firstDay, read });
    const accepted = decisions.filter(({ action }) => action === 'accept');
    return {
      ...{ report: read.figures, firstDay, decisions, closes, policy },
      ...signedFiguresOf(read.figures),
      ...standingOf(decisions, closes),
      checklist: checklistOf(findings, policy ?? noLimits, accepted),
    };
  }

  private async findings(
    db: Db,
    { accountId, month, today, firstDay, read }: MonthToCheck,
  ): Promise<MonthFindings> {
    const { lastDay, window, figures } = read;
    const closed = await readClosedStatement(db, accountId);
    const needed = daysOfMonth(month).filter((day) => day >= firstDay);
    const span = { accountId, lastDay, ...window };
    const rows = await listFindings(db, span, today);
    const found = new Map(rows.map(({ item, ...finding }) => [item, finding]));
    const certified = new Set(
      figures.days.filter(({ certificate }) => certificate?.agrees).map(({ day }) => day),
    );
    const state = await db.dayCloseState.findUnique({ where: { accountId } });
    const isToBeAmended = (day: string) => state?.amendFrom != null && state.amendFrom <= day;
    const uncertified = findingOfDays(
      needed.filter((day) => !certified.has(day) || isToBeAmended(day)),
    );
    const isPriced = found.has('fees_checked') || (await hasPriceList(db, accountId, lastDay));
    return {
      ...(Object.fromEntries(
        checklistNames.map((item) => [item, found.get(item) ?? nothingFound]),
      ) as Record<(typeof checklistNames)[number], ItemFinding>),
      statement_complete: findingOfDays(needed.filter((day) => !isCovered(day, closed))),
      // A line that nothing has decided yet is in no certificate.
      days_certified:
        uncertified.count > 0 ? uncertified : (found.get('days_certified') ?? nothingFound),
      fees_checked: isPriced ? (found.get('fees_checked') ?? nothingFound) : null,
      journal: await this.journals.findUnmapped(db, { accountId, month }),
    };
  }
}

interface MonthToCheck {
  accountId: number;
  month: string;
  today: string;
  firstDay: string;
  read: ReadMonth;
}

const findingOfDays = (days: readonly string[]): ItemFinding =>
  days.length === 0
    ? nothingFound
    : { count: days.length, cents: 0n, since: days[0]!, seen: sha256(days.join(' ')) };

/** The first day that has a certificate, or will have one. */
async function readFirstDay(db: Db, accountId: number): Promise<string | null> {
  const first = await findFirstCertificate(db, accountId);
  if (first) return first.date;
  const state = await db.dayCloseState.findUnique({ where: { accountId } });
  return state?.nextDate ?? null;
}

/** Ascending, from the month of the first certified day, or of the first line if that is later. */
async function listMonthsUntil(db: Db, accountId: number, last: string): Promise<string[]> {
  const firstDay = await readFirstDay(db, accountId);
  const line = await db.statementLine.findFirst({
    ...{ where: { accountId }, orderBy: { occurredAt: 'asc' }, select: { occurredAt: true } },
  });
  if (!firstDay || !line) return [];
  const lineDay = saoPauloDay(line.occurredAt);
  return monthsUntil(last, firstDay > lineDay ? firstDay : lineDay);
}

export function findPolicy(db: Db, accountId: number) {
  return db.monthPolicy.findFirst({ where: { accountId }, orderBy: { version: 'desc' } });
}

export function describePolicy(policy: Awaited<ReturnType<typeof findPolicy>>) {
  const { maxBreaks, maxBreakCents: maxBreakAmount, maxPendingLines } = policy ?? noLimits;
  return { version: policy?.version ?? 0, maxBreaks, maxBreakAmount, maxPendingLines };
}
