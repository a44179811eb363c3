import type { Database, Tx } from '../../src/platform/postgres/database.service.js';
import { invariant } from '../../src/platform/errors.js';

/** The result of `work` in a transaction, and how many rows of the table PostgreSQL read for it. */
export function measureRowsRead<Result>(
  database: Database,
  table: string,
  work: (tx: Tx) => Promise<Result>,
): Promise<{ result: Result; rowsRead: number }> {
  return database.transaction(async (tx) => {
    const before = await countRowsRead(tx, table);
    const result = await work(tx);
    return { result, rowsRead: (await countRowsRead(tx, table)) - before };
  });
}

async function countRowsRead(tx: Tx, table: string): Promise<number> {
  const [read] = await tx.$queryRaw<{ rows: number }[]>`
    SELECT (seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_xact_user_tables
    WHERE relname = ${table}`;
  invariant(read, `the table ${table} exists`);
  return read.rows;
}
