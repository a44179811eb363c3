// How an account uses its look-ups of Pix keys: a directory blocks whoever looks up many keys and
// pays few of them.
import type { Queryable } from '../sandbox-database.service.js';

/** The look-ups of the account since then that began no transfer. */
export async function countUnusedLookups(
  database: Queryable,
  accountId: number,
  since: Date,
): Promise<number> {
  const found = await database.find<{ count: number }>(
    `SELECT count(*)::int AS count
     FROM dict_lookup AS lookup
     WHERE account_id = $1 AND created_at >= $2
       AND NOT EXISTS (
         SELECT FROM transfer WHERE end_to_end_id = lookup.end_to_end_id)`,
    [accountId, since],
  );
  return found?.count ?? 0;
}
