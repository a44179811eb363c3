// Which page of the statement to read next. The bank does not say in which order its pages come: it is read
// off the lines, and reading ends where nothing new is found, so that cost follows new lines, not history.
export type PageOrder = 'desc' | 'asc';

/** The order that a page shows; null when it has too few lines to tell. */
export function orderOf(nsus: readonly bigint[]): PageOrder | null {
  const [first] = nsus;
  const last = nsus.at(-1);
  if (first === undefined || last === undefined || first === last) return null;
  return first > last ? 'desc' : 'asc';
}

/** Where to begin: the newest lines are on page one, or behind all those that are mirrored. */
export function firstPage(order: PageOrder | null, lineCount: bigint, pageSize: number): number {
  return order === 'asc' ? Math.max(1, Math.floor(Number(lineCount) / pageSize)) : 1;
}

export interface PageRead {
  order: PageOrder | null;
  /** Lines on the page, readable or not. */
  lines: number;
  newLines: number;
  lowestNsu: bigint | null;
  /** Where the mirror is not known to be whole: it is read down to there again. */
  firstHoleNsu: bigint | null;
}

/** Whether the page was the last that needs reading. */
export function isLastPage({ order, lines, newLines, lowestNsu, firstHoleNsu }: PageRead): boolean {
  if (lines === 0) return true;
  if (order === 'asc' || newLines > 0) return false;
  const reachesBelowHole =
    firstHoleNsu === null || (lowestNsu !== null && lowestNsu < firstHoleNsu);
  return reachesBelowHole;
}
