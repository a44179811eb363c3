import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { delayAfterAttemptMs } from './delivery-schedule.js';

const dayMs = 86_400_000;
const attempt = fc.integer({ min: 1, max: 9 });
const random = fc.double({ min: 0, max: 1, noNaN: true });

describe('delayAfterAttemptMs', () => {
  it('follows the schedule of Standard Webhooks and ends after the tenth attempt', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => delayAfterAttemptMs(n, null, 0));
    const seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
    expect(delays).toEqual([...seconds.map((second) => second * 1_000), null, null]);
  });

  it('adds up to a tenth to the delay, and never shortens it', () => {
    fc.assert(
      fc.property(attempt, random, (attempts, chance) => {
        const planned = delayAfterAttemptMs(attempts, null, 0) ?? 0;
        const delay = delayAfterAttemptMs(attempts, null, chance) ?? 0;
        expect(delay).toBeGreaterThanOrEqual(planned);
        expect(delay).toBeLessThanOrEqual(planned * 1.1);
      }),
    );
    expect(delayAfterAttemptMs(1, null, 1)).toBe(5_500);
  });

  it('respects Retry-After, up to a day and never below the schedule', () => {
    expect(delayAfterAttemptMs(1, 60, 0.5)).toBe(60_000);
    expect(delayAfterAttemptMs(1, 1, 0)).toBe(5_000);
    expect(delayAfterAttemptMs(1, 0, 0)).toBe(5_000);
    expect(delayAfterAttemptMs(1, 999_999_999, 0)).toBe(dayMs);
    fc.assert(
      fc.property(attempt, fc.nat(), random, (attempts, retryAfter, chance) => {
        expect(delayAfterAttemptMs(attempts, retryAfter, chance)).toBeLessThanOrEqual(dayMs * 1.1);
      }),
    );
  });

  it('adds no attempt for a Retry-After', () => {
    expect(delayAfterAttemptMs(10, 5, 0)).toBeNull();
  });
});
