import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cutAfter, balanceOfDays, sumSignedCents, type Cut, type CutLine } from './cut.js';

interface Line {
  nsu: bigint;
  day: number;
  signedCents: bigint;
}

const initialCut: Cut = {
  nsu: null,
  balanceCents: 0n,
  straddlingLines: [],
  acceptedDifferences: [],
};
const start = Date.UTC(2026, 2, 1, 3);
const endOf = (day: number) => new Date(start + (day + 1) * 86_400_000);
const occurredAt = ({ day, nsu }: Line) => new Date(start + day * 86_400_000 + Number(nsu));

const followingOf = (lines: CutLine[]) => ({
  lastNsu: lines.at(-1)?.nsu ?? null,
  cents: sumSignedCents(lines),
});

/** The cuts at the end of each day, for a statement that starts at zero. */
function cutsOf(lines: Line[], days: number): Cut[] {
  const byNsu = [...lines]
    .sort((a, b) => (a.nsu < b.nsu ? -1 : 1))
    .map((line) => ({ ...line, occurredAt: occurredAt(line) }));
  let cut = initialCut;
  return Array.from({ length: days }, (_, day) => {
    const dayLines = byNsu.filter((line) => line.day === day);
    const uncounted = byNsu.filter(({ nsu }) => cut.nsu === null || nsu > cut.nsu);
    const following = uncounted.slice(0, dayLines.length);
    cut = cutAfter(cut, {
      end: endOf(day),
      following: followingOf(following),
      straddlingLines: [...dayLines, ...following],
      acceptedDifferences: [],
    });
    return cut;
  });
}

const statements = fc
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

describe('the cut between days and nsu order', () => {
  it('has the sum of all lines up to its day, whatever their nsu', () => {
    fc.assert(
      fc.property(statements, (lines) => {
        cutsOf(lines, 6).forEach((cut, day) => {
          const sum = lines
            .filter((line) => line.day <= day)
            .reduce((total, { signedCents }) => total + signedCents, 0n);
          expect(balanceOfDays(cut)).toBe(sum);
        });
      }),
    );
  });

  it('lists no straddling line where days and nsu agree, nor after the last day', () => {
    fc.assert(
      fc.property(statements, (lines) => {
        const inOrder = [...lines]
          .sort((a, b) => a.day - b.day)
          .map((line, index) => ({ ...line, nsu: BigInt(index + 1) }));
        for (const { straddlingLines } of cutsOf(inOrder, 6)) expect(straddlingLines).toEqual([]);
        expect(cutsOf(lines, 6).at(-1)?.straddlingLines).toEqual([]);
      }),
    );
  });

  it('lists one line on each side when one line has a much higher nsu than its day', () => {
    const lines = [1, 1, 1, 0].map((day, index) => ({
      nsu: BigInt(index + 1),
      day,
      signedCents: 10n ** BigInt(index),
    }));
    const [first] = cutsOf(lines, 2);
    expect(first).toMatchObject({ nsu: 1n, balanceCents: 1n });
    expect(first?.straddlingLines.map(({ nsu }) => nsu)).toEqual([1n, 4n]);
  });

  it('carries an accepted jump to later days, but not into the balance of the lines', () => {
    const lines = [{ nsu: 2n, occurredAt: endOf(-1), signedCents: 5n }];
    const jump = { ...lines[0], nsu: 2n, occurredAt: endOf(-1), signedCents: -30n };
    const acceptedDifferences = [{ ...jump, breakId: 'b', reason: null }];
    const cut = cutAfter(initialCut, {
      end: endOf(0),
      following: followingOf(lines),
      straddlingLines: lines,
      acceptedDifferences,
    });
    expect([cut.balanceCents, balanceOfDays(cut)]).toEqual([-25n, 5n]);
    const empty = { following: followingOf([]), straddlingLines: [], acceptedDifferences: [] };
    expect(cutAfter(cut, { end: endOf(1), ...empty })).toEqual(cut);
  });
});
