// Adjusts each account's sync interval to how reliably webhooks reported the lines of the last
// hour.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { Settings } from '../config.js';
import { Every } from '../platform/timer-methods.js';
import { SyncSchedule } from '../statement/sync-schedule.service.js';
import { syncIntervalFor } from './sync-interval.js';
import { WebhookHealth } from './webhook-health.service.js';

@Injectable()
export class SyncIntervalAdjuster {
  constructor(
    private readonly accounts: AccountsService,
    private readonly health: WebhookHealth,
    private readonly syncSchedule: SyncSchedule,
    private readonly settings: Settings,
  ) {}

  @Every('sync-intervals', 60_000)
  async adjust(): Promise<void> {
    for (const { id } of await this.accounts.list()) {
      const lines = await this.health.listRecentLines(id);
      await this.syncSchedule.setInterval(id, syncIntervalFor(lines, this.settings.syncIntervalMs));
    }
  }
}
