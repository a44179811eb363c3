// Works the queue `check-charge-statuses`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { ChargeStatusChecks } from './charge-status.service.js';

@Processor(jobs.checkChargeStatuses.name, workerOptions(jobs.checkChargeStatuses))
export class CheckChargeStatusesProcessor extends WorkerHost {
  constructor(private readonly chargeStatusChecks: ChargeStatusChecks) {
    super();
  }

  async process({ data }: Job<JobPayload<'checkChargeStatuses'>>): Promise<void> {
    await this.chargeStatusChecks.checkDueCharges(data);
  }
}
