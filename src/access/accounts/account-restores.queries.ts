// Records that the database was set back to an earlier time, for each account, and since when the
// bank may have executed operations that the database does not have. A restore is over when the
// account is live again.
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import { Prisma, type AccountRestore } from '../../generated/service/client.js';

/** How long a transaction may last that has not committed, and how far the clocks may disagree. */
const marginMs = 120_000;

/** A sync stores its last lines with its end. */
const syncMarginMs = 1_000;

/**
 * Records a restore. The last sync that is stored began before the moment that the database was set
 * back to: what is older is stored, what is newer may be lost.
 */
export async function insertRestore(
  tx: Tx,
  accountId: number,
  formerMode: AccountRestore['formerMode'],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO account_restore (account_id, lost_from, former_mode)
    SELECT b.id, COALESCE(s.last_sync_started_at, b.created_at)
        + (COALESCE(s.clock_offset_ms, 0) - ${marginMs}) * interval '1 millisecond',
      ${formerMode}::account_mode
    FROM bank_account b LEFT JOIN statement_state s ON s.account_id = b.id
    WHERE b.id = ${accountId}`;
}

/** When an account became live after a restore (r), by PostgreSQL's clock; null until then. */
const releasedAt = Prisma.sql`(
  SELECT min(c.created_at) FROM account_mode_change c
  WHERE c.account_id = r.account_id AND c.mode = 'live' AND c.created_at > r.restored_at)`;

/**
 * A query of the restores of an account that are not over, as one row; no row when there is none.
 * The times are the widest; the mode is that before the first.
 */
export const ongoingRestore = (accountId: Prisma.Sql) => Prisma.sql`
  SELECT max(r.restored_at) AS restored_at, min(r.lost_from) AS lost_from,
         (array_agg(r.former_mode ORDER BY r.restored_at))[1] AS former_mode
  FROM account_restore r WHERE r.account_id = ${accountId} AND ${releasedAt} IS NULL
  HAVING count(*) > 0`;

/** A period of the bank's time whose operations may be lost. */
export interface LostPeriod {
  lostFrom: Date;
  /** When the account was released; null while it is not. */
  lostUntil: Date | null;
}

/** What was lost in the last `days` days, as one period. Null when nothing was. */
export async function findLostPeriod(
  db: Db,
  accountId: number,
  days: number,
): Promise<LostPeriod | null> {
  const [lost] = await db.$queryRaw<LostPeriod[]>`
    SELECT min(r.lost_from) AS "lostFrom",
           CASE WHEN bool_and(${releasedAt} IS NOT NULL) THEN max(${releasedAt})
             + COALESCE(max(s.clock_offset_max_ms), 0) * interval '1 millisecond' END AS "lostUntil"
    FROM account_restore r LEFT JOIN statement_state s ON s.account_id = r.account_id
    WHERE r.account_id = ${accountId}
      AND r.restored_at > clock_timestamp() - ${days} * interval '1 day'
    HAVING count(*) > 0`;
  return lost ?? null;
}

/**
 * When another system may have sent money from an account (b), as JSON: the periods in which it was
 * reconcile-only, and those from a restore until the account was live again.
 */
export const periodsOfOthers = Prisma.sql`(
  WITH change AS (
    SELECT sequence, former_mode, mode, bank_time, created_at FROM account_mode_change
    WHERE account_id = b.id AND former_mode <> mode
  )
  SELECT COALESCE(json_agg(json_build_object('recordedFrom', "from", 'recordedUntil', until,
    'occurredUntil', bank_until)), '[]')
  FROM (
    SELECT former_mode AS mode, lag(created_at) OVER (ORDER BY sequence) AS "from",
           created_at AS until, bank_time AS bank_until
    FROM change
    UNION ALL
    SELECT b.mode, (SELECT max(created_at) FROM change), NULL, NULL
    UNION ALL
    SELECT 'reconcile_only', r.restored_at, release.created_at, release.bank_time
    FROM account_restore r
    LEFT JOIN LATERAL (
      SELECT created_at, bank_time FROM change
      WHERE mode = 'live' AND created_at > r.restored_at ORDER BY sequence LIMIT 1
    ) release ON true
    WHERE r.account_id = b.id
  ) period WHERE mode = 'reconcile_only')`;

/** The ends of the history that the first sync of an account (b) imports, as JSON. */
export const importOfHistory = Prisma.sql`(
  SELECT json_build_object(
    'recordedUntil', max(first_synced_at) + ${syncMarginMs} * interval '1 millisecond',
    'occurredUntil',
    b.created_at + COALESCE(max(first_clock_offset_ms), 0) * interval '1 millisecond')
  FROM statement_state WHERE account_id = b.id)`;
