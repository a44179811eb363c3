// Reads the open alerts and the messages that were not sent, of all accounts, for the metrics.
import type { Db } from '../../platform/postgres/database.service.js';
import { maxCounted } from '../../platform/metrics/instruments.js';

export interface AlertCounts {
  firing: number;
  acknowledged: number;
  pending: number;
  dead: number;
}

export async function countAlerts(db: Db): Promise<AlertCounts | null> {
  const [counted] = await db.$queryRaw<AlertCounts[]>`
    SELECT alerts.firing, alerts.acknowledged, pending.messages AS pending, dead.messages AS dead
    FROM (
      SELECT (count(*) FILTER (WHERE state = 'firing'))::int AS firing,
             (count(*) FILTER (WHERE state = 'acknowledged'))::int AS acknowledged
      FROM (SELECT state FROM alert WHERE state <> 'cleared' LIMIT ${maxCounted}) counted
    ) alerts, (
      SELECT count(*)::int AS messages FROM (
        SELECT FROM alert_notification WHERE state = 'pending' LIMIT ${maxCounted}
      ) counted
    ) pending, (
      SELECT count(*)::int AS messages FROM (
        SELECT FROM alert_notification WHERE state = 'dead' LIMIT ${maxCounted}
      ) counted
    ) dead`;
  return counted ?? null;
}
