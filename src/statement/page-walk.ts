// Where one sync stands in the pages of the statement: which page is read next, and whether any need be. The bank does
// not say in which order its pages come, nor how many lines it puts on one, and its pages shift while they are read.
import { firstPage, isLastPage, type PageOrder, type PageRead } from './paging.js';

/**
 * A bank may answer a page past the end with its last one, for ever. Lines that arrive can push a page down by
 * just its length, once or twice, but not again and again.
 */
export const maxRepeats = 3;

export interface WalkStart {
  pageOrder: PageOrder | null;
  /** The most lines that a page has shown. */
  pageLines: number;
  linesBeforeGap: bigint;
  /** All lines that the mirror has. */
  lineCount: bigint;
  /** Whether the history was ever read to its beginning. */
  isAnchored: boolean;
  /** The mirror is read down to here again; null when it is whole, or not due to be. */
  gapNsu: bigint | null;
  /** All pages are read, from the first to the last, whatever they show. */
  isFullReadDue: boolean;
}

export class PageWalk {
  order: PageOrder | null;
  pageLines = 0;
  newLines = 0;
  page: number;
  private begin: number;
  private repeats = 0;
  private lastLowest: bigint | null = null;
  private readonly seen = new Set<string>();
  /** The page from which known lines were passed over; null while none were. */
  private passedFrom: number | null = null;
  /** Where that ended; null once it was undone. */
  private passedTo: number | null = null;

  constructor(private readonly start: WalkStart) {
    this.order = start.pageOrder;
    this.begin = start.isFullReadDue
      ? 1
      : firstPage(start.pageOrder, start.linesBeforeGap, start.pageLines);
    this.page = this.begin;
  }

  /** Takes what the page showed, its lines by their content; false when it was the last that need be read. */
  take(
    read: Pick<PageRead, 'order' | 'lines' | 'newLines' | 'lowestNsu'>,
    contents: readonly string[],
  ): boolean {
    const shown = read.order ?? this.orderSince(read.lowestNsu);
    this.lastLowest = read.lowestNsu ?? this.lastLowest;
    if (shown === 'desc' && this.begin > 1) {
      // What is new does not stand at the end any more.
      this.order = shown;
      this.begin = this.page = 1;
      this.lastLowest = null;
      return true;
    }
    this.order = shown ?? this.order;
    this.newLines += read.newLines;
    this.pageLines = Math.max(this.pageLines, read.lines);
    if (read.lines === 0 && this.page === this.begin && this.page > 1) {
      // Fewer pages than expected: the bank shows more lines on one than it did.
      this.begin = this.page = 1;
      return true;
    }
    this.repeats = this.addUnseen(contents) ? 0 : this.repeats + 1;
    if (this.repeats === maxRepeats) return false;
    const { isAnchored, gapNsu, isFullReadDue } = this.start;
    if (this.passKnown(read)) return true;
    if (
      isFullReadDue
        ? read.lines === 0
        : isLastPage({ ...read, order: this.order, isAnchored, gapNsu })
    )
      return false;
    this.page += 1;
    return true;
  }

  /**
   * A first reading of a long history that was cut off goes on where it was: the lines that it mirrored lie together
   * behind those that came since, so that all but the last page of them are passed over. A landing on new lines alone
   * means that they did not, and all pages are read after all.
   */
  private passKnown(read: Pick<PageRead, 'lines' | 'newLines'>): boolean {
    if (this.start.isAnchored || this.order !== 'desc') return false;
    if (this.passedFrom !== null) {
      const isLanding = this.page === this.passedTo && read.lines > 0;
      if (!isLanding || read.newLines < read.lines) return false;
      this.page = this.passedFrom;
      this.passedTo = null;
      return true;
    }
    if (read.newLines > 0 || read.lines === 0) return false;
    const known = Number(this.start.lineCount) + this.newLines;
    const target = Math.floor(known / this.pageLines);
    if (target <= this.page + 1) return false;
    this.passedFrom = this.page + 1;
    this.page = this.passedTo = target;
    return true;
  }

  /** The order in which pages of one line each come. */
  private orderSince(lowestNsu: bigint | null): PageOrder | null {
    if (lowestNsu === null || this.lastLowest === null || lowestNsu === this.lastLowest)
      return null;
    return lowestNsu < this.lastLowest ? 'desc' : 'asc';
  }

  /** Notes the lines of a page; false when this reading had seen them all. */
  private addUnseen(contents: readonly string[]): boolean {
    const before = this.seen.size;
    for (const content of contents) this.seen.add(content);
    return this.seen.size > before;
  }
}
