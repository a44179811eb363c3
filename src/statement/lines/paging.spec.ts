import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  firstPageToRead,
  isLastPage,
  pageOrderOf,
  type PageOrder,
  type PageRead,
} from './paging.js';

describe('pageOrderOf', () => {
  it.each<[bigint[], PageOrder | null]>([
    [[], null],
    [[5n], null],
    [[5n, 5n], null],
    [[5n, 4n], 'desc'],
    [[4n, 5n], 'asc'],
    [[9n, 7n, 8n, 3n], 'desc'],
    [[9_007_199_254_740_993n, 9_007_199_254_740_992n], 'desc'],
  ])('of %s is %s', (nsus, order) => expect(pageOrderOf(nsus)).toBe(order));
});

describe('firstPageToRead', () => {
  it.each<[PageOrder | null, bigint, number, number]>([
    [null, 0n, 0, 1],
    [null, 1_000n, 100, 1],
    ['desc', 1_000n, 100, 1],
    ['asc', 0n, 0, 1],
    ['asc', 1_000n, 0, 1],
    ['asc', 99n, 100, 1],
    ['asc', 100n, 100, 1],
    ['asc', 250n, 100, 2],
    ['asc', 300n, 100, 3],
    ['asc', 300n, 20, 15],
  ])(
    'of a %s statement with %s lines below the gap, %i on a page, is %i',
    (order, lines, onPage, page) => {
      expect(firstPageToRead(order, lines, onPage)).toBe(page);
    },
  );
});

describe('isLastPage', () => {
  const page: PageRead = {
    order: 'desc',
    lines: 3,
    newLines: 0,
    lowestNsu: 7n,
    isAnchored: true,
    gapNsu: null,
    isJoined: false,
  };

  it.each<[string, Partial<PageRead>, boolean]>([
    ['is empty', { lines: 0, lowestNsu: null, gapNsu: 3n }, true],
    ['has nothing new', {}, true],
    ['has nothing new and the beginning was never reached', { isAnchored: false }, false],
    ['has something new', { newLines: 1 }, false],
    ['has something new that continues the stored lines', { newLines: 1, isJoined: true }, true],
    ['continues the stored lines above the gap', { isJoined: true, gapNsu: 3n }, false],
    ['is empty and the beginning was never reached', { lines: 0, isAnchored: false }, true],
    ['has something new below the gap', { newLines: 1, gapNsu: 8n }, false],
    ['has nothing new in a statement of unknown order', { order: null }, true],
    ['has nothing new and the end is ahead', { order: 'asc' }, false],
    ['does not reach the gap', { gapNsu: 7n }, false],
    ['reaches below the gap', { gapNsu: 8n }, true],
    ['is unreadable above a gap', { lowestNsu: null, gapNsu: 8n }, false],
  ])('when a page %s', (_, change, isLast) => {
    expect(isLastPage({ ...page, ...change })).toBe(isLast);
  });
});

/** A bank's statement and its stored copy. Reads and stores pages as the statement service does. */
class Simulation {
  readonly stored = new Set<number>();
  /** The nsus that the bank shows; a withheld nsu is missing. */
  visible: number[];
  pagesRead = 0;
  private order: PageOrder | null = null;
  private pageLines = 0;
  private isAnchored = false;
  private firstGap: bigint | null = null;

  constructor(
    private readonly bankOrder: PageOrder,
    /** The requested page size. */
    readonly pageSize: number,
    lines: number,
    /** The most lines that the bank puts on a page. */
    private readonly cap = pageSize,
  ) {
    this.visible = Array.from({ length: lines }, (_, index) => index + 1);
  }

  /** Adds new lines with the next numbers. */
  arrive(count: number): void {
    const highest = Math.max(0, ...this.visible);
    for (let nsu = highest + 1; nsu <= highest + count; nsu += 1) this.visible.push(nsu);
  }

  /** One sync; `between` runs after each page. */
  sync(between: (page: number) => void = () => undefined): void {
    let lowestNew: bigint | null = null;
    const { firstGap: gapNsu } = this;
    const first = firstPageToRead(this.order, this.linesBeforeGap, this.pageLines);
    for (let page = first; ; page += 1) {
      const nsus = this.page(page);
      this.pagesRead += 1;
      if (this.pagesRead > 2_000) throw new Error('reading does not stop');
      const fresh = nsus.filter((nsu) => !this.stored.has(Number(nsu)));
      for (const nsu of fresh) this.stored.add(Number(nsu));
      const lowestNsu = nsus.reduce<bigint | null>(minNsu, null);
      if (fresh.length > 0) lowestNew = minNsu(lowestNew, lowestNsu);
      this.order = pageOrderOf(nsus) ?? this.order;
      this.pageLines = Math.max(this.pageLines, nsus.length);
      if (nsus.length === 0 && page === first && page > 1) page = 0;
      const read = { order: this.order, lines: nsus.length, newLines: fresh.length, lowestNsu };
      if (page > 0 && isLastPage({ ...read, isAnchored: this.isAnchored, gapNsu, isJoined: false }))
        break;
      between(page);
    }
    this.isAnchored = this.stored.size > 0;
    const from = minNsu(gapNsu, lowestNew);
    this.firstGap = from === null ? null : this.brokenLink(from);
  }

  private get linesBeforeGap(): bigint {
    const { firstGap } = this;
    const below = [...this.stored].filter((nsu) => firstGap === null || nsu < Number(firstGap));
    return BigInt(below.length);
  }

  get isComplete(): boolean {
    return this.firstGap === null;
  }

  get missing(): number[] {
    return this.visible.filter((nsu) => !this.stored.has(nsu));
  }

  private page(page: number): bigint[] {
    const ordered = [...this.visible].sort((a, b) => (this.bankOrder === 'asc' ? a - b : b - a));
    return ordered.slice((page - 1) * this.cap, page * this.cap).map(BigInt);
  }

  /**
   * The first line after a missing nsu: each line changes the balance, so that the chain shows any
   * missing line.
   */
  private brokenLink(from: bigint): bigint | null {
    const sorted = [...this.stored].sort((a, b) => a - b);
    const broken = sorted.find(
      (nsu, index) => nsu >= Number(from) && index > 0 && sorted[index - 1] !== nsu - 1,
    );
    return broken === undefined ? null : BigInt(broken);
  }
}

function minNsu(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

describe.each(['desc', 'asc'] as const)('reading a statement in %s order', (order) => {
  const size = fc.integer({ min: 2, max: 6 });

  it('reads every line when nothing shifts, and stops', () => {
    fc.assert(
      fc.property(
        size,
        fc.nat({ max: 40 }),
        fc.array(fc.nat({ max: 15 })),
        (pageSize, lines, arrivals) => {
          const bank = new Simulation(order, pageSize, lines);
          bank.sync();
          expect(bank.missing).toEqual([]);
          for (const count of arrivals) {
            bank.arrive(count);
            bank.sync();
            expect([bank.missing, bank.isComplete]).toEqual([[], true]);
          }
        },
      ),
    );
  });

  it('stores every line after two more syncs when pages shift while they are read', () => {
    const shifts = fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(size, fc.nat({ max: 40 }), shifts, (pageSize, lines, arrivals) => {
        const bank = new Simulation(order, pageSize, lines);
        bank.sync();
        const waiting = [...arrivals];
        while (waiting.length > 0) {
          bank.arrive(waiting.shift() ?? 0);
          bank.sync(() => bank.arrive(waiting.shift() ?? 0));
        }
        bank.sync();
        bank.sync();
        expect([bank.missing, bank.isComplete]).toEqual([[], true]);
      }),
      // A statement that was empty in the first sync and fills during the next.
      { examples: [[2, 0, [3, 2]]] },
    );
  });

  it('imports the whole history although lines arrive during the import', () => {
    const shifts = fc.array(fc.nat({ max: 9 }), { maxLength: 8 });
    fc.assert(
      fc.property(size, fc.nat({ max: 40 }), shifts, (pageSize, lines, arrivals) => {
        const bank = new Simulation(order, pageSize, lines);
        const waiting = [...arrivals];
        bank.sync(() => bank.arrive(waiting.shift() ?? 0));
        bank.sync();
        bank.sync();
        expect(bank.missing).toEqual([]);
      }),
      { examples: [[2, 3, [2]]] },
    );
  });

  it('stores a withheld line once it appears, however old the line is', () => {
    const anywhere = fc.integer({ min: 2, max: 39 });
    fc.assert(
      fc.property(size, anywhere, (pageSize, withheld) => {
        const bank = new Simulation(order, pageSize, 40);
        bank.visible = bank.visible.filter((nsu) => nsu !== withheld);
        bank.sync();
        expect(bank.isComplete).toBe(false);
        bank.visible.push(withheld);
        bank.sync();
        bank.sync();
        expect([bank.missing, bank.isComplete]).toEqual([[], true]);
      }),
    );
  });

  it.each([
    ['as many lines as requested', 5],
    ['fewer lines than requested', 4],
  ])('reads pages for new lines only, not for history, at a bank that returns %s', (_, cap) => {
    const bank = new Simulation(order, 5, 1_000, cap);
    bank.sync();
    bank.pagesRead = 0;
    bank.sync();
    expect(bank.pagesRead).toBeLessThanOrEqual(2);
    bank.arrive(12);
    bank.pagesRead = 0;
    bank.sync();
    expect(bank.pagesRead).toBeLessThanOrEqual(5);
  });
});
