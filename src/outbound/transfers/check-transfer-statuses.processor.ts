// Works the queue `check-transfer-statuses`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { TransferStatusChecks } from './transfer-status-checks.service.js';

@Processor(jobs.checkTransferStatuses.name, workerOptions(jobs.checkTransferStatuses))
export class CheckTransferStatusesProcessor extends WorkerHost {
  constructor(private readonly transferStatusChecks: TransferStatusChecks) {
    super();
  }

  async process({ data }: Job<JobPayload<'checkTransferStatuses'>>): Promise<void> {
    await this.transferStatusChecks.check(data);
  }
}
