import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { fullBucket, readRetryAfter, takeToken } from './rate-limits.js';

const takeMany = (bucket: { tokens: number; atMs: number }, rate: number, nowMs: number) => {
  let count = 0;
  while (takeToken(bucket, rate, nowMs).isTaken) count += 1;
  return count;
};

it('allows one second’s worth of calls at once and no more', () => {
  expect(takeMany(fullBucket(5, 0), 5, 0)).toBe(5);
  expect(takeMany(fullBucket(1, 0), 1, 0)).toBe(1);
});

it('fills at its rate, up to one second’s worth', () => {
  const bucket = fullBucket(10, 0);
  takeMany(bucket, 10, 0);
  expect(takeMany(bucket, 10, 300)).toBe(3);
  expect(takeMany(bucket, 10, 3_600_000)).toBe(10);
});

it('allows the rate, independent of the interval between calls', () => {
  const bucket = fullBucket(3, 0);
  let taken = 0;
  for (let nowMs = 0; nowMs <= 10_000; nowMs += 7) taken += takeMany(bucket, 3, nowMs);
  expect(taken).toBe(3 + 29);
});

it('returns the time until a token is available', () => {
  const bucket = fullBucket(2, 0);
  takeMany(bucket, 2, 0);
  expect(takeToken(bucket, 2, 0)).toEqual({ isTaken: false, waitMs: 500 });
  expect(takeToken(bucket, 2, 499)).toEqual({ isTaken: false, waitMs: 1 });
  expect(takeToken(bucket, 2, 500)).toEqual({ isTaken: true, waitMs: 0 });
});

it('gives each waiting caller a token, each later than the one before', () => {
  const bucket = fullBucket(2, 0);
  takeMany(bucket, 2, 0);
  expect(takeToken(bucket, 2, 0, 1_000)).toEqual({ isTaken: true, waitMs: 500 });
  expect(takeToken(bucket, 2, 0, 1_000)).toEqual({ isTaken: true, waitMs: 1_000 });
  expect(takeToken(bucket, 2, 0, 1_000)).toEqual({ isTaken: false, waitMs: 1_500 });
});

it('lets waiting callers pass at the rate and no faster', () => {
  const bucket = fullBucket(4, 0);
  const waits = Array.from({ length: 40 }, () => takeToken(bucket, 4, 0, 10_000).waitMs);
  for (const second of [1, 2, 5, 9]) {
    const passed = waits.filter((waitMs) => waitMs <= second * 1_000);
    expect(passed.length).toBe(4 + 4 * second);
  }
});

describe('readRetryAfter', () => {
  const now = new Date('2026-01-01T12:00:00Z');

  it.each<[string, number]>([
    ['0', 0],
    ['120', 120],
    ['007', 7],
    ['999999999', 999_999_999],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30],
    ['Fri, 02 Jan 2026 12:00:00 GMT', 86_400],
  ])('reads %s as %i seconds', (header, seconds) => {
    expect(readRetryAfter(header, now)).toBe(seconds);
  });

  it.each([
    undefined,
    null,
    5,
    ['5'],
    '',
    '-5',
    '5.5',
    '1e9',
    '9'.repeat(400),
    'Infinity',
    'soon',
    'in 5 minutes',
    'Thu, 01 Jan 2026 12:00:00 GMT',
    'Thu, 01 Jan 1970 00:00:00 GMT',
  ])('returns null for %j', (header) => expect(readRetryAfter(header, now)).toBeNull());

  it.each(['try again 2999', 'maintenance (2100)'])(
    'returns null for %s, a text that JavaScript parses as a date',
    (header) => expect(readRetryAfter(header, now)).toBeNull(),
  );

  it('returns null or a number of seconds that is not negative, for every text', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const seconds = readRetryAfter(header, now);
        if (seconds !== null) expect(seconds).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
