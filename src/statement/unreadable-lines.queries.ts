// The SQL of lines that were set aside: those that could not be read, or came again with another content.
import type { Db, Tx } from '../database.service.js';

export interface SetAside {
  kind: 'unreadable' | 'changed';
  nsu: bigint | null;
  reason: string;
  content: string;
  contentHash: string;
}

/** Sets lines aside, each once; one that was settled and comes again is open again. Answers how many are new or open. */
export async function insertSetAside(
  tx: Tx,
  accountId: number,
  lines: SetAside[],
): Promise<number> {
  if (lines.length === 0) return 0;
  const once = [...new Map(lines.map((line) => [line.contentHash, line])).values()];
  const rows = await tx.$queryRaw<unknown[]>`
    INSERT INTO unreadable_line AS u (account_id, content_hash, kind, nsu, reason, content)
    SELECT ${accountId}, * FROM unnest(
      ${once.map(({ contentHash }) => contentHash)}::text[], ${once.map(({ kind }) => kind)}::text[],
      ${once.map(({ nsu }) => nsu)}::bigint[], ${once.map(({ reason }) => reason)}::text[],
      ${once.map(({ content }) => content)}::text[])
    ON CONFLICT (account_id, content_hash) DO UPDATE SET resolved_at = NULL, resolution = NULL
    WHERE u.resolved_at IS NOT NULL
    RETURNING 1`;
  return rows.length;
}

/** These lines were read, and are as the mirror has them: what was set aside of them is settled. Answers how many. */
export async function healSetAside(tx: Tx, accountId: number, nsus: bigint[]): Promise<number> {
  if (nsus.length === 0) return 0;
  return tx.$executeRaw`
    UPDATE unreadable_line
    SET resolved_at = now(), resolution = CASE kind WHEN 'changed' THEN 'restored' ELSE 'read' END
    WHERE account_id = ${accountId} AND resolved_at IS NULL AND nsu = ANY (${nsus}::bigint[])`;
}

/** One was read again and is mirrored. */
export async function markRead(tx: Tx, accountId: number, hashes: string[]): Promise<void> {
  await tx.$executeRaw`
    UPDATE unreadable_line SET resolved_at = now(), resolution = 'read'
    WHERE account_id = ${accountId} AND resolved_at IS NULL AND content_hash = ANY (${hashes}::text[])`;
}

export interface UnreadableRow {
  contentHash: string;
  kind: 'unreadable' | 'changed';
  nsu: bigint | null;
  reason: string;
  content: string;
  recordedAt: Date;
  resolvedAt: Date | null;
  resolution: 'read' | 'restored' | 'erased' | null;
}

/** Where a list goes on: behind the line of this time and hash. */
export interface UnreadableCursor {
  recordedAt: Date;
  contentHash: string;
}

export async function listUnreadable(
  db: Db,
  accountId: number,
  asked: {
    isResolved: boolean | null;
    kind: string | null;
    nsu: bigint | null;
    after: UnreadableCursor | null;
    limit: number;
  },
): Promise<UnreadableRow[]> {
  const { isResolved, kind, nsu, after, limit } = asked;
  return db.$queryRaw<UnreadableRow[]>`
    SELECT content_hash AS "contentHash", kind, nsu, reason, content, recorded_at AS "recordedAt",
           resolved_at AS "resolvedAt", resolution
    FROM unreadable_line
    WHERE account_id = ${accountId}
      AND (${isResolved}::boolean IS NULL OR (resolved_at IS NOT NULL) = ${isResolved}::boolean)
      AND (${kind}::text IS NULL OR kind = ${kind})
      AND (${nsu}::bigint IS NULL OR nsu = ${nsu}::bigint)
      AND (${after === null} OR (recorded_at, content_hash)
           < (${after?.recordedAt ?? null}::timestamptz, ${after?.contentHash ?? null}))
    ORDER BY recorded_at DESC, content_hash DESC LIMIT ${limit}`;
}

export async function findUnreadable(
  db: Db,
  accountId: number,
  contentHash: string,
): Promise<UnreadableRow | null> {
  const [row] = await db.$queryRaw<UnreadableRow[]>`
    SELECT content_hash AS "contentHash", kind, nsu, reason, content, recorded_at AS "recordedAt",
           resolved_at AS "resolvedAt", resolution
    FROM unreadable_line WHERE account_id = ${accountId} AND content_hash = ${contentHash}`;
  return row ?? null;
}

/** Lines that nobody could read and that are still open, a page of them in the order of their hashes. */
export async function listToReadAgain(
  db: Db,
  accountId: number,
  { onlyHash, afterHash, limit }: { onlyHash: string | null; afterHash: string; limit: number },
): Promise<{ contentHash: string; content: string }[]> {
  return db.$queryRaw`
    SELECT content_hash AS "contentHash", content FROM unreadable_line
    WHERE account_id = ${accountId} AND kind = 'unreadable' AND resolved_at IS NULL
      AND (${onlyHash}::text IS NULL OR content_hash = ${onlyHash}) AND content_hash > ${afterHash}
    ORDER BY content_hash LIMIT ${limit}`;
}
