// Follows the kept webhooks until a poll has answered them, and looks again for those whose movement the
// statement does not show yet.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { OnJob } from '../platform/job-methods.js';
import { JobQueue } from '../platform/job-queue.js';
import type { JobPayload } from '../queues.js';
import { listWaiting, settleAnswered } from './webhooks.queries.js';

/** How long after each poll that did not show it a webhook's movement is looked for again. */
const pausesMs = [1_000, 2_000, 5_000, 15_000, 60_000] as const;

@Injectable()
export class WebhooksService {
  constructor(
    private readonly database: Database,
    private readonly jobQueue: JobQueue,
  ) {}

  @OnJob('settleWebhooks')
  async settle({ accountId }: JobPayload<'settleWebhooks'>): Promise<void> {
    const { pauseMs } = await settleAnswered(this.database.prisma, accountId, pausesMs);
    if (pauseMs !== null)
      await this.jobQueue.enqueue('syncStatement', { accountId }, { delayMs: pauseMs });
  }

  /** Wakes the poll for webhooks whose wake-up was lost with the queue. */
  async enqueueWaiting(): Promise<void> {
    for (const { accountId } of await listWaiting(this.database.prisma))
      await this.jobQueue.enqueue('syncStatement', { accountId });
  }
}
