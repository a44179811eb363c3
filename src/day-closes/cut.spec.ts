import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cutAfter, heldAt, isStraight, type Cut } from './cut.js';

interface Line {
  nsu: bigint;
  day: number;
  signedCents: bigint;
}

const empty: Cut = { nsu: null, balanceCents: 0n, items: [], differences: [] };
const start = Date.UTC(2026, 2, 1, 3);
const endOf = (day: number) => new Date(start + (day + 1) * 86_400_000);
const occurredAt = ({ day, nsu }: Line) => new Date(start + day * 86_400_000 + Number(nsu));

/** The cuts at the end of each day of a book that began with nothing. */
function cutsOf(lines: Line[], days: number): Cut[] {
  const byNsu = [...lines]
    .sort((a, b) => (a.nsu < b.nsu ? -1 : 1))
    .map((line) => ({ ...line, occurredAt: occurredAt(line) }));
  let cut = empty;
  return Array.from({ length: days }, (_, day) => {
    const ofDay = byNsu.filter((line) => line.day === day);
    const following = byNsu.filter(({ nsu }) => cut.nsu === null || nsu > cut.nsu);
    cut = cutAfter(cut, {
      end: endOf(day),
      lines: ofDay,
      following: following.slice(0, ofDay.length),
      differences: [],
    });
    return cut;
  });
}

const books = fc
  .array(fc.record({ day: fc.nat(5), cents: fc.integer({ min: -9_999, max: 9_999 }) }), {
    maxLength: 40,
  })
  .map((lines) =>
    lines.map(({ day, cents }, index) => ({
      nsu: BigInt(index + 1),
      day,
      signedCents: BigInt(cents),
    })),
  );

describe('the cut between days and numbers', () => {
  it('holds what the days up to it add up to, however their lines are numbered', () => {
    fc.assert(
      fc.property(books, (lines) => {
        cutsOf(lines, 6).forEach((cut, day) => {
          const sum = lines
            .filter((line) => line.day <= day)
            .reduce((total, { signedCents }) => total + signedCents, 0n);
          expect(heldAt(cut)).toBe(sum);
        });
      }),
    );
  });

  it('lists no line where days and numbers agree, and all are on their side at the end', () => {
    fc.assert(
      fc.property(books, (lines) => {
        const inOrder = [...lines]
          .sort((a, b) => a.day - b.day)
          .map((line, index) => ({ ...line, nsu: BigInt(index + 1) }));
        for (const { items } of cutsOf(inOrder, 6)) expect(items).toEqual([]);
        expect(cutsOf(lines, 6).at(-1)?.items).toEqual([]);
      }),
    );
  });

  it('lists one line of either side for one that is numbered far too late', () => {
    const lines = [1, 1, 1, 0].map((day, index) => ({
      nsu: BigInt(index + 1),
      day,
      signedCents: 10n ** BigInt(index),
    }));
    const [first] = cutsOf(lines, 2);
    expect(first).toMatchObject({ nsu: 1n, balanceCents: 1n });
    expect(first?.items.map(({ nsu }) => nsu)).toEqual([1n, 4n]);
  });

  it('carries on what the balance jumped by where a person has accepted it, and holds what the lines come to', () => {
    const lines = [{ nsu: 2n, occurredAt: endOf(-1), signedCents: 5n }];
    const jump = { ...lines[0], nsu: 2n, occurredAt: endOf(-1), signedCents: -30n };
    const differences = [{ ...jump, breakId: 'b', reason: null }];
    const cut = cutAfter(empty, { end: endOf(0), lines, following: lines, differences });
    expect([cut.balanceCents, heldAt(cut)]).toEqual([-25n, 5n]);
    const none = { lines: [], following: [], differences: [] };
    expect(cutAfter(cut, { end: endOf(1), ...none })).toEqual(cut);
  });

  it('is straight where each line begins with what the one before it left', () => {
    const following = [5n, 5n, 5n].map((signedCents, index) => ({
      ...{ nsu: BigInt(index + 1), occurredAt: endOf(0), signedCents },
      balancePreviousCents: BigInt(index) * 5n,
      currentBalanceCents: BigInt(index + 1) * 5n,
    }));
    expect(isStraight(empty, following)).toBe(true);
    expect(isStraight(empty, following.slice(1))).toBe(false);
    expect(isStraight(empty, [...following].reverse())).toBe(false);
  });
});
