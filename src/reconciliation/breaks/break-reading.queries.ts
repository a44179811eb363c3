// SQL that selects the breaks of bulk actions.
import type { Db } from '../../platform/postgres/database.service.js';
import { maxBulk, type BulkAction } from './breaks.schema.js';
import { openedDay } from './severity.queries.js';

/** The oldest breaks that a bulk action selects; leaves out automatically resolved breaks. */
export async function listBreakIds(
  db: Db,
  accountId: number,
  { filter, action }: Pick<BulkAction, 'filter' | 'action'>,
): Promise<string[]> {
  if (!filter) return [];
  const { kind, openedBefore = null, maxAmount = null } = filter;
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT b.id FROM break b
    WHERE b.account_id = ${accountId} AND b.kind = ${kind}
      AND b.state = ${action === 'reopen' ? 'resolved' : 'open'}
      AND (b.state = 'open' OR b.resolution <> 'automatic')
      AND (${openedBefore}::text IS NULL OR ${openedDay} < ${openedBefore})
      AND (${maxAmount}::bigint IS NULL OR b.amount_cents <= ${maxAmount}::bigint)
    ORDER BY b.opened_at, b.id LIMIT ${maxBulk}`;
  return rows.map(({ id }) => id);
}
