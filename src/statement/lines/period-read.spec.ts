import { LosslessNumber } from 'lossless-json';
import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { SeenLines } from './page-position.js';
import { PeriodRead } from './period-read.js';
import { parseStatementLine } from './statement-line.js';

const start = Date.parse('2026-11-21T12:00:00Z');
const at = (seconds: number) => new Date(start + seconds * 1_000);
const period = { from: at(100), until: at(200) };
const reais = (amount: number) => new LosslessNumber(amount.toFixed(2));
const line = (nsu: number, { seconds = nsu, amount = 1 } = {}) =>
  parseStatementLine({
    nsu: new LosslessNumber(String(nsu)),
    amount: reais(amount),
    createdAt: at(seconds).toISOString(),
    type: { name: 'CREDIT_PIX', isCredit: true },
    balance: { balancePrevious: reais(1), currentBalance: reais(1 + amount) },
  });
const lines = (...nsus: number[]) => nsus.map((nsu) => line(nsu));
const readOf = (...pages: ReturnType<typeof lines>[]) => {
  const read = new PeriodRead(period, 'key', 10_000);
  for (const page of pages) read.add(page);
  return read;
};

describe('two reads of a period', () => {
  it('show the same lines whatever the order, the pages and the lines outside of the period', () => {
    const nsus = fc.uniqueArray(fc.integer({ min: 80, max: 220 }), { minLength: 1 });
    const pages = nsus.chain((all) =>
      fc.record({
        all: fc.constant(all),
        shuffled: fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
        size: fc.integer({ min: 1, max: 20 }),
      }),
    );
    fc.assert(
      fc.property(pages, ({ all, shuffled, size }) => {
        const parts = Array.from({ length: Math.ceil(shuffled.length / size) }, (_, index) =>
          lines(...shuffled.slice(index * size, (index + 1) * size)),
        );
        const inPeriod = all.filter((nsu) => nsu >= 100 && nsu < 200);
        const other = readOf(...parts);
        expect(readOf(lines(...inPeriod)).hasSameLines(other)).toBe(true);
        const without = readOf(lines(...inPeriod.slice(1)));
        expect(without.hasSameLines(other)).toBe(inPeriod.length === 0);
        expect(other.highestNsu).toBe(inPeriod.length ? BigInt(Math.max(...inPeriod)) : null);
      }),
    );
  });

  it('count a line that a shifted page repeats once', () => {
    const shifted = readOf(lines(105, 104, 103), lines(103, 102, 101));
    expect(shifted.hasSameLines(readOf(lines(101, 102, 103, 104, 105)))).toBe(true);
  });

  it('differ by a line in place of another, and by a line with another content', () => {
    const read = readOf(lines(101, 102));
    expect(read.hasSameLines(readOf(lines(101, 103)))).toBe(false);
    expect(read.hasSameLines(readOf([line(101), line(102, { amount: 2 })]))).toBe(false);
    expect(read.hasSameLines(readOf(lines(101, 102), [parseStatementLine({})]))).toBe(false);
  });
});

describe('a read of a period', () => {
  it.each([
    ['newest first', lines(230, 150, 110), lines(95, 92), lines(89, 88), true],
    ['oldest first', lines(80, 150, 190), lines(201, 205), lines(210, 211), true],
    ['one line out of order', lines(230, 150, 151, 110), lines(95, 92), lines(89, 88), false],
    ['an unreadable line', lines(150, 110), lines(95), [line(89), parseStatementLine({})], false],
  ])('ends at a page beyond the period and its margin: %s', (_, first, near, beyond, ends) => {
    const read = new PeriodRead(period, 'key', 10_000);
    const isComplete = [first, near, beyond].map((page) => {
      read.add(page);
      return read.isComplete;
    });
    expect(isComplete).toEqual([false, false, ends]);
  });

  it('ends at an empty page, and at the third page without a new line', () => {
    expect(readOf(lines(110), []).isComplete).toBe(true);
    const repeated = readOf(lines(110), lines(110), lines(110));
    expect(repeated.isComplete).toBe(false);
    repeated.add(lines(110));
    expect([repeated.isComplete, repeated.pages.isRepeated]).toEqual([true, true]);
  });
});

describe('seen lines', () => {
  it('are the first and the latest lines of a read, however many lines it has', () => {
    const seen = new SeenLines();
    const last = 200_000;
    let added = 0;
    for (let nsu = 1; nsu <= last; nsu += 1) added += seen.add(`${nsu}`) ? 1 : 0;
    expect(added).toBe(last);
    for (const nsu of [1, 10_000, last - 10_000, last]) expect(seen.add(`${nsu}`)).toBe(false);
    expect(seen.add('100000')).toBe(true);
  });
});
