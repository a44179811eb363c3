// Sets the clock of the test's process, without its timers and without PostgreSQL's clock.
import { jest } from '@jest/globals';

const dayMs = 86_400_000;

/** Runs `work` while this process's clock is off by a number of days. */
export async function withClockOffBy<Result>(
  days: number,
  work: () => Promise<Result>,
): Promise<Result> {
  jest.useFakeTimers({
    now: Date.now() + days * dayMs,
    advanceTimers: true,
    doNotFake: [
      ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
      ...(['setImmediate', 'clearImmediate', 'setInterval', 'clearInterval'] as const),
      ...(['setTimeout', 'clearTimeout'] as const),
    ],
  });
  try {
    return await work();
  } finally {
    jest.useRealTimers();
  }
}
