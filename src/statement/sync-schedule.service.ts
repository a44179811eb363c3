// Enqueues each account's statement sync at its own interval, or at the configured interval if the
// account has none.
import { Injectable } from '@nestjs/common';
import { Settings } from '../config.js';
import { Database } from '../database.service.js';
import { JobQueue } from '../platform/job-queue.js';
import { Every } from '../platform/timer-methods.js';
import * as queries from './statement.queries.js';

/** A timer may fire this much early or late. */
const timerSlackMs = 50;
/**
 * How often due syncs are enqueued. An account's own interval may be shorter than the configured
 * interval.
 */
const maxTickMs = 1_000;
/**
 * A sync that is this many intervals overdue is enqueued without coalescing. Its job was lost with
 * the queue, or a killed worker did not release the job's lock.
 */
export const overdueAfterIntervals = 3;

/** The multiples of this number, without their whole part, are spread evenly between 0 and 1. */
const goldenRatio = 0.618_033_988_75;

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
    private readonly settings: Settings,
  ) {}

  /** Enqueues a sync of every account whose interval has passed. */
  @Every('statement', ({ syncIntervalMs }) => Math.min(syncIntervalMs, maxTickMs))
  async enqueueDue(): Promise<void> {
    const now = performance.now();
    for (const { accountId, intervalMs } of await queries.listSyncIntervals(
      this.database.sharedReads,
    )) {
      const last = this.enqueuedAt.get(accountId);
      const interval = intervalMs ?? this.settings.syncIntervalMs;
      if (last !== undefined && now - last < interval - timerSlackMs) continue;
      // All accounts are synced at the start, and then each at another time of the interval.
      const earlierMs = last === undefined ? interval * phaseOf(accountId) : 0;
      this.enqueuedAt.set(accountId, now - earlierMs);
      await this.jobQueue.enqueue('syncStatement', { accountId }, { isRoutine: true });
    }
  }

  /**
   * Enqueues an overdue sync, without coalescing, for each account whose last completed sync is too
   * many of its sync intervals ago.
   */
  @Every('overdue-statement', ({ syncIntervalMs }) => syncIntervalMs)
  async enqueueOverdue(): Promise<void> {
    const { syncIntervalMs } = this.settings;
    const overdue = await queries.listOverdueAccounts(
      this.database.sharedReads,
      overdueAfterIntervals,
      syncIntervalMs,
    );
    for (const account of overdue) await this.jobQueue.enqueueOverdue('syncStatement', account);
  }
}

/** The part of the interval by which an account's second sync comes earlier. */
function phaseOf(accountId: number): number {
  return (accountId * goldenRatio) % 1;
}
