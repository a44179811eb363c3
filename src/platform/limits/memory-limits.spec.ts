import { describe, expect, it } from '@jest/globals';
import { openLimits } from './limits.js';
import { OpenCounts, TokenBuckets } from './memory-limits.js';

const takeMany = (buckets: TokenBuckets<string>, rate: number, nowMs: number) => {
  let count = 0;
  while (buckets.take('a', rate, nowMs).isTaken) count += 1;
  return count;
};

it('allows one second’s worth of calls at once and no more', () => {
  expect(takeMany(new TokenBuckets(), 5, 0)).toBe(5);
  expect(takeMany(new TokenBuckets(), 1, 0)).toBe(1);
});

it('fills at its rate, up to one second’s worth', () => {
  const buckets = new TokenBuckets<string>();
  takeMany(buckets, 10, 0);
  expect(takeMany(buckets, 10, 300)).toBe(3);
  expect(takeMany(buckets, 10, 3_600_000)).toBe(10);
});

it('allows the rate, independent of the interval between calls', () => {
  const buckets = new TokenBuckets<string>();
  let taken = 0;
  for (let nowMs = 0; nowMs <= 10_000; nowMs += 7) taken += takeMany(buckets, 3, nowMs);
  expect(taken).toBe(3 + 29);
});

it('returns the time until a token is available', () => {
  const buckets = new TokenBuckets<string>();
  takeMany(buckets, 2, 0);
  expect(buckets.take('a', 2, 0)).toEqual({ isTaken: false, waitMs: 500 });
  expect(buckets.take('a', 2, 499)).toEqual({ isTaken: false, waitMs: 1 });
  expect(buckets.take('a', 2, 500)).toEqual({ isTaken: true, waitMs: 0 });
});

it('gives each waiting caller a token, each later than the one before', () => {
  const buckets = new TokenBuckets<string>();
  takeMany(buckets, 2, 0);
  expect(buckets.take('a', 2, 0, 1_000)).toEqual({ isTaken: true, waitMs: 500 });
  expect(buckets.take('a', 2, 0, 1_000)).toEqual({ isTaken: true, waitMs: 1_000 });
  expect(buckets.take('a', 2, 0, 1_000)).toEqual({ isTaken: false, waitMs: 1_500 });
});

it('lets waiting callers pass at the rate and no faster', () => {
  const buckets = new TokenBuckets<string>();
  const waits = Array.from({ length: 40 }, () => buckets.take('a', 4, 0, 10_000).waitMs);
  for (const second of [1, 2, 5, 9]) {
    const passed = waits.filter((waitMs) => waitMs <= second * 1_000);
    expect(passed.length).toBe(4 + 4 * second);
  }
});

it('starts with a full bucket where the rate is another one', () => {
  const buckets = new TokenBuckets<string>();
  takeMany(buckets, 2, 0);
  expect([takeMany(buckets, 3, 0), takeMany(buckets, 3, 0)]).toEqual([3, 0]);
});

it('forgets the subject that was used least recently when there are too many', () => {
  const buckets = new TokenBuckets<string>(3);
  const take = (subject: string) => buckets.take(subject, 1, 0).isTaken;
  expect(['a', 'b', 'c', 'a'].map(take)).toEqual([true, true, true, false]);
  // The fourth subject takes the place of b.
  expect(['d', 'a', 'c', 'b'].map(take)).toEqual([true, false, false, true]);
});

it('forgets buckets that are full again, and none that owes tokens', () => {
  const buckets = new TokenBuckets<string>();
  for (let call = 0; call < 5; call += 1) buckets.take('waits', 1, 0, 10_000);
  buckets.take('idle', 1, 0);
  expect(buckets.take('other', 1, 2_000).isTaken).toBe(true);
  expect(buckets.take('waits', 1, 2_000)).toEqual({ isTaken: false, waitMs: 3_000 });
  expect(buckets.take('idle', 1, 2_000).isTaken).toBe(true);
});

describe('places', () => {
  it('of a host are no more than its limit, whatever other hosts have', () => {
    const hosts = new OpenCounts<string>({ most: 25 });
    expect([hosts.take('a', 10), hosts.take('a', 10), hosts.take('a', 10)]).toEqual([10, 10, 5]);
    expect([hosts.take('a', 10), hosts.take('b', 10)]).toEqual([0, 10]);
    hosts.free('a', 5);
    expect([hosts.take('a', 10), hosts.take('a', 1)]).toEqual([5, 0]);
  });

  it('are refused with the words of their limit when all are taken, and freed once', () => {
    const files = new OpenCounts<number>(openLimits.exportFiles);
    const [close] = [1, 2, 3, 4].map(() => files.begin(1));
    const refused = expect.objectContaining({
      status: 429,
      details: {
        public: 'An account can have at most 4 open export files. Retry when one ends.',
        headers: { 'Retry-After': '10' },
      },
    });
    const begin = () => {
      try {
        return files.begin(1);
      } catch (error) {
        return error;
      }
    };
    expect(begin()).toEqual(refused);
    files.begin(2);
    close?.();
    close?.();
    expect(begin()).toBeInstanceOf(Function);
    expect(begin()).toEqual(refused);
  });
});
