// How the connections of an account stand: what waits, since when, and when something came last.
import { notGuardedSince } from '../../statement/lines/sync-interval.queries.js';
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';

export interface WaitingRows {
  kind: 'webhooks pending' | 'webhooks quarantined' | 'deliveries pending' | 'deliveries dead';
  count: bigint;
  /** Of the oldest. */
  since: Date;
}

export async function countWaiting(db: Db, accountId: number): Promise<WaitingRows[]> {
  const account = opaqueAccountId(accountId);
  return db.$queryRaw<WaitingRows[]>`
    SELECT 'webhooks ' || state AS kind, count(*) AS count, min(received_at) AS since
    FROM webhook_event
    WHERE account_id = ${account} AND (state = 'pending' OR state = 'quarantined') GROUP BY state
    UNION ALL
    SELECT 'deliveries ' || state, count(*), min(created_at)
    FROM delivery WHERE account_id = ${account} AND state = 'pending' GROUP BY state
    UNION ALL
    SELECT 'deliveries ' || state, count(*), min(created_at)
    FROM delivery WHERE account_id = ${account} AND state = 'dead' GROUP BY state`;
}

/** Null where none came yet. */
export async function readLastWebhook(db: Db, accountId: number): Promise<Date | null> {
  const account = opaqueAccountId(accountId);
  const [row] = await db.$queryRaw<{ at: Date | null }[]>`
    SELECT GREATEST(
      (SELECT max(received_at) FROM webhook_event
       WHERE account_id = ${account} AND state = 'processed'),
      (SELECT max(received_at) FROM webhook_event
       WHERE account_id = ${account} AND (state = 'pending' OR state = 'quarantined'))) AS at`;
  return row?.at ?? null;
}

export interface AccountSync {
  slug: string;
  name: string | null;
  mode: string;
  syncedAt: Date | null;
  lastNsu: bigint | null;
  isComplete: boolean;
  /** Null where it is guarded, or need not be. */
  notGuardedSince: Date | null;
}

/** In the order of their names. */
export async function listSyncs(db: Db, slugs: readonly string[]): Promise<AccountSync[]> {
  return db.$queryRaw<AccountSync[]>`
    SELECT a.slug, a.name, a.mode::text AS mode, s.synced_at, s.last_nsu,
           ${notGuardedSince} AS "notGuardedSince",
           s.synced_at IS NOT NULL AND s.first_gap_nsu IS NULL AS "isComplete"
    FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id
    WHERE a.slug = ANY (${[...slugs]}::text[])
    ORDER BY COALESCE(a.name, a.slug), a.slug`;
}
