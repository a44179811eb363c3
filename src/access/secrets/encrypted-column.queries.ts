// The ids of the keys that encrypted the values of a column, by their first characters.
import { Prisma } from '../../generated/service/client.js';
import type { Reader } from '../../platform/postgres/database.service.js';
import type { EncryptedColumn } from './encrypted-column.js';

export async function listKeyIds(
  db: Reader,
  { name, formerName }: EncryptedColumn,
): Promise<string[]> {
  const names = [name, ...(formerName ? [formerName] : [])];
  const found = await Promise.all(names.map((one) => listKeyIdsOf(db, one)));
  return [...new Set(found.flat())];
}

/**
 * Long tables have a partial index on the first eight characters of the values. It is read once for
 * each key id, not for each row.
 */
async function listKeyIdsOf(db: Reader, name: string): Promise<string[]> {
  const [table = '', column = ''] = name.split('.');
  const [rows, keyId] = [Prisma.raw(table), Prisma.raw(`left("${column}", 8)`)];
  const isStored = Prisma.raw(`"${column}" IS NOT NULL`);
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
