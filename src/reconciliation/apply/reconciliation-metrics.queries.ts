// Reads how long what is due waits, of all accounts, for the metrics.
import type { Db } from '../../platform/postgres/database.service.js';

/** How long the oldest line or task that is not decided waits; 0 if there is none. */
export async function readReconciliationLag(db: Db): Promise<number> {
  const [lag] = await db.$queryRaw<{ seconds: number }[]>`
    SELECT COALESCE(extract(epoch FROM clock_timestamp() - min(LEAST(task.since, line.since))), 0)
             ::float8 AS seconds
    FROM bank_account a
    LEFT JOIN reconciliation_state r ON r.account_id = a.id
    LEFT JOIN LATERAL (
      SELECT due_at AS since FROM reconciliation_task
      WHERE account_id = a.id AND due_at <= (SELECT clock_timestamp())
      ORDER BY due_at LIMIT 1
    ) task ON true
    LEFT JOIN LATERAL (
      SELECT recorded_at AS since FROM statement_line
      WHERE account_id = a.id AND arrival > COALESCE(r.decided_arrival, 0)
      ORDER BY arrival LIMIT 1
    ) line ON true`;
  return lag?.seconds ?? 0;
}
