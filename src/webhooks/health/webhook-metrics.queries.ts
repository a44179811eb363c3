// Reads the webhooks that are not processed, of all accounts, for the metrics.
import type { Db } from '../../platform/postgres/database.service.js';
import { maxCounted } from '../../platform/metrics/instruments.js';

export interface UnprocessedWebhooks {
  pending: number;
  quarantined: number;
  oldestPendingSeconds: number;
}

export async function readUnprocessedWebhooks(db: Db): Promise<UnprocessedWebhooks | null> {
  const [unprocessed] = await db.$queryRaw<UnprocessedWebhooks[]>`
    SELECT pending.webhooks AS pending, quarantined.webhooks AS quarantined,
           pending.age AS "oldestPendingSeconds"
    FROM (
      SELECT count(*)::int AS webhooks,
             COALESCE(extract(epoch FROM clock_timestamp() - min(received_at)), 0)::float8 AS age
      FROM (
        SELECT received_at FROM webhook_event WHERE state = 'pending' LIMIT ${maxCounted}
      ) counted
    ) pending, (
      SELECT count(*)::int AS webhooks FROM (
        SELECT FROM webhook_event WHERE state = 'quarantined' LIMIT ${maxCounted}
      ) counted
    ) quarantined`;
  return unprocessed ?? null;
}
