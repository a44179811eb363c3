import fc from 'fast-check';
import { nextNsu, type Numbering } from './next-nsu.js';

const orders = ['nsu', 'commit'] as const;

/** The nsu of lines one after another, and what is left. */
function numbered(given: readonly ('nsu' | 'commit')[], start: Numbering) {
  let state = start;
  const nsus = given.map((order) => {
    const { nsu, ...left } = nextNsu(state, order);
    state = left;
    return nsu;
  });
  return { nsus, state };
}

const start = { lastNsu: 0n, skippedNsu: null };

it('counts up by one in the order of nsu', () => {
  expect(numbered(Array(5).fill('nsu'), start).nsus).toEqual([1n, 2n, 3n, 4n, 5n]);
});

it('swaps each two in the order of commits', () => {
  expect(numbered(Array(6).fill('commit'), start).nsus).toEqual([2n, 1n, 4n, 3n, 6n, 5n]);
});

it('gives each number once and leaves out one at most, whenever the order changes', () => {
  const order = fc.constantFrom(...orders);
  fc.assert(
    fc.property(fc.array(order, { maxLength: 60 }), fc.bigInt(0n, 2n ** 40n), (given, lastNsu) => {
      const { nsus, state } = numbered(given, { lastNsu, skippedNsu: null });
      expect(new Set(nsus).size).toBe(nsus.length);
      expect(nsus.every((nsu) => nsu > lastNsu && nsu <= state.lastNsu)).toBe(true);
      if (nsus.length > 0) expect(nsus).toContain(state.lastNsu);
      const open = state.skippedNsu === null ? 0 : 1;
      expect(BigInt(nsus.length + open)).toBe(state.lastNsu - lastNsu);
      if (state.skippedNsu !== null) expect(nsus).not.toContain(state.skippedNsu);
    }),
  );
});

it('gives the number that waits to the next line, also when the order has become that of nsu', () => {
  const { nsus, state } = numbered(['commit', 'nsu', 'nsu', 'nsu'], start);
  expect(nsus).toEqual([2n, 1n, 3n, 4n]);
  expect(state).toEqual({ lastNsu: 4n, skippedNsu: null });
});
