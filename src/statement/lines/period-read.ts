// One full read of a period of the statement, page by page. It keeps no lines: a sum of keyed
// hashes shows whether two reads showed the same lines. So its memory stays the same however long
// the period is.
import { sha256 } from '../../platform/json/exact-json.js';
import type { ClosingPeriod, PageShape } from './closing.js';
import { maxRepeatedPages, SeenLines } from './page-position.js';
import { contentHashOf, type ParsedLine } from './statement-line.js';

const modulus = 2n ** 256n;

export class PeriodRead {
  /** Whether the read reached the end of the period. */
  isComplete = false;
  readonly pages: PageShape = { lines: 0, count: 0, isRepeated: false };
  lowestNsu: bigint | null = null;
  highestNsu: bigint | null = null;
  /** The number of lines of the period, and the sum of their hashes: the order does not matter. */
  private lines = 0;
  private sum = 0n;
  /** A line that a shifted page repeats is counted once. */
  private readonly seen = new SeenLines();
  private repeats = 0;
  private lastTime: number | null = null;
  private isRising = true;
  private isFalling = true;

  /**
   * `key` is secret and the same in both reads: nobody can make two lines with equal sums.
   * `marginMs`: if pages are ordered by time, the read ends this long before or after the period.
   */
  constructor(
    private readonly period: Pick<ClosingPeriod, 'from' | 'until'>,
    private readonly key: string,
    private readonly marginMs: number,
  ) {}

  add(page: readonly ParsedLine[]): void {
    const unseen = page.filter((entry) => this.seen.add(contentHashOf(entry)));
    for (const entry of unseen) this.count(entry);
    if (unseen.length > 0) this.pages.count += 1;
    this.pages.lines = Math.max(this.pages.lines, page.length);
    this.repeats = unseen.length > 0 ? 0 : this.repeats + 1;
    this.pages.isRepeated = page.length > 0 && this.repeats === maxRepeatedPages;
    this.isComplete = page.length === 0 || this.pages.isRepeated || this.isPast(page);
  }

  /** Whether both reads showed the same lines. */
  hasSameLines(other: PeriodRead): boolean {
    return this.lines === other.lines && this.sum === other.sum;
  }

  private count(entry: ParsedLine): void {
    // An unreadable line has no reliable time: it always counts.
    if (entry.ok) {
      const { occurredAt, nsu } = entry.line;
      this.follow(occurredAt.getTime());
      if (occurredAt < this.period.from || occurredAt >= this.period.until) return;
      if (this.lowestNsu === null || nsu < this.lowestNsu) this.lowestNsu = nsu;
      if (this.highestNsu === null || nsu > this.highestNsu) this.highestNsu = nsu;
    }
    this.lines += 1;
    const hash = sha256(`${this.key} ${contentHashOf(entry)}`);
    this.sum = (this.sum + BigInt(`0x${hash}`)) % modulus;
  }

  private follow(time: number): void {
    if (this.lastTime !== null && time < this.lastTime) this.isRising = false;
    if (this.lastTime !== null && time > this.lastTime) this.isFalling = false;
    this.lastTime = time;
  }

  /**
   * Whether all lines so far came in the order of time, and the whole page lies beyond the period.
   * A single line out of that order, or an unreadable one on the page, lets the read go on.
   */
  private isPast(page: readonly ParsedLine[]): boolean {
    if (this.isRising === this.isFalling) return false;
    const { from, until } = this.period;
    const [oldest, newest] = [from.getTime() - this.marginMs, until.getTime() + this.marginMs];
    return page.every((entry) => {
      if (!entry.ok) return false;
      const time = entry.line.occurredAt.getTime();
      return this.isFalling ? time < oldest : time >= newest;
    });
  }
}
