// Finds in PostgreSQL the accounts of which a day waits: for its certificate, for an amendment, or for the statement to
// be closed over it. Closing reads the statement twice, so that one that does not succeed is asked for ever more rarely.
import { Injectable } from '@nestjs/common';
import { BankService } from '../bank/bank.service.js';
import { Database } from '../database.service.js';
import { Clock } from '../platform/clock.js';
import { WakeUps } from '../platform/wake-ups.js';
import { listWaiting } from './day-closes.queries.js';

const firstPauseMs = 5_000;
const longestPauseMs = 600_000;

interface Asked {
  closedUntilMs: number;
  pauseMs: number;
  nextAtMs: number;
}

@Injectable()
export class DayCloseSweeper {
  /** When this process asked last, by account; forgotten with it, which costs one reading. */
  private readonly asked = new Map<number, Asked>();

  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly wakeUps: WakeUps,
    private readonly clock: Clock,
  ) {}

  async wakeWaiting(): Promise<void> {
    const { visibilityBoundMs } = this.bank.profile;
    for (const waiting of await listWaiting(this.database.prisma, visibilityBoundMs)) {
      const { accountId, isReady, needsClosing, closedUntil } = waiting;
      if (isReady) await this.wakeUps.wake('closeDays', { accountId });
      if (needsClosing && this.isTimeToAsk(accountId, closedUntil))
        await this.wakeUps.wake('closeStatement', { accountId });
    }
  }

  /** At once where the closed span has grown since, as it does piece by piece. */
  private isTimeToAsk(accountId: number, closedUntil: Date | null): boolean {
    const nowMs = this.clock.now().getTime();
    const closedUntilMs = closedUntil?.getTime() ?? 0;
    const before = this.asked.get(accountId);
    const isStuck = before?.closedUntilMs === closedUntilMs;
    if (isStuck && nowMs < before.nextAtMs) return false;
    const pauseMs = isStuck ? Math.min(before.pauseMs * 2, longestPauseMs) : firstPauseMs;
    this.asked.set(accountId, { closedUntilMs, pauseMs, nextAtMs: nowMs + pauseMs });
    return true;
  }
}
