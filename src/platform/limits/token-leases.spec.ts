import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TokenLeases, type TokenLimit } from './token-leases.js';

const limitOf = (subject: string, batch = 10): TokenLimit => ({ subject, batch, pauseMs: 100 });

let nowMs: number;

beforeEach(() => {
  nowMs = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Leases from a store that has so many tokens of each subject. */
function leasesFrom(stored: Record<string, number>) {
  const calls: string[][] = [];
  const leases = new TokenLeases<TokenLimit>(async (limits) => {
    calls.push(limits.map(({ subject }) => subject));
    await Promise.resolve();
    return new Map(
      limits.map(({ subject, batch }) => {
        const granted = Math.min(batch, stored[subject] ?? 0);
        stored[subject] = (stored[subject] ?? 0) - granted;
        return [subject, granted];
      }),
    );
  });
  const takeMany = async (count: number, ...limits: TokenLimit[]) => {
    const waits = await Promise.all(Array.from({ length: count }, () => leases.take(limits)));
    return waits.filter((waitMs) => waitMs === 0).length;
  };
  return { leases, calls, stored, takeMany };
}

describe('a token', () => {
  it('is leased with a batch of others, which need no further lease', async () => {
    const { calls, takeMany } = leasesFrom({ a: 1_000 });
    expect(await takeMany(100, limitOf('a', 50))).toBe(100);
    expect(calls).toEqual([['a'], ['a']]);
  });

  it('is not given twice, however many want it at once', async () => {
    const { takeMany } = leasesFrom({ a: 25 });
    expect(await takeMany(100, limitOf('a'))).toBe(25);
  });

  it('of each limit is taken, or none', async () => {
    const { takeMany } = leasesFrom({ key: 30, account: 10 });
    expect(await takeMany(20, limitOf('key'), limitOf('account'))).toBe(10);
    expect(await takeMany(20, limitOf('key'))).toBe(20);
  });

  it('runs out when it is not used, so that a process holds none for long', async () => {
    const { calls, stored, takeMany } = leasesFrom({ a: 30 });
    await takeMany(1, limitOf('a'));
    nowMs += 10_001;
    await takeMany(1, limitOf('a'));
    expect([calls.length, stored.a]).toEqual([2, 10]);
  });
});

describe('without tokens', () => {
  it('a process does not ask again until the pause is over', async () => {
    const { leases, calls, stored, takeMany } = leasesFrom({ a: 5 });
    expect(await takeMany(50, limitOf('a'))).toBe(5);
    stored.a = 100;
    nowMs += 60;
    expect(await leases.take([limitOf('a')])).toBe(40);
    expect(calls).toHaveLength(1);
    nowMs += 40;
    expect(await leases.take([limitOf('a')])).toBe(0);
  });

  it('of one subject, the others are not refused', async () => {
    const { leases, takeMany } = leasesFrom({ b: 5 });
    expect(await leases.take([limitOf('a')])).toBe(100);
    expect(await takeMany(5, limitOf('b'))).toBe(5);
  });
});

it('leases what is wanted during a lease together, in the next one', async () => {
  const { calls, takeMany } = leasesFrom({ a: 10, b: 10, c: 10 });
  await Promise.all(['a', 'b', 'c', 'b'].map((subject) => takeMany(1, limitOf(subject))));
  expect(calls).toEqual([['a', 'b', 'c']]);
});

it('throws what the lease throws, and leases again', async () => {
  let isAway = true;
  const leases = new TokenLeases<TokenLimit>((limits) =>
    isAway
      ? Promise.reject(new Error('away'))
      : Promise.resolve(new Map(limits.map(({ subject }) => [subject, 1]))),
  );
  await expect(leases.take([limitOf('a')])).rejects.toThrow('away');
  isAway = false;
  expect(await leases.take([limitOf('a')])).toBe(0);
});
