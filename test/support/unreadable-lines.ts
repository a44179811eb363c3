// Unreadable lines, for tests of their API, redrive and erasure.
import type { Pool } from 'pg';

/**
 * Stores an unreadable line that the current parser can read. Returns the API path that precedes
 * its id, and the id.
 */
export async function insertUnreadableLine(
  pool: Pool,
  accountId: number,
  { nsu = 990_001, id = 'a'.repeat(64) }: { nsu?: number; id?: string } = {},
): Promise<[path: string, id: string]> {
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
