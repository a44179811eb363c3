// Stores unreadable lines: lines that could not be read, and lines shown again with different
// content.
import type { Db, Tx } from '../database.service.js';
import { recordStatementTask } from '../reconciliation-tasks/reconciliation-tasks.queries.js';

export interface NewUnreadableLine {
  kind: 'unreadable' | 'changed';
  nsu: bigint | null;
  reason: string;
  content: string;
  contentHash: string;
}

/**
 * Stores unreadable lines, each once. A resolved line that is shown again is reopened. Returns the
 * number stored or reopened.
 */
export async function insertUnreadableLines(
  tx: Tx,
  accountId: number,
  lines: NewUnreadableLine[],
): Promise<number> {
  if (lines.length === 0) return 0;
  const unique = [...new Map(lines.map((line) => [line.contentHash, line])).values()];
  const rows = await tx.$queryRaw<unknown[]>`
    INSERT INTO unreadable_line AS u (account_id, content_hash, kind, nsu, reason, content)
    SELECT ${accountId}, * FROM unnest(
      ${unique.map(({ contentHash }) => contentHash)}::text[],
      ${unique.map(({ kind }) => kind)}::unreadable_line_kind[],
      ${unique.map(({ nsu }) => nsu)}::bigint[],
      ${unique.map(({ reason }) => reason)}::text[],
      ${unique.map(({ content }) => content)}::text[])
    ON CONFLICT (account_id, content_hash) DO UPDATE SET resolved_at = NULL, resolution = NULL
    WHERE u.resolved_at IS NOT NULL
    RETURNING 1`;
  if (rows.length > 0) await recordStatementTask(tx, accountId);
  return rows.length;
}

/**
 * Resolves the unreadable lines of nsus that the bank now shows with the stored content. Returns
 * the number of resolved lines.
 */
export async function resolveReadableLines(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<number> {
  if (nsus.length === 0) return 0;
  const resolved = await tx.$executeRaw`
    UPDATE unreadable_line
    SET resolved_at = now(), resolution =
      (CASE kind WHEN 'changed' THEN 'restored' ELSE 'read' END)::unreadable_line_resolution
    WHERE account_id = ${accountId} AND resolved_at IS NULL AND nsu = ANY (${nsus}::bigint[])`;
  if (resolved > 0) await recordStatementTask(tx, accountId);
  return resolved;
}

/** Resolves lines that were read again and stored. */
export async function markLinesRead(tx: Tx, accountId: number, hashes: string[]): Promise<void> {
  await tx.$executeRaw`
    UPDATE unreadable_line SET resolved_at = now(), resolution = 'read'
    WHERE account_id = ${accountId} AND resolved_at IS NULL
      AND content_hash = ANY (${hashes}::text[])`;
  await recordStatementTask(tx, accountId);
}

export interface UnreadableLineRow {
  contentHash: string;
  kind: 'unreadable' | 'changed';
  nsu: bigint | null;
  reason: string;
  content: string;
  recordedAt: Date;
  resolvedAt: Date | null;
  resolution: 'read' | 'restored' | 'erased' | null;
}

/** The position of a list page: after the line with this time and hash. */
export interface UnreadableLineCursor {
  recordedAt: Date;
  contentHash: string;
}

export async function listUnreadableLineRows(
  db: Db,
  accountId: number,
  filter: {
    isResolved: boolean | null;
    kind: string | null;
    nsu: bigint | null;
    after: UnreadableLineCursor | null;
    limit: number;
  },
): Promise<UnreadableLineRow[]> {
  const { isResolved, kind, nsu, after, limit } = filter;
  return db.$queryRaw<UnreadableLineRow[]>`
    SELECT content_hash, kind, nsu, reason, content, recorded_at, resolved_at, resolution
    FROM unreadable_line
    WHERE account_id = ${accountId}
      AND (${isResolved}::boolean IS NULL OR (resolved_at IS NOT NULL) = ${isResolved}::boolean)
      AND (${kind}::text IS NULL OR kind = ${kind})
      AND (${nsu}::bigint IS NULL OR nsu = ${nsu}::bigint)
      AND (${after === null} OR (recorded_at, content_hash)
           < (${after?.recordedAt ?? null}::timestamptz, ${after?.contentHash ?? null}))
    ORDER BY recorded_at DESC, content_hash DESC LIMIT ${limit}`;
}

export async function findUnreadableLine(
  db: Db,
  accountId: number,
  contentHash: string,
): Promise<UnreadableLineRow | null> {
  const [row] = await db.$queryRaw<UnreadableLineRow[]>`
    SELECT content_hash, kind, nsu, reason, content, recorded_at, resolved_at, resolution
    FROM unreadable_line WHERE account_id = ${accountId} AND content_hash = ${contentHash}`;
  return row ?? null;
}

/** Open lines of kind `unreadable`, a page in hash order. */
export async function listUnreadableLinesToRetry(
  db: Db,
  accountId: number,
  { onlyHash, afterHash, limit }: { onlyHash: string | null; afterHash: string; limit: number },
): Promise<{ contentHash: string; content: string }[]> {
  return db.$queryRaw`
    SELECT content_hash, content FROM unreadable_line
    WHERE account_id = ${accountId} AND kind = 'unreadable' AND resolved_at IS NULL
      AND (${onlyHash}::text IS NULL OR content_hash = ${onlyHash}) AND content_hash > ${afterHash}
    ORDER BY content_hash LIMIT ${limit}`;
}
