import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { DiscoveryService } from '@nestjs/core';
import type { Settings } from '../settings/config.js';
import type { Log } from '../log.js';
import { Every } from './timer-methods.js';
import { Timers } from './timers.js';

class Sweeper {
  runs = 0;
  /** The current run waits for it. */
  blocker = Promise.resolve();

  @Every('sweep', 1_000)
  async sweep(): Promise<void> {
    this.runs++;
    await this.blocker;
  }
}

class Failing {
  runs = 0;

  @Every('failing', 1_000)
  fail(): Promise<void> {
    this.runs++;
    return Promise.reject(new Error('no connection'));
  }
}

function timersOf(...providers: object[]) {
  const discovery = { getProviders: () => providers.map((instance) => ({ instance })) };
  const error = jest.fn();
  const timers = new Timers(
    discovery as unknown as DiscoveryService,
    {} as Settings,
    { error } as unknown as Log,
  );
  timers.onModuleInit();
  return { timers, error };
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('starts one task before the others, and runs it at its interval with them', async () => {
  const [sweeper, failing] = [new Sweeper(), new Failing()];
  const { timers } = timersOf(sweeper, failing);
  const first = timers.startFirst('failing');
  await jest.advanceTimersByTimeAsync(0);
  await first;
  expect([failing.runs, sweeper.runs]).toEqual([1, 0]);
  timers.start();
  await jest.advanceTimersByTimeAsync(0);
  expect([failing.runs, sweeper.runs]).toEqual([1, 1]);
  await jest.advanceTimersByTimeAsync(2_000);
  expect([failing.runs, sweeper.runs]).toEqual([3, 3]);
});

it('runs a method at the start and then at its interval', async () => {
  const sweeper = new Sweeper();
  const { timers } = timersOf(sweeper);
  timers.start();
  await jest.advanceTimersByTimeAsync(0);
  expect(sweeper.runs).toBe(1);
  await jest.advanceTimersByTimeAsync(999);
  expect(sweeper.runs).toBe(1);
  await jest.advanceTimersByTimeAsync(1_001);
  expect(sweeper.runs).toBe(3);
});

it('runs nothing in a process that does not start its timers', async () => {
  const sweeper = new Sweeper();
  timersOf(sweeper);
  await jest.advanceTimersByTimeAsync(10_000);
  expect(sweeper.runs).toBe(0);
});

it('begins the interval when the previous run has ended', async () => {
  const sweeper = new Sweeper();
  let end = () => {};
  sweeper.blocker = new Promise((resolve) => (end = resolve));
  const { timers } = timersOf(sweeper);
  timers.start();
  await jest.advanceTimersByTimeAsync(5_000);
  expect(sweeper.runs).toBe(1);
  end();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(sweeper.runs).toBe(2);
});

it('runs methods at the same moments although their runs take different times', async () => {
  const fast = new Sweeper();
  const startedAt: number[] = [];
  class Slow {
    @Every('slow', 2_000)
    async run(): Promise<void> {
      startedAt.push(performance.now());
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
  const { timers } = timersOf(fast, new Slow());
  const start = performance.now();
  timers.start();
  await jest.advanceTimersByTimeAsync(6_000);
  expect(fast.runs).toBe(7);
  expect(startedAt.map((time) => Math.round(time - start))).toEqual([0, 2_000, 4_000, 6_000]);
});

it('reports a failed run, and runs the method again', async () => {
  const failing = new Failing();
  const { timers, error } = timersOf(failing);
  timers.start();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(failing.runs).toBe(2);
  expect(error).toHaveBeenCalledTimes(2);
  expect(error).toHaveBeenCalledWith(
    { err: new Error('no connection'), task: 'failing' },
    'periodic task failed',
  );
});

it('waits for the running method at shutdown, and starts no other run', async () => {
  const sweeper = new Sweeper();
  let end = () => {};
  sweeper.blocker = new Promise((resolve) => (end = resolve));
  const { timers } = timersOf(sweeper);
  timers.start();
  await jest.advanceTimersByTimeAsync(0);
  let isStopped = false;
  const stopping = timers.beforeApplicationShutdown().then(() => (isStopped = true));
  await jest.advanceTimersByTimeAsync(2_000);
  expect(isStopped).toBe(false);
  end();
  await stopping;
  await jest.advanceTimersByTimeAsync(5_000);
  expect(sweeper.runs).toBe(1);
});
