// Finds the accounts that have a day to certify or a certificate to amend, and enqueues the job
// that closes their days. The statement module's sweeper closes the period that a day waits for.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs } from '../../platform/queue/queues.js';
import { listAccountsWithDaysToClose } from './day-closes.queries.js';

@Injectable()
export class DayCloseSweeper {
  constructor(
    private readonly database: Database,
    @InjectQueue(jobs.closeDays.name) private readonly closeDaysQueue: JobQueue<'closeDays'>,
  ) {}

  @Every('day closes', 5)
  async enqueueReadyAccounts(): Promise<void> {
    for (const account of await listAccountsWithDaysToClose(this.database.prisma))
      await this.closeDaysQueue.enqueue(account);
  }
}
