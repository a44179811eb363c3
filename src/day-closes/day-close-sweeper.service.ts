// Finds in PostgreSQL the accounts that have a day to certify or a certificate to amend, and closes their days as a
// job. The statement's own sweeper enqueues the proof of the period that a day waits for.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { Database } from '../database.service.js';
import { OnJob } from '../platform/job-methods.js';
import { JobQueue } from '../platform/job-queue.js';
import type { JobPayload } from '../queues.js';
import { listReady } from './day-closes.queries.js';
import { DayClosing } from './day-closing.service.js';

@Injectable()
export class DayCloseSweeper {
  constructor(
    private readonly database: Database,
    private readonly jobQueue: JobQueue,
    private readonly accounts: AccountsService,
    private readonly closing: DayClosing,
  ) {}

  async enqueueWaiting(): Promise<void> {
    for (const account of await listReady(this.database.prisma))
      await this.jobQueue.enqueue('closeDays', account);
  }

  @OnJob('closeDays')
  async closeDays({ accountId }: JobPayload<'closeDays'>): Promise<void> {
    await this.closing.close(await this.accounts.get(accountId));
  }
}
