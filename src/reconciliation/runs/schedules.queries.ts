// SQL of run schedules. `next_run_at` is bank time.
import type { Db, Tx } from '../../database.service.js';
import type { ReconciliationSchedule } from '../../generated/service/client.js';

export type Schedule = Omit<ReconciliationSchedule, 'updatedAt'>;

/** Accounts that have no schedule yet. */
export async function listAccountsWithoutSchedule(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    WHERE NOT EXISTS (SELECT 1 FROM reconciliation_schedule s WHERE s.account_id = a.id)`;
}

export async function writeSchedule(db: Db, schedule: Schedule): Promise<void> {
  const { accountId, cron, timezone, nextRunAt } = schedule;
  await db.$executeRaw`
    INSERT INTO reconciliation_schedule (account_id, cron, timezone, next_run_at)
    VALUES (${accountId}, ${cron}, ${timezone}, ${nextRunAt})
    ON CONFLICT (account_id) DO UPDATE
    SET cron = EXCLUDED.cron, timezone = EXCLUDED.timezone, next_run_at = EXCLUDED.next_run_at,
        updated_at = now()`;
}

/** Accounts whose next run is due in bank time. */
export async function listDueSchedules(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT s.account_id FROM reconciliation_schedule s
    LEFT JOIN statement_state t ON t.account_id = s.account_id
    WHERE s.next_run_at IS NOT NULL
      AND s.next_run_at
        <= clock_timestamp() + COALESCE(t.clock_offset_ms, 0) * interval '1 millisecond'`;
}

/** Locks the schedule for the transaction, so that each due time begins one run. */
export async function lockSchedule(tx: Tx, accountId: number): Promise<Schedule | null> {
  const [found] = await tx.$queryRaw<Schedule[]>`
    SELECT account_id, cron, timezone, next_run_at
    FROM reconciliation_schedule WHERE account_id = ${accountId} FOR NO KEY UPDATE`;
  return found ?? null;
}
