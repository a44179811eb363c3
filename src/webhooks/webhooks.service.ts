// Marks stored webhooks as processed once a sync that began after their receipt has completed.
// While the statement does not show a webhook's reference, the sync is repeated a few times.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { OnJob } from '../platform/job-methods.js';
import { JobQueue } from '../platform/job-queue.js';
import { Every } from '../platform/timer-methods.js';
import type { JobPayload } from '../queues.js';
import { listAccountsWithPendingWebhooks, processSyncedWebhooks } from './webhooks.queries.js';

/** The delays after which a sync is repeated while it does not show a webhook's reference. */
const repeatDelaysMs = [1_000, 2_000, 5_000, 15_000, 60_000] as const;

@Injectable()
export class WebhooksService {
  constructor(
    private readonly database: Database,
    private readonly jobQueue: JobQueue,
  ) {}

  @OnJob('processWebhooks')
  async process({ accountId }: JobPayload<'processWebhooks'>): Promise<void> {
    const { nextSyncInMs } = await processSyncedWebhooks(
      this.database.prisma,
      accountId,
      repeatDelaysMs,
    );
    if (nextSyncInMs !== null)
      await this.jobQueue.enqueue('syncStatement', { accountId }, { delayMs: nextSyncInMs });
  }

  /** Enqueues syncs again for pending webhooks whose job the queue lost. */
  @Every('webhooks', 1_000)
  async enqueueSyncs(): Promise<void> {
    for (const { accountId } of await listAccountsWithPendingWebhooks(this.database.prisma))
      await this.jobQueue.enqueue('syncStatement', { accountId });
  }
}
