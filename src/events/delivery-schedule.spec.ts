import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pauseAfterAttemptMs } from './delivery-schedule.js';

const dayMs = 86_400_000;
const attempt = fc.integer({ min: 1, max: 9 });
const random = fc.double({ min: 0, max: 1, noNaN: true });

describe('pauseAfterAttemptMs', () => {
  it('follows the schedule of Standard Webhooks and ends after the tenth attempt', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => pauseAfterAttemptMs(n, null, 0));
    const seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
    expect(pauses).toEqual([...seconds.map((one) => one * 1_000), null, null]);
  });

  it('scatters what waits by up to a tenth, later and never earlier', () => {
    fc.assert(
      fc.property(attempt, random, (attempts, chance) => {
        const planned = pauseAfterAttemptMs(attempts, null, 0) ?? 0;
        const pause = pauseAfterAttemptMs(attempts, null, chance) ?? 0;
        expect(pause).toBeGreaterThanOrEqual(planned);
        expect(pause).toBeLessThanOrEqual(planned * 1.1);
      }),
    );
    expect(pauseAfterAttemptMs(1, null, 1)).toBe(5_500);
  });

  it('waits as long as the endpoint asks, but never over a day and never less than planned', () => {
    expect(pauseAfterAttemptMs(1, 60, 0.5)).toBe(60_000);
    expect(pauseAfterAttemptMs(1, 1, 0)).toBe(5_000);
    expect(pauseAfterAttemptMs(1, 0, 0)).toBe(5_000);
    expect(pauseAfterAttemptMs(1, 999_999_999, 0)).toBe(dayMs);
    fc.assert(
      fc.property(attempt, fc.nat(), random, (attempts, asked, chance) => {
        expect(pauseAfterAttemptMs(attempts, asked, chance)).toBeLessThanOrEqual(dayMs * 1.1);
      }),
    );
  });

  it('gives no attempt more because the endpoint asks for a pause', () => {
    expect(pauseAfterAttemptMs(10, 5, 0)).toBeNull();
  });
});
