// Wakes whoever is to act on what a person has done, once it is committed.
import { Injectable } from '@nestjs/common';
import { EventsService } from '../../events/events.service.js';
import { JobQueue } from '../../platform/job-queue.js';

@Injectable()
export class ManualMatchAnnouncements {
  constructor(
    private readonly events: EventsService,
    private readonly jobQueue: JobQueue,
  ) {}

  async announce(accountId: number, operationIds: string[]): Promise<void> {
    await this.events.enqueueDeliveries(accountId);
    await this.jobQueue.enqueue('reconcile', { accountId });
    for (const operationId of operationIds)
      await this.jobQueue.enqueue('advanceOperation', { accountId, operationId });
  }
}
