// Which page of the statement to read next. The bank does not say in which order its pages come, nor how many
// lines it puts on one: both are read off what it shows. Reading ends where nothing new is found, so that cost
// follows new lines, not history.
export type PageOrder = 'desc' | 'asc';

/** The order that a page shows; null when it has too few lines to tell. */
export function orderOf(nsus: readonly bigint[]): PageOrder | null {
  const [first] = nsus;
  const last = nsus.at(-1);
  if (first === undefined || last === undefined || first === last) return null;
  return first > last ? 'desc' : 'asc';
}

/**
 * Where to begin: the newest lines are on page one, or behind those that are mirrored without a hole.
 * `pageLines` is the most that the bank has shown on one page.
 */
export function firstPage(
  order: PageOrder | null,
  linesBeforeGap: bigint,
  pageLines: number,
): number {
  if (order !== 'asc' || pageLines === 0) return 1;
  return Math.max(1, Math.floor(Number(linesBeforeGap) / pageLines));
}

export interface PageRead {
  order: PageOrder | null;
  /** Lines on the page, readable or not. */
  lines: number;
  /** Those that were not known, readable or not. */
  newLines: number;
  lowestNsu: bigint | null;
  /** Whether the history was ever read to its beginning: lines that arrive meanwhile shift the pages. */
  isAnchored: boolean;
  /** The mirror is read down to here again; null when it is whole, or not due to be. */
  gapNsu: bigint | null;
}

/** Whether the page was the last that needs reading. */
export function isLastPage(read: PageRead): boolean {
  const { order, lines, newLines, lowestNsu, isAnchored, gapNsu } = read;
  if (lines === 0) return true;
  if (order === 'asc' || newLines > 0 || !isAnchored) return false;
  return gapNsu === null || (lowestNsu !== null && lowestNsu < gapNsu);
}
