// How often each account's statement is polled: as the settings say, or as the health of its webhooks asks for.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { JobQueue } from '../platform/job-queue.js';
import * as queries from './statement.queries.js';

/** WorkerLoop of a timer come a little late or early. */
const slackMs = 50;

@Injectable()
export class Cadence {
  /** When this process woke each account last: a bank that does not answer is not asked the more often. */
  private readonly triggeredAt = new Map<number, number>();

  constructor(
    private readonly database: Database,
    private readonly jobQueue: JobQueue,
  ) {}

  /** From now on the account is polled so often, in milliseconds; null: as the settings say. */
  async set(accountId: number, intervalMs: number | null): Promise<void> {
    await queries.setCadence(this.database.prisma, accountId, intervalMs);
  }

  /** Wakes a poll of every account whose interval has passed. */
  async enqueueDue(usualMs: number, now = performance.now()): Promise<void> {
    for (const { accountId, intervalMs } of await queries.listCadences(this.database.prisma)) {
      const last = this.triggeredAt.get(accountId) ?? -Infinity;
      if (now - last < (intervalMs ?? usualMs) - slackMs) continue;
      this.triggeredAt.set(accountId, now);
      await this.jobQueue.enqueue('syncStatement', { accountId });
    }
  }
}
