// Works the queue `close-statement`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { StatementClosing } from './statement-closing.service.js';

@Processor(jobs.closeStatement.name, workerOptions(jobs.closeStatement))
export class CloseStatementProcessor extends WorkerHost {
  constructor(private readonly statementClosing: StatementClosing) {
    super();
  }

  async process({ data }: Job<JobPayload<'closeStatement'>>): Promise<void> {
    await this.statementClosing.close(data);
  }
}
