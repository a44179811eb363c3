import { describe, expect, it } from '@jest/globals';
import { continueFrom, linesToRead, pauseAfterSyncMs } from './newest-page.js';
import type { ParsedLine } from './statement-line.js';

const end = { nsu: 10n, balanceCents: 1_000n };

/** A credit of one cent, after which the balance is 990 + nsu, or what `other` says. */
function line(nsu: number, other: Record<string, unknown> = {}): ParsedLine {
  const current = BigInt(990 + nsu);
  const balances = { balancePreviousCents: current - 1n, currentBalanceCents: current };
  const values = { nsu: BigInt(nsu), isCredit: true, amountCents: 1n, ...balances, ...other };
  return { ok: true, line: values as never };
}

const unreadable: ParsedLine = { ok: false, reason: '', nsu: 13n, content: '', contentHash: '' };

describe('continueFrom', () => {
  it('separates the lines after the end from the stored ones', () => {
    const page = continueFrom(
      end,
      [12, 11, 10, 9].map((nsu) => line(nsu)),
    );
    expect(page?.fresh.map(({ nsu }) => nsu)).toEqual([11n, 12n]);
    expect(page?.stored.map(({ nsu }) => nsu)).toEqual([10n, 9n]);
    expect(page?.newEnd).toEqual({ nsu: 12n, balanceCents: 1_002n });
  });

  it('takes a debit from the balance', () => {
    const debit = { isCredit: false, balancePreviousCents: 1_000n, currentBalanceCents: 999n };
    const page = continueFrom(end, [line(11, debit), line(10)]);
    expect(page?.newEnd).toEqual({ nsu: 11n, balanceCents: 999n });
  });

  it('stays at the end of a page without new lines', () => {
    expect(continueFrom(end, [line(10), line(9)])).toMatchObject({ fresh: [], newEnd: end });
  });

  it.each<[string, ParsedLine[]]>([
    ['is empty', []],
    ['does not show the last stored line', [line(13), line(12), line(11)]],
    ['leaves out a line', [line(12), line(10), line(9)]],
    [
      'has a line whose amount does not explain its balance',
      [line(11, { amountCents: 2n }), line(10)],
    ],
    ['is in ascending order', [line(9), line(10), line(11)]],
    ['shows a line twice', [line(11), line(11), line(10)]],
    ['has an unreadable line', [unreadable, line(12), line(11), line(10)]],
  ])('finds nothing where the page %s', (_, parsed) => {
    expect(continueFrom(end, parsed)).toBeNull();
  });
});

it.each([
  [1, 25],
  [10, 250],
  [20, 500],
  [10_000, 500],
])('after %i new lines the next sync begins %i ms later', (lines, ms) => {
  expect(pauseAfterSyncMs(lines, 0)).toBe(ms);
});

it.each([
  [1, 0],
  [2, 25],
  [5, 100],
  [10_000, 100],
])('after %i syncs without a new line the next one begins %i ms later', (syncs, ms) => {
  expect(pauseAfterSyncMs(0, syncs)).toBe(ms);
});

it.each([
  [0, 20],
  [10, 20],
  [15, 30],
  [20, 40],
  [21, Infinity],
])('after %i new lines the next sync reads %d of the newest', (lines, read) => {
  expect(linesToRead(lines)).toBe(read);
});
