// Works the queue `run-reconciliation`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { RunsService } from './runs.service.js';

@Processor(jobs.runReconciliation.name, workerOptions(jobs.runReconciliation))
export class RunReconciliationProcessor extends WorkerHost {
  constructor(private readonly runs: RunsService) {
    super();
  }

  async process({ data }: Job<JobPayload<'runReconciliation'>>): Promise<void> {
    await this.runs.perform(data);
  }
}
