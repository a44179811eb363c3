// Works the queue `deliver-events`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../platform/queue/queues.js';
import { DeliveryService } from './delivery.service.js';

@Processor(jobs.deliverEvents.name, workerOptions(jobs.deliverEvents))
export class DeliverEventsProcessor extends WorkerHost {
  constructor(private readonly delivery: DeliveryService) {
    super();
  }

  async process({ data }: Job<JobPayload<'deliverEvents'>>): Promise<void> {
    await this.delivery.deliverDue(data);
  }
}
