// Enqueues each account's statement sync at its own interval, or at the configured interval if the
// account has none.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { JobQueue } from '../platform/job-queue.js';
import * as queries from './statement.queries.js';

/** A timer may fire this much early or late. */
const timerSlackMs = 50;

@Injectable()
export class SyncSchedule {
  /**
   * When this process last enqueued a sync of each account. The interval begins at the enqueueing,
   * not at the completed sync, so that a bank that does not respond is not called more often.
   */
  private readonly enqueuedAt = new Map<number, number>();

  constructor(
    private readonly database: Database,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Sets the account's sync interval in milliseconds; null: the configured interval. */
  async setInterval(accountId: number, intervalMs: number | null): Promise<void> {
    await queries.setSyncInterval(this.database.prisma, accountId, intervalMs);
  }

  /** Enqueues a sync of every account whose interval has passed. */
  async enqueueDue(configuredMs: number, now = performance.now()): Promise<void> {
    for (const { accountId, intervalMs } of await queries.listSyncIntervals(this.database.prisma)) {
      const last = this.enqueuedAt.get(accountId) ?? -Infinity;
      if (now - last < (intervalMs ?? configuredMs) - timerSlackMs) continue;
      this.enqueuedAt.set(accountId, now);
      await this.jobQueue.enqueue('syncStatement', { accountId });
    }
  }
}
