// Reads the newest page of a statement whose stored lines have no gap. If the page shows the last
// stored line, and the balances of the lines above it continue from there, the page shows all that
// is new, and no further page must be read. Of a statement that has no line, the page is empty.
import type { ParsedLine, StatementLine } from './statement-line.js';

/** Most syncs find one new line or a few: they read no more lines than these. */
const newestLines = 20;

const pausePerLineMs = 25;
const longestPauseMs = 500;
/** After syncs that found nothing, which follow each other at once. */
const pausePerEmptySyncMs = 25;
const longestPauseAfterEmptyMs = 100;

/**
 * The least time from the end of a sync to the beginning of the next one, in milliseconds. A burst
 * of payments sends a webhook for each: without a pause, every few of them would cost a call of the
 * bank, and CPU time that other accounts wait for. The pause follows how many lines the sync found:
 * payments that come one by one are hardly delayed, and of more than forty lines a second at most
 * two syncs a second read all. The first sync that finds nothing is followed by no pause, because
 * the line of its webhook may come at once. Webhooks without lines cause at most ten syncs a
 * second.
 */
export function pauseAfterSyncMs(newLines: number, emptySyncs: number): number {
  if (newLines > 0) return Math.min(longestPauseMs, newLines * pausePerLineMs);
  const repeated = Math.max(0, emptySyncs - 1);
  return Math.min(longestPauseAfterEmptyMs, repeated * pausePerEmptySyncMs);
}

/**
 * How many of the newest lines a sync reads. `lastNewLines`: how many the sync before it found, if
 * it ended a pause ago. Of a burst, the next one finds about as many, or the rest.
 */
export function linesToRead(lastNewLines: number): number {
  return lastNewLines > newestLines ? Infinity : Math.max(newestLines, 2 * lastNewLines);
}

/** The last line of the stored statement, and the balance after it. */
export interface StatementEnd {
  nsu: bigint;
  balanceCents: bigint;
}

export interface NewestPage {
  /** The lines after the end, oldest first. */
  fresh: StatementLine[];
  /** The last stored line and the lines before it that the page shows. */
  stored: StatementLine[];
  /** The end after the new lines; null while there is no line. */
  newEnd: StatementEnd | null;
}

/**
 * Null unless the page continues from the end, in descending order of nsu. From no end, only an
 * empty page continues: more lines than the newest may be new.
 */
export function continueFrom(
  end: StatementEnd | null,
  parsed: readonly ParsedLine[],
): NewestPage | null {
  if (end === null) return parsed.length === 0 ? { fresh: [], stored: [], newEnd: null } : null;
  const lines = parsed.flatMap((entry) => (entry.ok ? [entry.line] : []));
  const lastStored = lines.findIndex(({ nsu }) => nsu === end.nsu);
  const isDescending = lines.every(
    ({ nsu }, index) => index === 0 || nsu < (lines[index - 1]?.nsu ?? nsu),
  );
  if (lines.length < parsed.length || lastStored === -1 || !isDescending) return null;
  const fresh = lines.slice(0, lastStored).reverse();
  let newEnd = end;
  for (const line of fresh) {
    const { nsu, isCredit, amountCents, balancePreviousCents, currentBalanceCents } = line;
    const balanceCents = newEnd.balanceCents + (isCredit ? amountCents : -amountCents);
    if (balancePreviousCents !== newEnd.balanceCents || currentBalanceCents !== balanceCents)
      return null;
    newEnd = { nsu, balanceCents };
  }
  return { fresh, stored: lines.slice(lastStored), newEnd };
}
