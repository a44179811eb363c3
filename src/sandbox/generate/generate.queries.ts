import type { SandboxTx } from '../sandbox-database.service.js';

/** Allocates many ids for new movements or charges in one statement. */
export async function allocateIds(
  tx: SandboxTx,
  table: 'movement' | 'charge',
  count: number,
): Promise<bigint[]> {
  const rows = await tx.query<{ id: bigint }>(
    `SELECT nextval(pg_get_serial_sequence($1, 'id')) AS id FROM generate_series(1, $2)`,
    [table, count],
  );
  return rows.map((row) => row.id);
}

/** The ids of the bank's own accounts by their numbers. */
export async function findInternalAccountIds(tx: SandboxTx): Promise<Map<string, number>> {
  const accounts = await tx.query<{ id: number; number: string }>(
    `SELECT id, number FROM account WHERE kind = 'internal'`,
  );
  return new Map(accounts.map(({ id, number }) => [number, id]));
}

/** The time of the last line of a locked account; null when it has no line. */
export async function findLastLineTime(tx: SandboxTx, accountId: number): Promise<Date | null> {
  const last = await tx.find<{ createdAt: Date }>(
    `SELECT line.created_at FROM account
     JOIN statement_line AS line ON line.account_id = account.id AND line.nsu = account.tail_nsu
     WHERE account.id = $1`,
    [accountId],
  );
  return last?.createdAt ?? null;
}
