import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { linkWindow, checkBalanceChain, type ChainLink } from './balance-chain.js';

/** Lines that change a balance of 100.00 by these cents, one after another. */
function linked(changes: number[]): ChainLink[] {
  let balance = 10_000n;
  return changes.map((cents, index) => {
    const previous = balance;
    balance += BigInt(cents);
    return { nsu: BigInt(index + 1), previous, current: balance, signed: BigInt(cents) };
  });
}

/** The lines in another order, renumbered by that order. */
function renumbered(links: ChainLink[], order: number[]): ChainLink[] {
  return order.map((position, index) => ({
    ...(links[position] as ChainLink),
    nsu: BigInt(index + 1),
  }));
}

const check = (links: ChainLink[]) => checkBalanceChain(links, { start: null });

describe('the balance chain', () => {
  it('has no gap when each line begins with the balance of the line before', () => {
    expect(check(linked([5, -3, 7]))).toMatchObject({ gap: null, balance: 10_009n });
    expect(check([])).toMatchObject({ gap: null, balance: null });
  });

  it('has a gap where a line is missing, and reports the balance reached before it', () => {
    const links = linked([5, -3, 7, 9]).filter(({ nsu }) => nsu !== 3n);
    expect(check(links).gap).toEqual({ nsu: 4n, afterNsu: 2n, balanceCents: 10_002n });
  });

  it('has a gap at a line whose amount does not match its balances', () => {
    const links = linked([5, -3, 7]).map((link) =>
      link.nsu === 2n ? { ...link, signed: 0n } : link,
    );
    expect(check(links).gap?.nsu).toBe(2n);
  });

  it('continues after a gap that a person accepted with the same jump', () => {
    const links = linked([5, -3, 7, 9, 4, 1]).filter(({ nsu }) => nsu !== 3n && nsu !== 5n);
    const accept = (nsu: bigint, cents: bigint) =>
      checkBalanceChain(links, {
        start: null,
        isAccepted: (jump) => jump.nsu === nsu && jump.cents === cents,
      });
    expect(accept(4n, 7n).jumps).toEqual([{ nsu: 4n, cents: 7n }]);
    expect(accept(4n, 7n).gap?.nsu).toBe(6n);
    expect(accept(4n, 6n).gap?.nsu).toBe(4n);
  });

  it.each([
    ['swapped pairs', [1, 0, 3, 2, 5, 4]],
    ['the first line numbered last', [1, 2, 3, 4, 5, 0]],
    ['the last line numbered first', [5, 0, 1, 2, 3, 4]],
  ])('links nearby lines by their balances: %s', (_, order) => {
    const links = linked([5, -3, 7, 9, 4, 1]);
    expect(check(renumbered(links, order))).toMatchObject({ gap: null, balance: 10_023n });
  });

  it('links lines that cancel out, although later lines have lower numbers', () => {
    // 100.00 → 100.01 → 100.00 → 100.02, the last numbered first.
    const links = renumbered(linked([1, -1, 2, 5]), [2, 0, 1, 3]);
    expect(check(links)).toMatchObject({ gap: null, balance: 10_007n });
  });

  it('has no gap whatever the order of numbers within the window', () => {
    const shuffled = fc
      .array(
        fc.integer({ min: -9, max: 9 }).filter((cents) => cents !== 0),
        {
          minLength: 1,
          maxLength: 20,
        },
      )
      .chain((changes) =>
        fc.tuple(
          fc.constant(changes),
          fc.shuffledSubarray([...changes.keys()], { minLength: changes.length }),
        ),
      );
    fc.assert(
      fc.property(shuffled, ([changes, order]) => {
        expect(check(renumbered(linked(changes), order)).gap).toBeNull();
      }),
      { numRuns: 200 },
    );
  });

  it('has a gap wherever a net amount is missing, whatever the order of numbers', () => {
    const changes = Array.from({ length: 12 }, (_, index) => 100 + index * 17);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.shuffledSubarray([...changes.keys()], { minLength: changes.length }),
        (missing, order) => {
          const links = renumbered(
            linked(changes),
            order.filter((position) => position !== missing),
          );
          expect(check(links).gap).not.toBeNull();
        },
      ),
      { numRuns: 100 },
    );
  });

  it('gives the same result for a long history in pieces as in one check', () => {
    const links = renumbered(
      linked(Array.from({ length: 500 }, (_, index) => ((index * 7) % 13) - 6 || 1)),
      Array.from({ length: 500 }, (_, index) => index ^ 1),
    );
    let from = 0;
    let start: bigint | null = null;
    for (let end = 120; end < 500; end += 60) {
      const piece = checkBalanceChain(links.slice(from, end), { start, isCut: true });
      expect(piece.gap).toBeNull();
      [from, start] = [from + piece.resume.index, piece.resume.balance];
    }
    const whole = check(links);
    expect(checkBalanceChain(links.slice(from), { start })).toMatchObject({
      gap: null,
      balance: whole.balance,
    });
    expect(links.length - from).toBeLessThan(4 * linkWindow);
  });
});
