// Works the queue `close-days`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { DayClosing } from './day-closing.service.js';

@Processor(jobs.closeDays.name, workerOptions(jobs.closeDays))
export class CloseDaysProcessor extends WorkerHost {
  constructor(
    private readonly accounts: AccountsService,
    private readonly closing: DayClosing,
  ) {
    super();
  }

  async process({ data }: Job<JobPayload<'closeDays'>>): Promise<void> {
    await this.closing.close(await this.accounts.get(data.accountId));
  }
}
