import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { linkWindow, walkChain, type Link } from './chain.js';

/** Lines that change a balance of 100.00 by these cents, one after another. */
function linked(changes: number[]): Link[] {
  let balance = 10_000n;
  return changes.map((cents, index) => {
    const previous = balance;
    balance += BigInt(cents);
    return { nsu: BigInt(index + 1), previous, current: balance, signed: BigInt(cents) };
  });
}

/** The lines in another order, numbered as they then stand. */
function renumbered(links: Link[], order: number[]): Link[] {
  return order.map((at, index) => ({ ...(links[at] as Link), nsu: BigInt(index + 1) }));
}

const walk = (links: Link[]) => walkChain(links, { start: null });

describe('the chain of balances', () => {
  it('is whole where each line begins with what the one before it left', () => {
    expect(walk(linked([5, -3, 7]))).toMatchObject({ gap: null, balance: 10_009n });
    expect(walk([])).toMatchObject({ gap: null, balance: null });
  });

  it('has a hole where a line is missing, and says what it had come to', () => {
    const links = linked([5, -3, 7, 9]).filter(({ nsu }) => nsu !== 3n);
    expect(walk(links).gap).toEqual({ nsu: 4n, afterNsu: 2n, balanceCents: 10_002n });
  });

  it('has a hole at a line that does not add up', () => {
    const links = linked([5, -3, 7]).map((link) =>
      link.nsu === 2n ? { ...link, signed: 0n } : link,
    );
    expect(walk(links).gap?.nsu).toBe(2n);
  });

  it('goes on past a hole that a person has accepted', () => {
    const links = linked([5, -3, 7, 9, 4, 1]).filter(({ nsu }) => nsu !== 3n && nsu !== 5n);
    const accept = (nsu: bigint, cents: bigint) =>
      walkChain(links, {
        start: null,
        isAccepted: (jump) => jump.nsu === nsu && jump.cents === cents,
      });
    expect(accept(4n, 7n).jumps).toEqual([{ nsu: 4n, cents: 7n }]);
    expect(accept(4n, 7n).gap?.nsu).toBe(6n);
    expect(accept(4n, 6n).gap?.nsu).toBe(4n);
  });

  it.each([
    ['pairs that are swapped', [1, 0, 3, 2, 5, 4]],
    ['the first far behind', [1, 2, 3, 4, 5, 0]],
    ['the last far before', [5, 0, 1, 2, 3, 4]],
  ])('links neighbours by their balances: %s', (_, order) => {
    const links = linked([5, -3, 7, 9, 4, 1]);
    expect(walk(renumbered(links, order))).toMatchObject({ gap: null, balance: 10_023n });
  });

  it('takes lines that go to and fro into it, where their numbers stand after those that follow', () => {
    // 100.00 → 100.01 → 100.00 → 100.02, the last numbered first.
    const links = renumbered(linked([1, -1, 2, 5]), [2, 0, 1, 3]);
    expect(walk(links)).toMatchObject({ gap: null, balance: 10_007n });
  });

  it('is linked in whatever order the numbers stand within the window', () => {
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
        expect(walk(renumbered(linked(changes), order)).gap).toBeNull();
      }),
      { numRuns: 200 },
    );
  });

  it('does not link what a missing net amount tears apart, in whatever order the numbers stand', () => {
    const changes = Array.from({ length: 12 }, (_, index) => 100 + index * 17);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.shuffledSubarray([...changes.keys()], { minLength: changes.length }),
        (missing, order) => {
          const links = renumbered(
            linked(changes),
            order.filter((at) => at !== missing),
          );
          expect(walk(links).gap).not.toBeNull();
        },
      ),
      { numRuns: 100 },
    );
  });

  it('walks a long history in pieces as it does whole', () => {
    const links = renumbered(
      linked(Array.from({ length: 500 }, (_, index) => ((index * 7) % 13) - 6 || 1)),
      Array.from({ length: 500 }, (_, index) => index ^ 1),
    );
    let from = 0;
    let start: bigint | null = null;
    for (let end = 120; end < 500; end += 60) {
      const walked = walkChain(links.slice(from, end), { start, isCut: true });
      expect(walked.gap).toBeNull();
      [from, start] = [from + walked.resume.index, walked.resume.balance];
    }
    const whole = walk(links);
    expect(walkChain(links.slice(from), { start })).toMatchObject({
      gap: null,
      balance: whole.balance,
    });
    expect(links.length - from).toBeLessThan(4 * linkWindow);
  });
});
