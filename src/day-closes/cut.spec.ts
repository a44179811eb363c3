import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cutAfter, heldAt, type Cut } from './cut.js';

interface Line {
  nsu: bigint;
  day: number;
  signedCents: bigint;
}

const start = Date.UTC(2026, 2, 1, 3);
const endOf = (day: number) => new Date(start + (day + 1) * 86_400_000);
const occurredAt = ({ day, nsu }: Line) => new Date(start + day * 86_400_000 + Number(nsu));

/** The cuts at the end of each day of a book that began with nothing. */
function cutsOf(lines: Line[], days: number): Cut[] {
  let balance = 0n;
  const byNsu = [...lines]
    .sort((a, b) => (a.nsu < b.nsu ? -1 : 1))
    .map((line) => {
      balance += line.signedCents;
      return { ...line, occurredAt: occurredAt(line), currentBalanceCents: balance };
    });
  let cut: Cut = { nsu: null, balanceCents: 0n, items: [] };
  return Array.from({ length: days }, (_, day) => {
    const ofDay = byNsu.filter((line) => line.day === day);
    const following = byNsu.filter(({ nsu }) => cut.nsu === null || nsu > cut.nsu);
    cut = cutAfter(cut, endOf(day), ofDay, following.slice(0, ofDay.length));
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

  it('does not hold what a book with a missing line adds up to', () => {
    const whole = [0, 0, 1].map((day, index) => ({ nsu: BigInt(index + 1), day, signedCents: 5n }));
    const balances = [5n, 10n, 15n];
    const kept = whole
      .map((line, index) => ({
        ...line,
        occurredAt: occurredAt(line),
        currentBalanceCents: balances[index] ?? 0n,
      }))
      .filter(({ nsu }) => nsu !== 1n);
    const empty: Cut = { nsu: null, balanceCents: 0n, items: [] };
    const cut = cutAfter(empty, endOf(0), kept.slice(0, 1), kept.slice(0, 1));
    expect(heldAt(cut)).toBe(10n);
  });
});
