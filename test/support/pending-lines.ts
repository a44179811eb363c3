// Checks that listing by state `pending` finds each line without an outcome. The listing reads only
// the lines that are not decided yet or stored as pending.
import { expect } from '@jest/globals';
import type { Database } from '../../src/platform/postgres/database.service.js';
import { listTransactionRows } from '../../src/reconciliation/api/transactions.queries.js';
import { explainingBreakKinds } from '../../src/reconciliation/decide/break-kinds.js';

const noFilters = {
  nsu: null,
  reference: null,
  isCredit: null,
  from: null,
  until: null,
  afterNsu: null,
};

/** Checks every account. Returns the number of pending lines. */
export async function expectPendingLinesListed({ prisma }: Database): Promise<number> {
  const pending = await prisma.$queryRaw<{ accountId: number; nsus: bigint[] }[]>`
    SELECT a.id AS "accountId", (
      SELECT COALESCE(array_agg(t.nsu ORDER BY t.nsu DESC), '{}') FROM statement_line t
      WHERE t.account_id = a.id
        AND NOT EXISTS (SELECT FROM match m
          WHERE m.account_id = a.id AND m.nsu = t.nsu AND m.unlinked_at IS NULL)
        AND NOT EXISTS (SELECT FROM classification c WHERE c.account_id = a.id AND c.nsu = t.nsu)
        AND NOT EXISTS (SELECT FROM break b
          WHERE b.account_id = a.id AND b.nsu = t.nsu AND b.state = 'open'
            AND b.kind = ANY (${[...explainingBreakKinds]}::text[]))
    ) AS nsus FROM (SELECT DISTINCT account_id AS id FROM statement_line) a`;
  for (const { accountId, nsus } of pending) {
    const limit = nsus.length + 1;
    const { rows } = await listTransactionRows(prisma, accountId, {
      ...noFilters,
      state: 'pending',
      limit,
    });
    expect(rows.map(({ nsu }) => nsu)).toEqual(nsus);
  }
  return pending.reduce((sum, { nsus }) => sum + nsus.length, 0);
}
