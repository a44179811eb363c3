import { fullBucket, takeToken } from './token-bucket.js';

const takeMany = (bucket: { tokens: number; atMs: number }, rate: number, nowMs: number) => {
  let count = 0;
  while (takeToken(bucket, rate, nowMs).isTaken) count += 1;
  return count;
};

it('allows one second’s worth at once and no more', () => {
  expect(takeMany(fullBucket(5, 0), 5, 0)).toBe(5);
  expect(takeMany(fullBucket(1, 0), 1, 0)).toBe(1);
});

it('fills at its rate, and never beyond one second’s worth', () => {
  const bucket = fullBucket(10, 0);
  takeMany(bucket, 10, 0);
  expect(takeMany(bucket, 10, 300)).toBe(3);
  expect(takeMany(bucket, 10, 3_600_000)).toBe(10);
});

it('allows the rate, whatever the steps in which it is asked', () => {
  const bucket = fullBucket(3, 0);
  let taken = 0;
  for (let nowMs = 0; nowMs <= 10_000; nowMs += 7) taken += takeMany(bucket, 3, nowMs);
  expect(taken).toBe(3 + 29);
});

it('tells whole seconds after which there is a token, one at least', () => {
  const bucket = fullBucket(2, 0);
  takeMany(bucket, 2, 0);
  expect(takeToken(bucket, 2, 0)).toEqual({ isTaken: false, retryAfterSeconds: 1 });
  expect(takeToken(bucket, 2, 1_000)).toEqual({ isTaken: true });
});
