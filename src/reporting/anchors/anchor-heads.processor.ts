// Works the queue `anchor-heads`.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { jobs, workerOptions, type JobPayload } from '../../platform/queue/queues.js';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { HeadAnchors } from './head-anchors.service.js';

@Processor(jobs.anchorHeads.name, workerOptions(jobs.anchorHeads))
export class AnchorHeadsProcessor extends WorkerHost {
  constructor(
    private readonly accounts: AccountsService,
    private readonly anchors: HeadAnchors,
  ) {
    super();
  }

  async process({ data }: Job<JobPayload<'anchorHeads'>>): Promise<void> {
    await this.anchors.anchor(await this.accounts.get(data.accountId));
  }
}
