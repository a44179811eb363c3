// Measures how reliably webhooks report the lines that the statement shows. Webhooks settle no
// payment. Their health sets the sync interval, and operators can report its figures to the bank.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BankService } from '../../bank/bank.service.js';
import { Settings } from '../../platform/settings/config.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Health } from '../../platform/http/health.js';
import { Every } from '../../platform/queue/timers.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { setSyncInterval } from '../../statement/lines/statement.queries.js';
import { countedPeriod, healthPeriod, type RequestedPeriod } from './health-period.js';
import * as queries from './health.queries.js';
import * as counts from './notification-counts.queries.js';
import { syncIntervalFor, type NotifiableLine } from './sync-interval.js';
import { recordRecentLines } from './webhook-metrics.service.js';

/** How much later than a line's visibility bound its webhook may come before it counts as lost. */
const graceMs = 60_000;
const hourMs = 3_600_000;
const recentMs = hourMs;
const recentLines = 100;

@Injectable()
export class WebhookHealth implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly bankTime: BankTime,
    private readonly settings: Settings,
    private readonly health: Health,
  ) {}

  onModuleInit(): void {
    this.health.addCheck('webhook registrations', { find: () => this.findWarning() });
  }

  /** Null where the webhooks are registered, but for event types that the bank refused. */
  async findRegistrationFailure(accountId: number): Promise<string | null> {
    const { webhookRegistrationOutcome: outcomes } = this.database.prisma;
    return (await outcomes.findUnique({ where: { accountId } }))?.failure ?? null;
  }

  /** Without `from`, the period is `days` long. Throws `validation_failed` where it is invalid. */
  async measure(accountId: number, requested: RequestedPeriod, days = 1) {
    const now = await this.bankTime.now(accountId);
    const { from, until, spans } = countedPeriod(healthPeriod(requested, now, days));
    const period = { from, until };
    const db = this.database.prisma;
    const window = { ...period, overdueBefore: this.overdueBefore(now) };
    const [types, events, state] = await Promise.all([
      counts.measureLineTypes(db, accountId, window, spans),
      counts.countWebhookEvents(db, accountId, period, spans),
      db.statementState.findUnique({ where: { accountId }, select: { syncIntervalMs: true } }),
    ]);
    return { ...period, types, events, syncIntervalMs: state?.syncIntervalMs ?? null };
  }

  /** The last statement days, newest first. */
  async measureDays(accountId: number, days: number): Promise<counts.DayHealth[]> {
    const until = await this.bankTime.now(accountId);
    const from = new Date(until.getTime() - days * 24 * hourMs);
    return counts.measureDays(this.database.prisma, accountId, { from, until });
  }

  /** How many lines of the last hours webhooks should have reported, and how many none reported. */
  async readLoss(accountId: number, hours: number): Promise<{ expected: number; lost: number }> {
    const now = await this.bankTime.now(accountId);
    const from = new Date(now.getTime() - hours * hourMs);
    const { spans, ...period } = countedPeriod({ from, until: now });
    const window = { ...period, overdueBefore: this.overdueBefore(now) };
    const types = await counts.measureLineTypes(this.database.prisma, accountId, window, spans);
    const total = types.find(({ type }) => type === null);
    return { expected: total?.expected ?? 0, lost: total?.lost ?? 0 };
  }

  /** Lines that no webhook reported, newest first. Throws `validation_failed`. */
  async listUnnotifiedLines(
    accountId: number,
    requested: RequestedPeriod,
    { beforeNsu, limit }: { beforeNsu: bigint | null; limit: number },
    days = 90,
  ): Promise<counts.UnnotifiedLineRow[]> {
    const now = await this.bankTime.now(accountId);
    const window = {
      ...healthPeriod(requested, now, days),
      overdueBefore: this.overdueBefore(now),
      limit,
    };
    return counts.listUnnotifiedLines(this.database.prisma, accountId, window, beforeNsu);
  }

  /** Adjusts the sync interval of each active account to the health of the last hour. */
  @Every('sync-intervals', 60)
  async adjustSyncIntervals(): Promise<void> {
    const { prisma: db, sql } = this.database;
    const recent: NotifiableLine[] = [];
    for (const account of await queries.listActiveAccounts(sql, recentMs)) {
      const { accountId, now } = account;
      const lines = await queries.listNotifiableLines(db, accountId, {
        from: new Date(now.getTime() - recentMs),
        until: now,
        overdueBefore: this.overdueBefore(now),
        limit: recentLines,
      });
      const intervalMs = syncIntervalFor(lines, this.settings.syncIntervalMs);
      if (intervalMs !== account.syncIntervalMs) await setSyncInterval(db, accountId, intervalMs);
      recent.push(...lines);
    }
    recordRecentLines(recent);
  }

  /** Without names: the health endpoints need no key. */
  private async findWarning(): Promise<string | null> {
    const { webhookRegistrationOutcome: outcomes } = this.database.prisma;
    const failed = await outcomes.count({ where: { failure: { not: null } } });
    return failed > 0 ? `Bank accounts without registered webhooks: ${failed}.` : null;
  }

  /** The webhook of a line before this time counts as lost if it has not come. */
  private overdueBefore(now: Date): Date {
    return new Date(now.getTime() - (this.bank.profile.visibilityBoundMs ?? 0) - graceMs);
  }
}
