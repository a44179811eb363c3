// The key ids of a long encrypted column, by its index on the first characters of its values.
import { Prisma } from '../../generated/service/client.js';
import type { Reader } from '../../platform/postgres/shared-reads.queries.js';

/**
 * The ids of the keys that encrypted the values. The table has a partial index on the first eight
 * characters of the values. The index is read once for each key id, not for each row.
 */
export async function listKeyIdsByIndex(
  db: Reader,
  { table, column }: { table: string; column: string },
): Promise<string[]> {
  const [rows, keyId] = [Prisma.raw(table), Prisma.raw(`left(${column}, 8)`)];
  const isStored = Prisma.raw(`${column} IS NOT NULL`);
  const found = await db.$queryRaw<{ keyId: string }[]>`
    WITH RECURSIVE ids(key_id) AS (
      (SELECT ${keyId} FROM ${rows} WHERE ${isStored} ORDER BY 1 LIMIT 1)
      UNION ALL
      SELECT (SELECT ${keyId} FROM ${rows}
              WHERE ${isStored} AND ${keyId} > ids.key_id ORDER BY 1 LIMIT 1)
      FROM ids WHERE ids.key_id IS NOT NULL
    )
    SELECT key_id AS "keyId" FROM ids WHERE key_id IS NOT NULL`;
  return found.map(({ keyId: id }) => id);
}
