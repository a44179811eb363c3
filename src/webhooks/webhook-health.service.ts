// How well the bank's webhooks tell of what its statement shows. They settle nothing: their health is what the pace of
// polls follows, and what someone asks the bank about.
import { Injectable } from '@nestjs/common';
import { BankService } from '../bank/bank.service.js';
import { Database } from '../database.service.js';
import { BankTime } from '../statement/bank-time.service.js';
import { healthPeriod, type AskedPeriod } from './health-period.js';
import * as queries from './health.queries.js';

/** What a webhook may take beyond what an effect takes to show on the statement. */
const graceMs = 60_000;
const recentMs = 3_600_000;
const recentLines = 100;

@Injectable()
export class WebhookHealth {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly bankTime: BankTime,
  ) {}

  async measure(accountId: number, asked: AskedPeriod) {
    const now = await this.bankTime.now(accountId);
    const period = healthPeriod(asked, now, 1);
    const db = this.database.prisma;
    const window = { ...period, overdueBefore: this.overdueBefore(now) };
    const [types, events, state] = await Promise.all([
      queries.measureTypes(db, accountId, window),
      queries.countEvents(db, accountId, period),
      db.statementState.findUnique({ where: { accountId }, select: { syncIntervalMs: true } }),
    ]);
    return { ...period, types, events, syncIntervalMs: state?.syncIntervalMs ?? null };
  }

  async listUnnotified(
    accountId: number,
    asked: AskedPeriod,
    { beforeNsu, limit }: { beforeNsu: bigint | null; limit: number },
  ): Promise<queries.UnnotifiedRow[]> {
    const now = await this.bankTime.now(accountId);
    const window = {
      ...healthPeriod(asked, now, 90),
      overdueBefore: this.overdueBefore(now),
      limit,
    };
    return queries.listUnnotified(this.database.prisma, accountId, window, beforeNsu);
  }

  /** The newest lines of the last hour, newest first. */
  async recent(accountId: number) {
    const until = await this.bankTime.now(accountId);
    return queries.listNotifiable(this.database.prisma, accountId, {
      from: new Date(until.getTime() - recentMs),
      until,
      overdueBefore: this.overdueBefore(until),
      limit: recentLines,
    });
  }

  private overdueBefore(now: Date): Date {
    return new Date(now.getTime() - (this.bank.profile.visibilityBoundMs ?? 0) - graceMs);
  }
}
