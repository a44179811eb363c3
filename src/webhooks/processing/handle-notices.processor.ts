// Works the queue `handle-notices`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { Notices } from './notices.service.js';

@Processor(jobs.handleNotices.name, workerOptions(jobs.handleNotices))
export class HandleNoticesProcessor extends WorkerHost {
  constructor(private readonly notices: Notices) {
    super();
  }

  async process({ data }: Job<JobPayload<'handleNotices'>>): Promise<void> {
    await this.notices.handle(data);
  }
}
