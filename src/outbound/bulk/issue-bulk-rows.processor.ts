// Works the queue `issue-bulk-rows`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { BulkService } from './bulk.service.js';

@Processor(jobs.issueBulkRows.name, workerOptions(jobs.issueBulkRows))
export class IssueBulkRowsProcessor extends WorkerHost {
  constructor(private readonly bulk: BulkService) {
    super();
  }

  async process({ data }: Job<JobPayload<'issueBulkRows'>>): Promise<void> {
    await this.bulk.issueNextRows(data);
  }
}
