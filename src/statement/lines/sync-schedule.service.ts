// Enqueues each account's statement sync at its own interval, or at the configured interval if the
// account has none. Several processes do so beside each other: each enqueues a sync at most once,
// and the lease of the sync makes a second one harmless.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/config.js';
import { Database } from '../../platform/postgres/database.service.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { Every } from '../../platform/queue/timers.js';
import * as queries from './statement.queries.js';

/**
 * A sync that is this many intervals overdue is enqueued without coalescing. Its job was lost with
 * the queue, or a killed worker did not release the job's lock.
 */
export const overdueAfterIntervals = 3;

@Injectable()
export class SyncSchedule {
  /**
   * When this process last enqueued a sync of each account. A sync that does not complete is
   * enqueued once an interval all the same: a bank that does not respond is not called more often.
   */
  private readonly enqueuedAt = new Map<number, number>();
  private hasEnqueuedAll = false;

  constructor(
    private readonly database: Database,
    @InjectQueue(jobs.syncStatement.name)
    private readonly syncStatementQueue: JobQueue<'syncStatement'>,
    private readonly settings: Settings,
  ) {}

  /**
   * Enqueues a sync of every account that is due and was not enqueued since. At the start, all
   * accounts are synced: payments may have come while no process ran.
   */
  @Every('statement', 1)
  async enqueueDue(): Promise<void> {
    const { prisma } = this.database;
    const isAll = !this.hasEnqueuedAll;
    const due = await queries.listDueSyncs(prisma, this.settings.syncIntervalMs, isAll);
    const now = performance.now();
    for (const { accountId, sinceMs } of due) {
      const last = this.enqueuedAt.get(accountId);
      if (last !== undefined && last >= now - sinceMs) continue;
      this.enqueuedAt.set(accountId, now);
      await this.syncStatementQueue.enqueue({ accountId }, { isRoutine: true });
    }
    this.hasEnqueuedAll = true;
  }

  /**
   * Enqueues an overdue sync, without coalescing, for each account whose last completed sync is too
   * many of its sync intervals ago.
   */
  @Every('overdue-statement', 5)
  async enqueueOverdue(): Promise<void> {
    const { syncIntervalMs } = this.settings;
    const overdue = await queries.listOverdueAccounts(
      this.database.prisma,
      overdueAfterIntervals,
      syncIntervalMs,
    );
    for (const account of overdue) await this.syncStatementQueue.enqueueOverdue(account);
  }
}
