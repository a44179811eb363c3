// Reads which heads are not anchored yet.
import type { DayClose } from '../../generated/service/client.js';
import type { Db } from '../../platform/postgres/database.service.js';

export const anchorKinds = ['file', 'timestamp'] as const;
export type AnchorKind = (typeof anchorKinds)[number];

/** Accounts whose last certificate is not anchored in each of these ways. */
export async function listAccountsToAnchor(
  db: Db,
  kinds: readonly AnchorKind[],
): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT b.id AS account_id FROM bank_account b
    CROSS JOIN LATERAL (
      SELECT sequence FROM day_close WHERE account_id = b.id ORDER BY sequence DESC LIMIT 1
    ) last
    WHERE EXISTS (
      SELECT FROM unnest(${[...kinds]}::text[]) wanted(kind) WHERE NOT EXISTS (
        SELECT FROM head_anchor a
        WHERE a.account_id = b.id AND a.kind = wanted.kind AND a.sequence >= last.sequence))`;
}

export type Head = Pick<DayClose, 'sequence' | 'date' | 'revision' | 'hash'>;

/** Those after the last one that was anchored so, in the order of the chain. */
export async function listHeads(db: Db, accountId: number, kind: AnchorKind): Promise<Head[]> {
  const last = await db.headAnchor.findFirst({
    where: { accountId, kind },
    orderBy: { sequence: 'desc' },
  });
  return db.dayClose.findMany({
    where: { accountId, sequence: { gt: last?.sequence ?? 0 } },
    select: { sequence: true, date: true, revision: true, hash: true },
    orderBy: { sequence: 'asc' },
  });
}
