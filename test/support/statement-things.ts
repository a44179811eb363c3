// What only the mirror of a statement has, for tests that need one of each thing.
import type { Pool } from 'pg';

/** Sets a line aside that the reader of today can read; its id, and the path that leads to it. */
export async function setLineAside(
  pool: Pool,
  accountId: number,
  { nsu = 990_001, id = 'a'.repeat(64) }: { nsu?: number; id?: string } = {},
): Promise<[place: string, id: string]> {
  const line = {
    id: `line-${nsu}`,
    nsu,
    amount: 1,
    createdAt: '2026-11-21T12:00:00Z',
    type: { name: 'CREDIT_PIX', isCredit: true },
    balance: { balancePrevious: 0, currentBalance: 1 },
  };
  await pool.query(
    `INSERT INTO unreadable_line (account_id, content_hash, kind, nsu, reason, content)
     VALUES ($1, $2, 'unreadable', $3, 'cannot be read at amount', $4)`,
    [accountId, id, nsu, JSON.stringify(line)],
  );
  return ['/v1/unreadable-lines/', id];
}
