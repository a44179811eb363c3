// SQL of runs: at most one running for each account, counts of what changed during a run, and the
// schedules that are due. `next_run_at` is bank time.
import type { Tx, Reader } from '../../platform/postgres/database.service.js';
import {
  Prisma,
  type ReconciliationRun,
  type ReconciliationSchedule,
} from '../../generated/service/client.js';
import type { JobPayload } from '../../platform/queue/queues.js';
import type { RunCounts } from './runs.schema.js';
import { newId } from '../../platform/ids.js';

type RunKey = JobPayload<'runReconciliation'>;

/** Begins a run from the end of the last finished one, or returns the id of the running one. */
export async function beginRun(
  tx: Tx,
  accountId: number,
  trigger: 'request' | 'schedule',
  requestedBy: string | null,
): Promise<string> {
  const [begun] = await tx.$queryRaw<{ id: string }[]>`
    INSERT INTO reconciliation_run
      (account_id, id, trigger, state, requested_by, window_from, after_arrival, started_at)
    SELECT ${accountId}, ${newId()}::uuid, ${trigger}, 'running', ${requestedBy},
           ${windowFrom(accountId)},
           COALESCE((SELECT max(arrival) FROM statement_line WHERE account_id = ${accountId}), 0),
           clock_timestamp()
    ON CONFLICT (account_id) WHERE state = 'running' DO UPDATE SET state = 'running'
    RETURNING id`;
  return begun?.id ?? '';
}

/** The end of the last finished run, or the first line. */
const windowFrom = (accountId: number) => Prisma.sql`COALESCE(
  (SELECT max(window_until) FROM reconciliation_run
   WHERE account_id = ${accountId} AND state = 'finished'),
  (SELECT min(occurred_at) FROM statement_line WHERE account_id = ${accountId}))`;

/**
 * A time since the run (r) began. Of a range with two ends, one of which it does not know, the
 * planner expects few rows, and reads them by their index.
 */
const sinceBegin = Prisma.sql`BETWEEN r.started_at AND 'infinity'`;
/** Lines (t) that arrived after this one. */
const arrivedAfter = (arrival: Prisma.Sql) =>
  Prisma.sql`t.arrival BETWEEN ${arrival} + 1 AND 9223372036854775807`;

/** What changed since the run began. */
export async function countChanges(tx: Tx, { accountId, runId }: RunKey): Promise<RunCounts> {
  const [row] = await tx.$queryRaw<Record<keyof RunCounts, bigint>[]>`
    SELECT
      (SELECT count(*) FROM statement_line t
       WHERE t.account_id = r.account_id
         AND ${arrivedAfter(Prisma.sql`r.after_arrival`)}) AS "newLines",
      (SELECT count(DISTINCT nsu) FROM match m
       WHERE m.account_id = r.account_id AND m.created_at ${sinceBegin}
         AND m.unlinked_at IS NULL) AS matched,
      (SELECT count(*) FROM classification c
       WHERE c.account_id = r.account_id AND c.created_at ${sinceBegin}) AS classified,
      (SELECT count(*) FROM match m
       WHERE m.account_id = r.account_id AND m.unlinked_at ${sinceBegin}) AS unlinked,
      breaks.*,
      (SELECT count(*) FROM statement_line t
       WHERE t.account_id = r.account_id
         AND ${arrivedAfter(Prisma.sql`COALESCE(s.decided_arrival, 0)`)})
        + COALESCE((SELECT value FROM account_counter c
           WHERE c.account_id = r.account_id AND c.kind = 'lines' AND c.key = 'pending'), 0)
        AS pending
    FROM reconciliation_run r
    LEFT JOIN reconciliation_state s ON s.account_id = r.account_id
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE e.action IN ('opened', 'reopened')) AS "breaksOpened",
             count(*) FILTER (WHERE e.action = 'resolved') AS "breaksResolved",
             count(*) FILTER (
               WHERE e.action IN ('opened', 'reopened') AND b.kind = 'missing') AS missing
      FROM break_history_entry e
      JOIN break b ON b.account_id = e.account_id AND b.id = e.break_id
      WHERE e.account_id = r.account_id AND e.created_at ${sinceBegin}
    ) breaks
    WHERE r.account_id = ${accountId} AND r.id = ${runId}::uuid`;
  const counts = Object.entries(row ?? {}).map(([name, count]) => [name, Number(count)] as const);
  return Object.fromEntries(counts) as unknown as RunCounts;
}

/**
 * Ends a running run. Returns false if the run has already ended: then its event is already
 * recorded.
 */
export async function endRun(
  tx: Tx,
  { accountId, runId }: RunKey,
  counts: RunCounts,
  error: string | null,
): Promise<boolean> {
  const ended = await tx.$executeRaw`
    UPDATE reconciliation_run r
    SET state = ${error === null ? 'finished' : 'failed'},
        counts = ${JSON.stringify(counts)}::jsonb, error = ${error},
        window_from = COALESCE(r.window_from, ${windowFrom(accountId)}),
        window_until = CASE WHEN ${error === null} THEN
          (SELECT GREATEST(r.window_from,
             s.last_sync_started_at + s.clock_offset_ms * interval '1 millisecond')
           FROM statement_state s WHERE s.account_id = r.account_id) END,
        finished_at = clock_timestamp()
    WHERE r.account_id = ${accountId} AND r.id = ${runId}::uuid AND r.state = 'running'`;
  return ended === 1;
}

/** Runs that have not ended. */
export async function listRunning(
  db: Reader,
): Promise<Pick<ReconciliationRun, 'accountId' | 'id'>[]> {
  return db.$queryRaw`SELECT account_id, id FROM reconciliation_run WHERE state = 'running'`;
}

/** Accounts whose next run is due in bank time, and those that have no schedule yet. */
export async function listDueSchedules(
  db: Reader,
): Promise<{ accountId: number; hasSchedule: boolean }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId", s.account_id IS NOT NULL AS "hasSchedule" FROM bank_account a
    LEFT JOIN reconciliation_schedule s ON s.account_id = a.id
    LEFT JOIN statement_state t ON t.account_id = a.id
    WHERE s.account_id IS NULL OR s.next_run_at
      <= clock_timestamp() + COALESCE(t.clock_offset_ms, 0) * interval '1 millisecond'`;
}

/** Locks the schedule for the transaction, so that each due time begins one run. */
export async function lockSchedule(
  tx: Tx,
  accountId: number,
): Promise<ReconciliationSchedule | null> {
  const [found] = await tx.$queryRaw<ReconciliationSchedule[]>`
    SELECT account_id, cron, timezone, next_run_at
    FROM reconciliation_schedule WHERE account_id = ${accountId} FOR NO KEY UPDATE`;
  return found ?? null;
}
