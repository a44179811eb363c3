// How far the statement of an account was read and closed: its one row.
import type { SqlTx } from '../../database.service.js';

export interface StatementReading {
  lineCount: bigint;
  /** Whether the history was read to its beginning. */
  isAnchored: boolean;
  importStartedAt: Date | null;
  /** Null for the interval of the settings. */
  syncIntervalMs: number | null;
  syncedAt: Date | null;
  closedFrom: Date | null;
  closedUntil: Date | null;
  closingFailures: number;
  closingNextAt: Date | null;
}

/** Null before the first sync. */
export async function findStatementReading(
  db: SqlTx,
  accountId: number,
): Promise<StatementReading | null> {
  const [found] = await db.$queryRaw<StatementReading[]>`
    SELECT line_count, is_anchored, import_started_at, sync_interval_ms, synced_at, closed_from,
           closed_until, closing_failures, closing_next_at
    FROM statement_state WHERE account_id = ${accountId}`;
  return found ?? null;
}
