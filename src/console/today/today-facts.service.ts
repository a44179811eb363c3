// Reads what *Today* shows, from counters, totals and what is open: a few index entries, whatever
// the history. Pages that refresh themselves within a second share one reading.
import { Injectable } from '@nestjs/common';
import { Alerts } from '../../reporting/alerts/alerts.service.js';
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { Database } from '../../platform/postgres/database.service.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { loadSummary } from '../../reconciliation/api/summary.queries.js';
import { BreakReading } from '../../reconciliation/breaks/break-reading.service.js';
import { readBankTime } from '../../statement/lines/bank-clock.queries.js';
import { readNotGuardedSince } from '../../statement/lines/sync-interval.queries.js';
import { readKnownBalances } from '../balances.queries.js';
import { sumOpenWork } from './open-work.queries.js';
import { chartDays } from './today.js';

const sharedMs = 1_000;

export type TodayReading = Awaited<ReturnType<TodayFactsReader['readNow']>>;

@Injectable()
export class TodayFactsReader {
  private readonly shared = new Map<number, { at: number; reading: Promise<TodayReading> }>();

  constructor(
    private readonly database: Database,
    private readonly breaks: BreakReading,
    private readonly alerts: Alerts,
  ) {}

  /** What was read of the account within the last second, or is read now. */
  read(accountId: number): Promise<TodayReading> {
    const now = performance.now();
    for (const [id, { at }] of this.shared) if (at <= now - sharedMs) this.shared.delete(id);
    const known = this.shared.get(accountId);
    if (known) return known.reading;
    return this.readAnew(accountId);
  }

  /** The same for what has just changed. Others share it. */
  readAnew(accountId: number): Promise<TodayReading> {
    const reading = this.readNow(accountId);
    this.shared.set(accountId, { at: performance.now(), reading });
    return reading;
  }

  /**
   * A text that changes with what *Today* shows: with new lines, decisions, operations, webhooks
   * and deliveries. `today` is a day at the bank. One statement.
   */
  async readMark(accountId: number, today: string): Promise<string> {
    const {
      syncs: _,
      syncedAt: __,
      ...rest
    } = await loadSummary(this.database.prisma, accountId, today);
    return stringifyJson(rest);
  }

  /** The day at the bank. */
  async readToday(accountId: number): Promise<PlainDate> {
    return saoPauloDay(await readBankTime(this.database.prisma, accountId));
  }

  private async readNow(accountId: number) {
    const { prisma } = this.database;
    const [now, today] = await Promise.all([this.database.now(), this.readToday(accountId)]);
    const day = { gte: addDays(today, 1 - chartDays), lte: today };
    const [summary, balances, totals, breaks, work, firingAlerts, notGuardedSince] =
      await Promise.all([
        loadSummary(prisma, accountId, today),
        readKnownBalances(prisma, accountId),
        prisma.dayTotal.findMany({
          where: { accountId, day, lineCount: { gt: 0 } },
          orderBy: [{ day: 'asc' }, { state: 'asc' }],
        }),
        this.breaks.countOpen(accountId),
        sumOpenWork(prisma, accountId, today),
        this.alerts.countFiring(accountId),
        readNotGuardedSince(prisma, accountId),
      ]);
    const { total, matched, classified, inBreak } = summary;
    return {
      ...{ now, today, summary, balances, totals, breaks, work, firingAlerts, notGuardedSince },
      pending: total - matched - classified - inBreak,
    };
  }
}
