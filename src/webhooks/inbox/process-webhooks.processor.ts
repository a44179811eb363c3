// Works the queue `process-webhooks`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { WebhookInbox } from './webhook-inbox.service.js';

@Processor(jobs.processWebhooks.name, workerOptions(jobs.processWebhooks))
export class ProcessWebhooksProcessor extends WorkerHost {
  constructor(private readonly webhookInbox: WebhookInbox) {
    super();
  }

  async process({ data }: Job<JobPayload<'processWebhooks'>>): Promise<void> {
    await this.webhookInbox.process(data);
  }
}
