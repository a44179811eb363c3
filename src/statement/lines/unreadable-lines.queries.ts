// Stores unreadable lines: lines that could not be read, and lines shown again with different
// content.
import type { Tx } from '../../platform/postgres/database.service.js';
import type { UnreadableLine } from '../../generated/service/client.js';
import { recordStatementTask } from '../reconciliation-tasks/reconciliation-tasks.queries.js';

export type NewUnreadableLine = Pick<
  UnreadableLine,
  'kind' | 'nsu' | 'reason' | 'content' | 'contentHash'
>;

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
    SET resolved_at = clock_timestamp(), resolution =
      (CASE kind WHEN 'changed' THEN 'restored' ELSE 'read' END)::unreadable_line_resolution
    WHERE account_id = ${accountId} AND resolved_at IS NULL AND nsu = ANY (${nsus}::bigint[])`;
  if (resolved > 0) await recordStatementTask(tx, accountId);
  return resolved;
}

/** Resolves lines that were read again and stored. */
export async function markLinesRead(tx: Tx, accountId: number, hashes: string[]): Promise<void> {
  await tx.$executeRaw`
    UPDATE unreadable_line SET resolved_at = clock_timestamp(), resolution = 'read'
    WHERE account_id = ${accountId} AND resolved_at IS NULL
      AND content_hash = ANY (${hashes}::text[])`;
  await recordStatementTask(tx, accountId);
}
