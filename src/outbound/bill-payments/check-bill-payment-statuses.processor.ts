// Works the queue `check-bill-payment-statuses`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { BillPaymentLifecycle } from './bill-payment-lifecycle.service.js';

@Processor(jobs.checkBillPaymentStatuses.name, workerOptions(jobs.checkBillPaymentStatuses))
export class CheckBillPaymentStatusesProcessor extends WorkerHost {
  constructor(private readonly billPaymentLifecycle: BillPaymentLifecycle) {
    super();
  }

  async process({ data }: Job<JobPayload<'checkBillPaymentStatuses'>>): Promise<void> {
    await this.billPaymentLifecycle.check(data);
  }
}
