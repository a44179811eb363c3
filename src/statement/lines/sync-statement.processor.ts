// Works the queue `sync-statement`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { PacedSync } from './paced-sync.service.js';

@Processor(jobs.syncStatement.name, workerOptions(jobs.syncStatement))
export class SyncStatementProcessor extends WorkerHost {
  constructor(private readonly statementSync: PacedSync) {
    super();
  }

  async process({ data }: Job<JobPayload<'syncStatement'>>): Promise<void> {
    await this.statementSync.sync(data);
  }
}
