// Finds the accounts whose last head is not anchored, and enqueues the job that does it.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs } from '../../platform/queue/queues.js';
import { listAccountsToAnchor } from './anchors.queries.js';
import { HeadAnchors } from './head-anchors.service.js';

@Injectable()
export class AnchorSweeper {
  constructor(
    private readonly database: Database,
    private readonly anchors: HeadAnchors,
    @InjectQueue(jobs.anchorHeads.name) private readonly queue: JobQueue<'anchorHeads'>,
  ) {}

  @Every('head anchors', 10)
  async enqueueAccounts(): Promise<void> {
    const { kinds } = this.anchors;
    if (kinds.length === 0) return;
    for (const account of await listAccountsToAnchor(this.database.prisma, kinds))
      await this.queue.enqueue(account);
  }
}
