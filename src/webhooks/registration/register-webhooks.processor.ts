// Works the queue `register-webhooks`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { WebhookRegistrar } from './webhook-registrar.service.js';

@Processor(jobs.registerWebhooks.name, workerOptions(jobs.registerWebhooks))
export class RegisterWebhooksProcessor extends WorkerHost {
  constructor(private readonly webhookRegistrar: WebhookRegistrar) {
    super();
  }

  async process({ data }: Job<JobPayload<'registerWebhooks'>>): Promise<void> {
    await this.webhookRegistrar.register(data);
  }
}
