// How often the statement of an account is read, and since when the reads of a guarded account
// (payment controls) are too old to guard it.
import { Prisma } from '../../generated/service/client.js';
import type { Reader } from '../../platform/postgres/database.service.js';

/**
 * The interval of an account (a) with its statement_state (s), in milliseconds: its own, or the
 * configured one, and no longer than that of its guard.
 */
export const syncIntervalOf = (configuredMs: number): Prisma.Sql => Prisma.sql`LEAST(
  (SELECT guard_interval_seconds FROM payment_control WHERE account_id = a.id) * 1000,
  COALESCE(s.sync_interval_ms, ${configuredMs}))`;

/**
 * Since when a guarded account (a) with its statement_state (s) is not guarded: the last complete
 * read began more than three intervals ago. Null where it is, or need not be.
 */
export const notGuardedSince = Prisma.sql`(
  SELECT COALESCE(s.last_sync_started_at, a.created_at)
  FROM payment_control p
  WHERE p.account_id = a.id AND COALESCE(s.last_sync_started_at, a.created_at)
    < clock_timestamp() - 3 * p.guard_interval_seconds * interval '1 second')`;

export async function readNotGuardedSince(db: Reader, accountId: number): Promise<Date | null> {
  const [row] = await db.$queryRaw<{ since: Date | null }[]>`
    SELECT ${notGuardedSince} AS since
    FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id
    WHERE a.id = ${accountId}`;
  return row?.since ?? null;
}
