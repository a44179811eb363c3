// Open breaks by kind, from the stored counters: it reads a row for each kind, however many breaks
// are open.
import type { SqlTx } from '../database.service.js';

export interface BreakCount {
  kind: string;
  open: bigint;
}

export async function countOpenBreaks(db: SqlTx, accountId: number): Promise<BreakCount[]> {
  return db.$queryRaw<BreakCount[]>`
    SELECT key AS kind, value AS open FROM account_counter
    WHERE account_id = ${accountId} AND kind = 'open_breaks' AND value > 0
    ORDER BY value DESC, key`;
}
