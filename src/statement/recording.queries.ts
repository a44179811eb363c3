// Mirrors what a page shows that the mirror has not: each line once, as it first came. Called by who holds the right to
// write for the rest of the transaction.
import type { Tx } from '../database.service.js';
import type { LineReading, StatementLine } from './line.js';
import { orderOf, type PageOrder } from './paging.js';
import { findKnown, insertLines, markUnproven } from './statement.queries.js';
import { healSetAside, insertSetAside, type SetAside } from './unreadable-lines.queries.js';

/** The hash of a content that was erased: what the bank shows of it again, in whatever shape, stays forgotten. */
const erased = '';

export interface PageResult {
  lines: number;
  /** Those that were not known, readable or not. */
  newLines: number;
  lowestNsu: bigint | null;
  order: PageOrder | null;
  setAside: number;
  /** Lines that had been set aside and are settled. */
  healed: number;
}

export async function recordLines(
  tx: Tx,
  accountId: number,
  readings: LineReading[],
): Promise<PageResult> {
  const lines = oncePerNsu(readings);
  const nsus = lines.map(({ nsu }) => nsu);
  const unread = readings.flatMap(unreadable);
  const named = [...nsus, ...unread.flatMap(({ nsu }) => nsu ?? [])];
  const known = new Map(
    (await findKnown(tx, accountId, named)).map((row) => [row.nsu, row.contentHash]),
  );
  const fresh = lines.filter(({ nsu }) => !known.has(nsu)).sort(byTime);
  const altered = lines.filter((line) => isChanged(line, known));
  const order = orderOf(nsus);
  const setAside = await insertSetAside(tx, accountId, [
    ...unread.filter(({ nsu }) => nsu === null || known.get(nsu) !== erased),
    ...altered.map(changed),
  ]);
  const agreeing = lines.filter((line) => !altered.includes(line)).map(({ nsu }) => nsu);
  const healed = await healSetAside(tx, accountId, agreeing);
  if (fresh.length > 0) {
    await insertLines(tx, accountId, fresh);
    const lowestNsu = fresh.map(({ nsu }) => nsu).reduce((a, b) => (a < b ? a : b));
    const page = { inserted: fresh.length, lowestNsu, lines: readings.length, order };
    await markUnproven(tx, accountId, page);
  }
  return {
    lines: readings.length,
    newLines: fresh.length + setAside,
    lowestNsu: nsus.reduce<bigint | null>(least, null),
    order,
    setAside,
    healed,
  };
}

export function least(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

/** Pages that shift may show a line twice. */
function oncePerNsu(readings: LineReading[]): StatementLine[] {
  const lines = new Map<bigint, StatementLine>();
  for (const reading of readings) if (reading.ok) lines.set(reading.line.nsu, reading.line);
  return [...lines.values()];
}

function byTime(a: StatementLine, b: StatementLine): number {
  return a.occurredAt.getTime() - b.occurredAt.getTime() || (a.nsu < b.nsu ? -1 : 1);
}

function isChanged({ nsu, contentHash }: StatementLine, known: Map<bigint, string>): boolean {
  const before = known.get(nsu);
  return before !== undefined && before !== erased && before !== contentHash;
}

function changed({ nsu, content, contentHash }: StatementLine): SetAside {
  return { kind: 'changed', nsu, reason: 'came again with another content', content, contentHash };
}

function unreadable(reading: LineReading): SetAside[] {
  if (reading.ok) return [];
  const { nsu, reason, content, contentHash } = reading;
  return [{ kind: 'unreadable', nsu, reason, content, contentHash }];
}
