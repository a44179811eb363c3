// SQL of comments on breaks, and their texts as the re-encryption sees them. The table may be long:
// an index has the key ids of its texts.
import type { Tx } from '../../platform/postgres/database.service.js';
import type { BreakComment } from '../../generated/service/client.js';
import type { SecretOwner } from '../../platform/secret-box.js';
import type { EncryptedColumn } from '../../access/secrets/encrypted-column.js';

export function ownerOfComment({
  accountId,
  id,
}: Pick<BreakComment, 'accountId' | 'id'>): SecretOwner {
  return ['break_comment.text', String(accountId), id];
}

/** Erases the texts of the comments on the breaks of a line. */
export async function eraseCommentsOfLine(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.breakComment.updateMany({
    where: { accountId, text: { not: null }, break: { nsu } },
    data: { text: null },
  });
}

export const commentColumn: EncryptedColumn = {
  name: 'break_comment.text',
  count: async (db, keyId) => {
    const [row] = await db.$queryRaw<{ count: bigint }[]>`
      SELECT count(*) FROM break_comment WHERE text IS NOT NULL AND left(text, 8) = ${keyId}`;
    return Number(row?.count ?? 0);
  },
  list: async (db, keyId, limit) => {
    const rows = await db.$queryRaw<{ accountId: number; id: string; text: string }[]>`
      SELECT account_id, id, text FROM break_comment
      WHERE text IS NOT NULL AND left(text, 8) = ${keyId} LIMIT ${limit}`;
    return rows.map(({ accountId, id, text: encrypted }) => ({
      owner: ownerOfComment({ accountId, id }),
      encrypted,
      replace: async (tx, text) => {
        const same = { accountId, id, text: encrypted };
        await tx.breakComment.updateMany({ where: same, data: { text } });
      },
    }));
  },
};
