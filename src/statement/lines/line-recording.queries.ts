// Stores the new lines of a page: each nsu once, as it was first shown. The caller holds the
// account's statement row for the rest of the transaction, under the lease of a sync or a closing.
import type { Tx } from '../../platform/postgres/database.service.js';
import { erasedHash, type ParsedLine, type StatementLine } from './statement-line.js';
import { pageOrderOf, type PageOrder } from './paging.js';
import { findStoredLines, insertStatementLines, markChainUnchecked } from './statement.queries.js';
import {
  resolveReadableLines,
  insertUnreadableLines,
  type NewUnreadableLine,
} from './unreadable-lines.queries.js';

export interface PageResult {
  lines: number;
  /** Lines not stored before, readable or not. */
  newLines: number;
  lowestNsu: bigint | null;
  order: PageOrder | null;
  /** Lines newly stored as unreadable or changed. */
  newUnreadable: number;
  /** Unreadable or changed lines that this page resolved. */
  resolved: number;
}

export async function recordLines(
  tx: Tx,
  accountId: number,
  parsed: ParsedLine[],
): Promise<PageResult> {
  const lines = oncePerNsu(parsed);
  const nsus = lines.map(({ nsu }) => nsu);
  const unreadable = parsed.flatMap(toUnreadable);
  const allNsus = [...nsus, ...unreadable.flatMap(({ nsu }) => nsu ?? [])];
  const stored = new Map(
    (await findStoredLines(tx, accountId, allNsus)).map((row) => [row.nsu, row.contentHash]),
  );
  const fresh = lines.filter(({ nsu }) => !stored.has(nsu)).sort(byTime);
  const changed = lines.filter((line) => isChanged(line, stored));
  const order = pageOrderOf(nsus);
  const newUnreadable = await insertUnreadableLines(tx, accountId, [
    ...unreadable.filter(({ nsu }) => nsu === null || stored.get(nsu) !== erasedHash),
    ...changed.map(toChanged),
  ]);
  const unchanged = lines.filter((line) => !changed.includes(line)).map(({ nsu }) => nsu);
  const resolved = await resolveReadableLines(tx, accountId, unchanged);
  if (fresh.length > 0) {
    await insertStatementLines(tx, accountId, fresh);
    const lowestNsu = fresh.map(({ nsu }) => nsu).reduce((a, b) => (a < b ? a : b));
    const page = { inserted: fresh.length, lowestNsu, lines: parsed.length, order };
    await markChainUnchecked(tx, accountId, page);
  }
  return {
    lines: parsed.length,
    newLines: fresh.length + newUnreadable,
    lowestNsu: nsus.reduce<bigint | null>(minNsu, null),
    order,
    newUnreadable,
    resolved,
  };
}

export function minNsu(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

/** Removes repeated lines: pages that shift may show a line twice. */
function oncePerNsu(parsed: ParsedLine[]): StatementLine[] {
  const lines = new Map<bigint, StatementLine>();
  for (const entry of parsed) if (entry.ok) lines.set(entry.line.nsu, entry.line);
  return [...lines.values()];
}

function byTime(a: StatementLine, b: StatementLine): number {
  return a.occurredAt.getTime() - b.occurredAt.getTime() || (a.nsu < b.nsu ? -1 : 1);
}

function isChanged({ nsu, contentHash }: StatementLine, stored: Map<bigint, string>): boolean {
  const storedHash = stored.get(nsu);
  return storedHash !== undefined && storedHash !== erasedHash && storedHash !== contentHash;
}

function toChanged({ nsu, content, contentHash }: StatementLine): NewUnreadableLine {
  const reason = 'was shown again with different content';
  return { kind: 'changed', nsu, reason, content, contentHash };
}

function toUnreadable(parsed: ParsedLine): NewUnreadableLine[] {
  if (parsed.ok) return [];
  const { nsu, reason, content, contentHash } = parsed;
  return [{ kind: 'unreadable', nsu, reason, content, contentHash }];
}
