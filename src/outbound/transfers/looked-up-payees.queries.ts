// SQL of whom look-ups of Pix keys have named: encrypted, for whoever approves the transfer, and
// deleted by age. An index has the key ids of its texts.
import type { Db } from '../../platform/postgres/database.service.js';
import type { SecretOwner } from '../../platform/secret-box.js';
import type { EncryptedColumn } from '../../access/secrets/encrypted-column.js';
import type { PixLookup } from '../../generated/service/client.js';

export function ownerOfPayee({
  accountId,
  endToEndId,
}: Pick<PixLookup, 'accountId' | 'endToEndId'>): SecretOwner {
  return ['pix_lookup.payee', String(accountId), endToEndId];
}

/** What the look-ups have stored, by their endToEndId. */
export async function listStoredPayees(
  db: Db,
  accountId: number,
  endToEndIds: readonly string[],
): Promise<{ endToEndId: string; payee: string }[]> {
  if (endToEndIds.length === 0) return [];
  const found = await db.pixLookup.findMany({
    where: { accountId, endToEndId: { in: [...endToEndIds] } },
    select: { endToEndId: true, payee: true },
  });
  return found.flatMap(({ endToEndId, payee }) => (payee === null ? [] : { endToEndId, payee }));
}

/** Deletes whom look-ups of more than `days` ago have named. Returns how many it has found. */
export async function deleteOldPayees(db: Db, days: number, limit: number): Promise<number> {
  return db.$executeRaw`
    UPDATE pix_lookup SET payee = NULL
    WHERE (account_id, end_to_end_id) IN (
      SELECT account_id, end_to_end_id FROM pix_lookup
      WHERE payee IS NOT NULL
        AND looked_up_at < (SELECT clock_timestamp() - ${days} * interval '1 day')
      ORDER BY looked_up_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED)`;
}

export const payeeColumn: EncryptedColumn = {
  name: 'pix_lookup.payee',
  count: async (db, keyId) => {
    const [row] = await db.$queryRaw<{ count: bigint }[]>`
      SELECT count(*) FROM pix_lookup WHERE payee IS NOT NULL AND left(payee, 8) = ${keyId}`;
    return Number(row?.count ?? 0);
  },
  list: async (db, keyId, limit) => {
    const rows = await db.$queryRaw<{ accountId: number; endToEndId: string; payee: string }[]>`
      SELECT account_id, end_to_end_id, payee FROM pix_lookup
      WHERE payee IS NOT NULL AND left(payee, 8) = ${keyId} LIMIT ${limit}`;
    return rows.map(({ accountId, endToEndId, payee: encrypted }) => ({
      owner: ownerOfPayee({ accountId, endToEndId }),
      encrypted,
      replace: async (tx, payee) => {
        const same = { accountId, endToEndId, payee: encrypted };
        await tx.pixLookup.updateMany({ where: same, data: { payee } });
      },
    }));
  },
};
