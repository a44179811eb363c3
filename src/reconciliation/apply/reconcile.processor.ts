// Works the queue `reconcile`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { ReconciliationService } from './reconciliation.service.js';

@Processor(jobs.reconcile.name, workerOptions(jobs.reconcile))
export class ReconcileProcessor extends WorkerHost {
  constructor(private readonly reconciliation: ReconciliationService) {
    super();
  }

  async process({ data }: Job<JobPayload<'reconcile'>>): Promise<void> {
    await this.reconciliation.reconcile(data);
  }
}
