// Wakes whoever is to act on what a person has done, once it is committed.
import { Injectable } from '@nestjs/common';
import { EventsService } from '../../events/events.service.js';
import { WakeUps } from '../../platform/wake-ups.js';

@Injectable()
export class HandAnnouncements {
  constructor(
    private readonly events: EventsService,
    private readonly wakeUps: WakeUps,
  ) {}

  async announce(accountId: number, operationIds: string[]): Promise<void> {
    await this.events.announce(accountId);
    await this.wakeUps.wake('reconcile', { accountId });
    for (const operationId of operationIds)
      await this.wakeUps.wake('advanceOperation', { accountId, operationId });
  }
}
