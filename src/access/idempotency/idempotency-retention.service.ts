// Deletes the stored responses of idempotency records IDEMPOTENCY_RETENTION_DAYS after their
// requests. The records stay: a repeat is then refused, and never done again.
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/config.js';
import { Database } from '../../platform/postgres/database.service.js';
import { deleteInBatches } from '../../platform/postgres/retention.js';
import { Every } from '../../platform/queue/timers.js';
import { deleteOldResponses } from './idempotency.queries.js';

@Injectable()
export class IdempotencyRetention {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  @Every('idempotency-retention', 60)
  async deleteOldResponses(): Promise<void> {
    await deleteInBatches(this.settings.retention.idempotencyDays, (days, limit) =>
      deleteOldResponses(this.database.prisma, days, limit),
    );
  }
}
