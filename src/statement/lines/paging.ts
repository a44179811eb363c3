// Decides which page of the statement is read first and which page is read last. The bank states
// neither the order of its pages nor the number of lines on a page: both are derived from the pages
// read. Reading ends where the balances continue from the stored lines, or at a page without a new
// line, so that the cost depends on new lines, not on history.
export type PageOrder = 'desc' | 'asc';

/** The order of a page's lines; null when the page has too few lines to show an order. */
export function pageOrderOf(nsus: readonly bigint[]): PageOrder | null {
  const [first] = nsus;
  const last = nsus.at(-1);
  if (first === undefined || last === undefined || first === last) return null;
  return first > last ? 'desc' : 'asc';
}

/**
 * The first page to read: the newest lines are on page one, or, in ascending order, after the
 * stored lines below the first gap. `pageLines` is the most lines that the bank has shown on one
 * page.
 */
export function firstPageToRead(
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
  /** Lines not stored before, readable or not. */
  newLines: number;
  lowestNsu: bigint | null;
  /**
   * Whether the history was once read to its beginning. Until then, a page of stored lines may be a
   * shifted page.
   */
  isAnchored: boolean;
  /**
   * The gap down to which pages are read again; null when there is no gap, or when no such read is
   * due.
   */
  gapNsu: bigint | null;
  /**
   * Whether the page shows the last line that was stored before the sync, and its lines continue
   * the balance from there: no page after it has a line that is missing.
   */
  isJoined: boolean;
}

/** Whether this page is the last that must be read. */
export function isLastPage(read: PageRead): boolean {
  const { order, lines, newLines, lowestNsu, isAnchored, gapNsu, isJoined } = read;
  if (lines === 0 || (isJoined && gapNsu === null)) return true;
  if (order === 'asc' || newLines > 0 || !isAnchored) return false;
  return gapNsu === null || (lowestNsu !== null && lowestNsu < gapNsu);
}
