import fc from 'fast-check';
import { nextNsu, type Numbering } from './next-nsu.js';

const orders = ['nsu', 'commit'] as const;

/** Numbers one line for each order. Returns the nsu of each line and the state after the last. */
function numbered(lineOrders: readonly ('nsu' | 'commit')[], start: Numbering) {
  let state = start;
  const nsus = lineOrders.map((order) => {
    const { nsu, ...next } = nextNsu(state, order);
    state = next;
    return nsu;
  });
  return { nsus, state };
}

const start = { lastNsu: 0n, skippedNsu: null };

it('counts up by one when balances follow the nsu', () => {
  expect(numbered(Array(5).fill('nsu'), start).nsus).toEqual([1n, 2n, 3n, 4n, 5n]);
});

it('swaps each pair of numbers when balances follow the commits', () => {
  expect(numbered(Array(6).fill('commit'), start).nsus).toEqual([2n, 1n, 4n, 3n, 6n, 5n]);
});

it('assigns each number once and skips at most one, whenever the order changes', () => {
  const order = fc.constantFrom(...orders);
  fc.assert(
    fc.property(fc.array(order, { maxLength: 60 }), fc.bigInt(0n, 2n ** 40n), (drawn, lastNsu) => {
      const { nsus, state } = numbered(drawn, { lastNsu, skippedNsu: null });
      expect(new Set(nsus).size).toBe(nsus.length);
      expect(nsus.every((nsu) => nsu > lastNsu && nsu <= state.lastNsu)).toBe(true);
      if (nsus.length > 0) expect(nsus).toContain(state.lastNsu);
      const skipped = state.skippedNsu === null ? 0 : 1;
      expect(BigInt(nsus.length + skipped)).toBe(state.lastNsu - lastNsu);
      if (state.skippedNsu !== null) expect(nsus).not.toContain(state.skippedNsu);
    }),
  );
});

it('assigns a skipped number to the next line, also after the order changed to nsu', () => {
  const { nsus, state } = numbered(['commit', 'nsu', 'nsu', 'nsu'], start);
  expect(nsus).toEqual([2n, 1n, 3n, 4n]);
  expect(state).toEqual({ lastNsu: 4n, skippedNsu: null });
});
