import { expect, it } from '@jest/globals';
import type { Settings } from '../settings/config.js';
import { Every, findTimerTasks } from './timer-methods.js';

const settings = { syncIntervalMs: 30_000 } as Settings;

class Cleanup {
  runs = 0;

  @Every('cleanup', 5_000)
  run(): Promise<void> {
    this.runs++;
    return Promise.resolve();
  }
}

class StatementSyncs {
  @Every('syncs', ({ syncIntervalMs }) => syncIntervalMs / 2)
  enqueueDue(): Promise<void> {
    return Promise.resolve();
  }

  @Every('overdue-syncs', ({ syncIntervalMs }) => syncIntervalMs)
  enqueueOverdue(): Promise<void> {
    return Promise.resolve();
  }

  /** Not a timer. */
  sync(): Promise<void> {
    return Promise.resolve();
  }
}

it('finds the method of each timer, bound to its provider', async () => {
  const cleanup = new Cleanup();
  // A provider may be listed twice, and may be a value that is not an object.
  const [task, ...others] = findTimerTasks([cleanup, null, 'text', () => 1, cleanup], settings);
  expect(task).toMatchObject({ name: 'cleanup', everyMs: 5_000 });
  expect(others).toEqual([]);
  await task?.work();
  expect(cleanup.runs).toBe(1);
});

it('computes an interval that depends on the settings', () => {
  const tasks = findTimerTasks([new StatementSyncs()], settings);
  expect(tasks.map(({ name, everyMs }) => [name, everyMs])).toEqual([
    ['syncs', 15_000],
    ['overdue-syncs', 30_000],
  ]);
});

it('throws for a timer with two methods, and names both', () => {
  class OtherCleanup {
    @Every('cleanup', 1_000)
    clean(): Promise<void> {
      return Promise.resolve();
    }
  }
  expect(() => findTimerTasks([new Cleanup(), new OtherCleanup()], settings)).toThrow(
    "timer cleanup must have exactly one method with @Every('cleanup'), found Cleanup.run, OtherCleanup.clean",
  );
});

it('throws for a class that two modules provide, so that its work does not run twice', () => {
  expect(() => findTimerTasks([new Cleanup(), new Cleanup()], settings)).toThrow(
    "timer cleanup must have exactly one method with @Every('cleanup'), found Cleanup.run, Cleanup.run",
  );
});

it('accepts only methods that need no argument', () => {
  class Wrong {
    // @ts-expect-error a timer passes no account
    @Every('wrong', 1_000)
    sync(accountId: number): Promise<void> {
      return Promise.reject(new Error(String(accountId)));
    }
  }
  expect(new Wrong()).toBeDefined();
});
