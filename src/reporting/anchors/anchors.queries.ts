// Reads which heads are not anchored yet.
import type { DayClose } from '../../generated/service/client.js';
import { maxCounted } from '../../platform/metrics/instruments.js';
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

/** How many heads wait, of all accounts; none of a kind that is not set. */
export async function countHeadsToAnchor(
  db: Db,
  kinds: readonly AnchorKind[],
): Promise<{ kind: AnchorKind; heads: number }[]> {
  return db.$queryRaw`
    SELECT all_kinds.kind, (
      SELECT count(*)::int FROM (
        SELECT FROM bank_account b
        CROSS JOIN LATERAL (
          SELECT COALESCE(max(sequence), 0) AS sequence FROM head_anchor
          WHERE account_id = b.id AND kind = all_kinds.kind
        ) last
        JOIN day_close d ON d.account_id = b.id AND d.sequence > last.sequence
        WHERE all_kinds.kind = ANY (${[...kinds]}::text[])
        LIMIT ${maxCounted}
      ) waiting
    ) AS heads
    FROM unnest(${[...anchorKinds]}::text[]) all_kinds(kind)`;
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
