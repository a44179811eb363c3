// Reads how far behind the bank the statements of all accounts are, for the metrics.
import type { Db } from '../../platform/postgres/database.service.js';
import { notGuardedSince, syncIntervalOf } from './sync-interval.queries.js';

export interface SyncLag {
  live: number;
  stopped: number;
  reconcileOnly: number;
  /** Accounts whose last complete sync is too many of their sync intervals ago. */
  behind: number;
  /** Guarded accounts whose last read is more than three intervals of their guard ago. */
  notGuarded: number;
  /** Since the last complete sync of the account that was not synced for the longest time. */
  oldestSeconds: number;
  /** The accounts whose key the bank refuses. */
  keyRefused: string[];
}

/** Reads one row for each account, and no line. */
export async function readSyncLag(
  db: Db,
  { intervals, configuredMs }: { intervals: number; configuredMs: number },
): Promise<SyncLag | null> {
  const [lag] = await db.$queryRaw<SyncLag[]>`
    SELECT (count(*) FILTER (WHERE mode = 'live'))::int AS live,
           (count(*) FILTER (WHERE mode = 'stopped'))::int AS stopped,
           (count(*) FILTER (WHERE mode = 'reconcile_only'))::int AS "reconcileOnly",
           (count(*) FILTER (WHERE age > due))::int AS behind,
           count(unguarded)::int AS "notGuarded",
           COALESCE(extract(epoch FROM max(age)), 0)::float8 AS "oldestSeconds",
           COALESCE(array_agg(refused ORDER BY refused) FILTER (WHERE refused IS NOT NULL), '{}')
             AS "keyRefused"
    FROM (
      SELECT a.mode, CASE s.read_failure WHEN 'key_refused' THEN a.slug END AS refused,
             clock_timestamp() - COALESCE(s.synced_at, a.created_at) AS age,
             ${intervals} * ${syncIntervalOf(configuredMs)} * interval '1 millisecond' AS due,
             ${notGuardedSince} AS unguarded
      FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id
    ) account`;
  return lag ?? null;
}
