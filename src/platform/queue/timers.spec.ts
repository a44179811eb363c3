import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { currentTrace } from '../trace.js';
import { Every, Timers } from './timers.js';

class Sweeper {
  traces: unknown[] = [];
  /** The current run waits for it. */
  blocker = Promise.resolve();

  @Every('sweep', 1)
  async sweep(): Promise<void> {
    this.traces.push(currentTrace().traceId);
    await this.blocker;
  }
}

class Failing {
  runs = 0;

  @Every('failing', 5)
  fail(): Promise<void> {
    this.runs++;
    return Promise.reject(new Error('no connection'));
  }
}

class TimersModule {}

let application: INestApplicationContext;
let sweeper: Sweeper;
let failing: Failing;
let timers: Timers;
const logged = jest.fn();

beforeEach(async () => {
  logged.mockClear();
  const logger = { log: () => undefined, warn: () => undefined, error: logged };
  application = await NestFactory.createApplicationContext(
    {
      module: TimersModule,
      imports: [DiscoveryModule, ScheduleModule.forRoot()],
      providers: [Timers, Sweeper, Failing],
    },
    { logger },
  );
  [sweeper, failing] = [application.get(Sweeper), application.get(Failing)];
  timers = application.get(Timers);
  jest.useFakeTimers({ now: 0 });
});
afterEach(async () => {
  jest.useRealTimers();
  await application.close();
});

const runs = () => [sweeper.traces.length, failing.runs];

it('runs nothing in a process that does not start its timers', async () => {
  await jest.advanceTimersByTimeAsync(10_000);
  expect(runs()).toEqual([0, 0]);
});

it('runs a method at the start and then at its times, in a trace of its own', async () => {
  timers.start();
  await jest.advanceTimersByTimeAsync(500);
  expect(runs()).toEqual([1, 1]);
  await jest.advanceTimersByTimeAsync(9_000);
  expect(runs()).toEqual([10, 2]);
  expect(new Set(sweeper.traces).size).toBe(10);
});

it('starts one task before the others, and runs it at its times with them', async () => {
  await timers.startFirst('failing');
  expect(runs()).toEqual([0, 1]);
  timers.start();
  await jest.advanceTimersByTimeAsync(5_500);
  expect(runs()).toEqual([6, 2]);
});

it('never begins a run before the previous one has ended', async () => {
  let end = () => {};
  sweeper.blocker = new Promise((resolve) => (end = resolve));
  timers.start();
  await jest.advanceTimersByTimeAsync(5_500);
  expect(sweeper.traces).toHaveLength(1);
  end();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(sweeper.traces).toHaveLength(2);
});

it('logs a failed run with its cause, and runs the method again', async () => {
  timers.start();
  await jest.advanceTimersByTimeAsync(5_500);
  expect(failing.runs).toBe(2);
  expect(logged).toHaveBeenCalledTimes(2);
  expect(logged.mock.calls[0]?.[0]).toMatchObject({
    message: 'periodic task failing failed',
    cause: new Error('no connection'),
  });
});

it('waits for the running method at shutdown, and starts no other run', async () => {
  let end = () => {};
  sweeper.blocker = new Promise((resolve) => (end = resolve));
  timers.start();
  await jest.advanceTimersByTimeAsync(500);
  let isStopped = false;
  const stopping = timers.beforeApplicationShutdown().then(() => (isStopped = true));
  await jest.advanceTimersByTimeAsync(2_000);
  expect(isStopped).toBe(false);
  end();
  await jest.advanceTimersByTimeAsync(200);
  await stopping;
  await jest.advanceTimersByTimeAsync(5_000);
  expect(sweeper.traces).toHaveLength(1);
});
