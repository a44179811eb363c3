// Sets how often each account's statement is polled by how well the bank's webhooks have told of it lately.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { Settings } from '../config.js';
import { Cadence } from '../statement/cadence.service.js';
import { cadenceMs } from './cadence.js';
import { WebhookHealth } from './webhook-health.service.js';

@Injectable()
export class SyncCadence {
  constructor(
    private readonly accounts: AccountsService,
    private readonly health: WebhookHealth,
    private readonly cadence: Cadence,
    private readonly settings: Settings,
  ) {}

  async adapt(): Promise<void> {
    for (const { id } of await this.accounts.list()) {
      const lines = await this.health.recent(id);
      await this.cadence.set(id, cadenceMs(lines, this.settings.syncIntervalMs));
    }
  }
}
