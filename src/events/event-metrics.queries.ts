// Reads the deliveries that wait or have ended without success, of all accounts, for the metrics.
import type { Db } from '../platform/postgres/database.service.js';
import { maxCounted } from '../platform/metrics/instruments.js';

export interface UndeliveredEvents {
  pending: number;
  dead: number;
  oldestPendingSeconds: number;
}

export async function readUndelivered(db: Db): Promise<UndeliveredEvents | null> {
  const [undelivered] = await db.$queryRaw<UndeliveredEvents[]>`
    SELECT pending.deliveries AS pending, dead.deliveries AS dead,
           pending.age AS "oldestPendingSeconds"
    FROM (
      SELECT count(*)::int AS deliveries,
             COALESCE(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 AS age
      FROM (
        SELECT created_at FROM delivery WHERE state = 'pending' LIMIT ${maxCounted}
      ) counted
    ) pending, (
      SELECT count(*)::int AS deliveries FROM (
        SELECT FROM delivery WHERE state = 'dead' LIMIT ${maxCounted}
      ) counted
    ) dead`;
  return undelivered ?? null;
}
