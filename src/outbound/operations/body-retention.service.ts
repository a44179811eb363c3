// Deletes requests, and the personal data in the bank's responses, once their operation ended more
// than REQUEST_RETENTION_DAYS ago. The response to an operation that did not succeed has no other
// use than a repeat, and its messages may quote the request: nothing of it stays.
import { Injectable } from '@nestjs/common';
import { withoutPersonalData } from '../../access/counterparties/masked-response.js';
import { Settings } from '../../platform/settings/config.js';
import { Database } from '../../platform/postgres/database.service.js';
import { deleteMetadata } from '../../statement/expected-payments/metadata.queries.js';
import { deleteInBatches } from '../../platform/postgres/retention.js';
import { Every } from '../../platform/queue/timers.js';
import { deleteBodies, lockOldOperations, type OldOperation } from './body-retention.queries.js';

@Injectable()
export class BodyRetention {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  @Every('request-retention', 60)
  async deleteOldBodies(): Promise<void> {
    await deleteInBatches(this.settings.retention.requestDays, (days, limit) =>
      this.database.transaction(async (tx) => {
        const old = await lockOldOperations(tx, days, limit);
        if (old.length > 0) {
          await deleteBodies(tx, old.map(withRetainedResponse));
          await deleteMetadata(tx, old);
        }
        return old.length;
      }),
    );
  }
}

function withRetainedResponse(operation: OldOperation): OldOperation {
  const { state, responseBody } = operation;
  const isRead = state === 'succeeded' && responseBody !== null;
  return { ...operation, responseBody: isRead ? withoutPersonalData(responseBody) : null };
}
