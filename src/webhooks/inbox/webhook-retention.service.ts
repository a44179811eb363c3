// Deletes the bytes of webhooks that were processed more than WEBHOOK_BODY_RETENTION_DAYS ago. The
// bytes of pending and quarantined webhooks stay: they may still have to be read. Deletes the ended
// deliveries of relayed webhooks by the same age.
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/config.js';
import { Database } from '../../platform/postgres/database.service.js';
import { deleteInBatches } from '../../platform/postgres/retention.js';
import { Every } from '../../platform/queue/timers.js';
import { deleteOldRelays } from '../relays/relays.queries.js';
import { deleteOldBodies } from '../processing/webhooks.queries.js';

@Injectable()
export class WebhookRetention {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  @Every('webhook-retention', 60)
  async deleteOldBodies(): Promise<void> {
    await deleteInBatches(this.settings.retention.webhookBodyDays, (days, limit) =>
      deleteOldBodies(this.database.prisma, days, limit),
    );
    await deleteInBatches(this.settings.retention.webhookBodyDays, (days, limit) =>
      deleteOldRelays(this.database.sql, days, limit),
    );
  }
}
