// What the page of an account shows of its statement: one row.
import type { SqlTx } from '../../database.service.js';

export interface StatementTimes {
  closedUntil: Date | null;
  syncedAt: Date | null;
}

/** Null before the first sync. */
export async function findStatementTimes(
  db: SqlTx,
  accountId: number,
): Promise<StatementTimes | null> {
  const [found] = await db.$queryRaw<StatementTimes[]>`
    SELECT closed_until, synced_at FROM statement_state WHERE account_id = ${accountId}`;
  return found ?? null;
}
