// Finds the accounts that have a day to certify or a certificate to amend, and closes their days in
// a job. The statement module's sweeper closes the period that a day waits for.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import { OnJob } from '../../platform/queue/job-methods.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timer-methods.js';
import type { JobPayload } from '../../platform/queue/queues.js';
import { listAccountsWithDaysToClose } from './day-closes.queries.js';
import { DayClosing } from './day-closing.service.js';

@Injectable()
export class DayCloseSweeper {
  constructor(
    private readonly database: Database,
    private readonly jobQueue: JobQueue,
    private readonly accounts: AccountsService,
    private readonly closing: DayClosing,
  ) {}

  @Every('day closes', 5_000)
  async enqueueReadyAccounts(): Promise<void> {
    for (const account of await listAccountsWithDaysToClose(this.database.sharedReads))
      await this.jobQueue.enqueue('closeDays', account);
  }

  @OnJob('closeDays')
  async closeDays({ accountId }: JobPayload<'closeDays'>): Promise<void> {
    await this.closing.close(await this.accounts.get(accountId));
  }
}
