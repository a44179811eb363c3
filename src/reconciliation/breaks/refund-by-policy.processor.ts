// Works the queue `refund-by-policy`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { RefundPolicies } from './refund-policies.service.js';

@Processor(jobs.refundByPolicy.name, workerOptions(jobs.refundByPolicy))
export class RefundByPolicyProcessor extends WorkerHost {
  constructor(private readonly refundPolicies: RefundPolicies) {
    super();
  }

  async process({ data }: Job<JobPayload<'refundByPolicy'>>): Promise<void> {
    await this.refundPolicies.apply(data);
  }
}
