import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { firstPage, isLastPage, orderOf, type PageOrder, type PageRead } from './paging.js';

describe('orderOf', () => {
  it.each<[bigint[], PageOrder | null]>([
    [[], null],
    [[5n], null],
    [[5n, 5n], null],
    [[5n, 4n], 'desc'],
    [[4n, 5n], 'asc'],
    [[9n, 7n, 8n, 3n], 'desc'],
    [[9_007_199_254_740_993n, 9_007_199_254_740_992n], 'desc'],
  ])('of %s is %s', (nsus, order) => expect(orderOf(nsus)).toBe(order));
});

describe('firstPage', () => {
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
  ])('of a %s statement with %s whole lines, %i on a page, is %i', (order, lines, onPage, page) => {
    expect(firstPage(order, lines, onPage)).toBe(page);
  });
});

describe('isLastPage', () => {
  const page: PageRead = {
    order: 'desc',
    lines: 3,
    newLines: 0,
    lowestNsu: 7n,
    isAnchored: true,
    gapNsu: null,
  };

  it.each<[string, Partial<PageRead>, boolean]>([
    ['has nothing', { lines: 0, lowestNsu: null, gapNsu: 3n }, true],
    ['has nothing new', {}, true],
    ['has nothing new and the beginning was never reached', { isAnchored: false }, false],
    ['has something new', { newLines: 1 }, false],
    ['has nothing and the beginning was never reached', { lines: 0, isAnchored: false }, true],
    ['has something new below the hole', { newLines: 1, gapNsu: 8n }, false],
    ['has nothing new in a statement of unknown order', { order: null }, true],
    ['has nothing new and the end is ahead', { order: 'asc' }, false],
    ['does not reach the hole', { gapNsu: 7n }, false],
    ['reaches below the hole', { gapNsu: 8n }, true],
    ['is unreadable above a hole', { lowestNsu: null, gapNsu: 8n }, false],
  ])('when a page %s', (_, change, isLast) => {
    expect(isLastPage({ ...page, ...change })).toBe(isLast);
  });
});

/** A bank's statement and a mirror of it, line by line: what the statement service does with the pages. */
class Simulation {
  readonly mirrored = new Set<number>();
  /** What the bank shows: an nsu that is withheld is not there yet. */
  visible: number[];
  pagesRead = 0;
  private order: PageOrder | null = null;
  private pageLines = 0;
  private isAnchored = false;
  private firstGap: bigint | null = null;

  constructor(
    private readonly bankOrder: PageOrder,
    /** What is asked for. */
    readonly pageSize: number,
    lines: number,
    /** What the bank gives at most. */
    private readonly cap = pageSize,
  ) {
    this.visible = Array.from({ length: lines }, (_, index) => index + 1);
  }

  /** New lines, as movements make them. */
  arrive(count: number): void {
    const highest = Math.max(0, ...this.visible);
    for (let nsu = highest + 1; nsu <= highest + count; nsu += 1) this.visible.push(nsu);
  }

  /** One sync; `between` is what happens at the bank after each page. */

  poll(between: (page: number) => void = () => undefined): void {
    let lowestNew: bigint | null = null;
    const { firstGap: gapNsu } = this;
    const begin = firstPage(this.order, this.linesBeforeGap, this.pageLines);
    for (let page = begin; ; page += 1) {
      const nsus = this.page(page);
      this.pagesRead += 1;
      if (this.pagesRead > 2_000) throw new Error('reading does not stop');
      const fresh = nsus.filter((nsu) => !this.mirrored.has(Number(nsu)));
      for (const nsu of fresh) this.mirrored.add(Number(nsu));
      const lowestNsu = nsus.reduce<bigint | null>(least, null);
      if (fresh.length > 0) lowestNew = least(lowestNew, lowestNsu);
      this.order = orderOf(nsus) ?? this.order;
      this.pageLines = Math.max(this.pageLines, nsus.length);
      if (nsus.length === 0 && page === begin && page > 1) page = 0;
      const read = { order: this.order, lines: nsus.length, newLines: fresh.length, lowestNsu };
      if (page > 0 && isLastPage({ ...read, isAnchored: this.isAnchored, gapNsu })) break;
      between(page);
    }
    this.isAnchored = this.mirrored.size > 0;
    const from = least(gapNsu, lowestNew);
    this.firstGap = from === null ? null : this.brokenLink(from);
  }

  private get linesBeforeGap(): bigint {
    const { firstGap } = this;
    const whole = [...this.mirrored].filter((nsu) => firstGap === null || nsu < Number(firstGap));
    return BigInt(whole.length);
  }

  get isWhole(): boolean {
    return this.firstGap === null;
  }

  get missing(): number[] {
    return this.visible.filter((nsu) => !this.mirrored.has(nsu));
  }

  private page(page: number): bigint[] {
    const ordered = [...this.visible].sort((a, b) => (this.bankOrder === 'asc' ? a - b : b - a));
    return ordered.slice((page - 1) * this.cap, page * this.cap).map(BigInt);
  }

  /** Each line moves the balance, so that the chain shows each line that lies between two others. */
  private brokenLink(from: bigint): bigint | null {
    const sorted = [...this.mirrored].sort((a, b) => a - b);
    const broken = sorted.find(
      (nsu, index) => nsu >= Number(from) && index > 0 && sorted[index - 1] !== nsu - 1,
    );
    return broken === undefined ? null : BigInt(broken);
  }
}

function least(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

describe.each(['desc', 'asc'] as const)('reading a statement that comes %s', (order) => {
  const size = fc.integer({ min: 2, max: 6 });

  it('reads every line once nothing moves, and stops', () => {
    fc.assert(
      fc.property(
        size,
        fc.nat({ max: 40 }),
        fc.array(fc.nat({ max: 15 })),
        (pageSize, lines, arrivals) => {
          const bank = new Simulation(order, pageSize, lines);
          bank.poll();
          expect(bank.missing).toEqual([]);
          for (const count of arrivals) {
            bank.arrive(count);
            bank.poll();
            expect([bank.missing, bank.isWhole]).toEqual([[], true]);
          }
        },
      ),
    );
  });

  it('misses nothing in the long run when pages shift under its hands', () => {
    const shifts = fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(size, fc.nat({ max: 40 }), shifts, (pageSize, lines, arrivals) => {
        const bank = new Simulation(order, pageSize, lines);
        bank.poll();
        const waiting = [...arrivals];
        while (waiting.length > 0) {
          bank.arrive(waiting.shift() ?? 0);
          bank.poll(() => bank.arrive(waiting.shift() ?? 0));
        }
        bank.poll();
        bank.poll();
        expect([bank.missing, bank.isWhole]).toEqual([[], true]);
      }),
      // A statement that was empty when it was first read, and then fills while it is read.
      { examples: [[2, 0, [3, 2]]] },
    );
  });

  it('reads the whole history although lines arrive while it is read for the first time', () => {
    const shifts = fc.array(fc.nat({ max: 9 }), { maxLength: 8 });
    fc.assert(
      fc.property(size, fc.nat({ max: 40 }), shifts, (pageSize, lines, arrivals) => {
        const bank = new Simulation(order, pageSize, lines);
        const waiting = [...arrivals];
        bank.poll(() => bank.arrive(waiting.shift() ?? 0));
        bank.poll();
        bank.poll();
        expect(bank.missing).toEqual([]);
      }),
      { examples: [[2, 3, [2]]] },
    );
  });

  it('goes back for a line that was withheld, however far behind it appears', () => {
    const anywhere = fc.integer({ min: 2, max: 39 });
    fc.assert(
      fc.property(size, anywhere, (pageSize, withheld) => {
        const bank = new Simulation(order, pageSize, 40);
        bank.visible = bank.visible.filter((nsu) => nsu !== withheld);
        bank.poll();
        expect(bank.isWhole).toBe(false);
        bank.visible.push(withheld);
        bank.poll();
        bank.poll();
        expect([bank.missing, bank.isWhole]).toEqual([[], true]);
      }),
    );
  });

  it.each([
    ['as many lines as it is asked for', 5],
    ['fewer lines than it is asked for', 4],
  ])('costs what is new, not what is old, at a bank that gives %s', (_, cap) => {
    const bank = new Simulation(order, 5, 1_000, cap);
    bank.poll();
    bank.pagesRead = 0;
    bank.poll();
    expect(bank.pagesRead).toBeLessThanOrEqual(2);
    bank.arrive(12);
    bank.pagesRead = 0;
    bank.poll();
    expect(bank.pagesRead).toBeLessThanOrEqual(5);
  });
});
