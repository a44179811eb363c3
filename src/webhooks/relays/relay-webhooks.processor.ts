// Works the queue `relay-webhooks`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { RelayDeliveries } from './relay-deliveries.service.js';

@Processor(jobs.relayWebhooks.name, workerOptions(jobs.relayWebhooks))
export class RelayWebhooksProcessor extends WorkerHost {
  constructor(private readonly relayDeliveries: RelayDeliveries) {
    super();
  }

  async process({ data }: Job<JobPayload<'relayWebhooks'>>): Promise<void> {
    await this.relayDeliveries.deliverDue(data);
  }
}
