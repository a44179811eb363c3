// The position of one sync in the pages of the statement: which page is read next, and when to
// stop. The bank states neither the order of its pages nor the number of lines on a page, and its
// pages shift while they are read.
import { firstPageToRead, isLastPage, type PageOrder, type PageRead } from './paging.js';

/**
 * The number of consecutive pages without an unseen line after which reading stops. A bank may
 * return its last page for every page past the end. New lines may shift a page by exactly its
 * length once or twice, but not repeatedly.
 */
export const maxRepeatedPages = 3;

export interface PagePositionStart {
  pageOrder: PageOrder | null;
  /** The most lines that one page has shown. */
  pageLines: number;
  linesBeforeGap: bigint;
  /** All stored lines. */
  lineCount: bigint;
  /** Whether the history was once read to its beginning. */
  isAnchored: boolean;
  /**
   * The gap down to which pages are read again; null when there is no gap, or when no such read is
   * due.
   */
  gapNsu: bigint | null;
  /** Whether all pages are read, from the first to the last, whatever they show. */
  isFullReadDue: boolean;
}

export class PagePosition {
  order: PageOrder | null;
  pageLines = 0;
  newLines = 0;
  page: number;
  private firstPage: number;
  /** Whether the last page had only lines of earlier pages: new lines may have shifted it. */
  isShifted = false;
  private repeats = 0;
  private previousLowest: bigint | null = null;
  private readonly seen = new SeenLines();
  /** The first page of stored lines that was skipped; null while none was. */
  private skippedFrom: number | null = null;
  /** The page at which the skip ended; null before a skip and after it was undone. */
  private skippedTo: number | null = null;

  constructor(private readonly start: PagePositionStart) {
    this.order = start.pageOrder;
    this.firstPage = start.isFullReadDue
      ? 1
      : firstPageToRead(start.pageOrder, start.linesBeforeGap, start.pageLines);
    this.page = this.firstPage;
  }

  /** Whether lines that arrive now are on pages before the one that is read next. */
  get isBehindNewest(): boolean {
    return this.order === 'desc' && this.page > 1;
  }

  /** Whether this sync has read one of these lines. It may have forgotten that. */
  hasSeenSome(contentHashes: readonly string[]): boolean {
    return contentHashes.some((hash) => this.seen.has(hash));
  }

  /** Adds the lines of a page that was read again because new lines may have arrived. */
  addNewest(newLines: number, contentHashes: readonly string[]): void {
    this.addUnseen(contentHashes);
    this.newLines += newLines;
  }

  /** Stays at its lines, after so many new lines were read before them. */
  shift(newLines: number): void {
    if (newLines === 0) return;
    const pages = Math.floor(newLines / this.pageLines);
    if (this.skippedFrom !== null) this.skippedFrom += pages;
    if (this.skippedTo !== null) this.skippedTo += pages;
    // A page whose lines were shifted to the next one is read again.
    this.page += pages - (this.isShifted ? 1 : 0);
  }

  /**
   * Advances after a page was read. False when no further page must be read. `contentHashes`
   * identify the page's lines, readable or not.
   */
  advance(
    read: Pick<PageRead, 'order' | 'lines' | 'newLines' | 'lowestNsu' | 'isJoined'>,
    contentHashes: readonly string[],
  ): boolean {
    const pageOrder = read.order ?? this.orderSince(read.lowestNsu);
    this.previousLowest = read.lowestNsu ?? this.previousLowest;
    if (pageOrder === 'desc' && this.firstPage > 1) {
      // The newest lines are no longer on the last pages: begin again at page one.
      this.order = pageOrder;
      this.firstPage = this.page = 1;
      this.previousLowest = null;
      return true;
    }
    this.order = pageOrder ?? this.order;
    this.newLines += read.newLines;
    this.pageLines = Math.max(this.pageLines, read.lines);
    if (read.lines === 0 && this.page === this.firstPage && this.page > 1) {
      // Fewer pages than expected: the bank now puts more lines on a page. Begin again at page one.
      this.firstPage = this.page = 1;
      return true;
    }
    this.repeats = this.addUnseen(contentHashes) ? 0 : this.repeats + 1;
    this.isShifted = this.repeats > 0 && read.lines > 0;
    if (this.repeats === maxRepeatedPages) return false;
    const { isAnchored, gapNsu, isFullReadDue } = this.start;
    if (this.skipStored(read)) return true;
    const isLast = isFullReadDue
      ? read.lines === 0
      : isLastPage({ ...read, order: this.order, isAnchored, gapNsu });
    // A shifted page does not show where the stored lines begin.
    if (isLast && !(this.isShifted && this.isBehindNewest)) return false;
    this.page += 1;
    return true;
  }

  /**
   * Resumes an interrupted import. The lines stored so far are adjacent on pages after the lines
   * that arrived since, so all but the last page of them are skipped. A page with only new lines
   * after the skip means that they were not adjacent: the skip is undone and all pages are read.
   */
  private skipStored(read: Pick<PageRead, 'lines' | 'newLines'>): boolean {
    if (this.start.isAnchored || this.order !== 'desc') return false;
    if (this.skippedFrom !== null) {
      const isFirstAfterSkip = this.page === this.skippedTo && read.lines > 0;
      if (!isFirstAfterSkip || read.newLines < read.lines) return false;
      this.page = this.skippedFrom;
      this.skippedTo = null;
      return true;
    }
    if (read.newLines > 0 || read.lines === 0) return false;
    const stored = Number(this.start.lineCount) + this.newLines;
    const target = Math.floor(stored / this.pageLines);
    if (target <= this.page + 1) return false;
    this.skippedFrom = this.page + 1;
    this.page = this.skippedTo = target;
    return true;
  }

  /**
   * The order of the statement where pages have one line each, from the previous page to this one.
   */
  private orderSince(lowestNsu: bigint | null): PageOrder | null {
    if (lowestNsu === null || this.previousLowest === null || lowestNsu === this.previousLowest)
      return null;
    return lowestNsu < this.previousLowest ? 'desc' : 'asc';
  }

  /** Records the lines of a page. False when this sync has already seen all of these lines. */
  private addUnseen(contentHashes: readonly string[]): boolean {
    return contentHashes.filter((hash) => this.seen.add(hash)).length > 0;
  }
}

/** The lines of a generation of `SeenLines`: many pages. */
const generationLines = 20_000;

/**
 * Lines that a read has shown: the first of them, and those shown lately. A page repeats lines of
 * the pages just before it, or of the first pages. The memory does not grow with the statement.
 */
export class SeenLines {
  private readonly first = new Set<string>();
  private recent = new Set<string>();
  private earlier = new Set<string>();

  has(contentHash: string): boolean {
    return [this.first, this.recent, this.earlier].some((lines) => lines.has(contentHash));
  }

  /** Adds a line. False when it was seen. */
  add(contentHash: string): boolean {
    if (this.has(contentHash)) return false;
    if (this.first.size < generationLines) {
      this.first.add(contentHash);
      return true;
    }
    if (this.recent.size === generationLines)
      [this.earlier, this.recent] = [this.recent, new Set()];
    this.recent.add(contentHash);
    return true;
  }
}
