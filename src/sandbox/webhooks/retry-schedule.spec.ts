import { retryDelayMs } from './retry-schedule.js';

it('waits longer after each failure, from one second on, and ends after more than a day', () => {
  const delays: number[] = [];
  for (let failures = 1; ; failures += 1) {
    const delayMs = retryDelayMs(failures);
    if (delayMs === null) break;
    delays.push(delayMs);
  }
  expect(delays[0]).toBe(1_000);
  expect(delays).toEqual([...delays].sort((a, b) => a - b));
  expect(delays.reduce((sum, delay) => sum + delay, 0)).toBeGreaterThan(86_400_000);
});
