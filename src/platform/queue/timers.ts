// Periodic tasks of the scheduler role: the methods with `@Every`. They run in this process, so
// that sweepers still run when the queue has lost its jobs.
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Settings } from '../settings/config.js';
import { invariant } from '../errors.js';
import { counter, histogram } from '../metrics/instruments.js';
import { Log } from '../log.js';
import { findTimerTasks, type TimerTask } from './timer-methods.js';
import { newTraceId, runWithTrace } from '../trace.js';

/**
 * Runs begin at the same moments, these milliseconds apart, so that the sweepers of one moment can
 * ask the database together (`src/platform/postgres/shared-reads.queries.ts`).
 */
const gridMs = 1_000;

/** The names are those of the methods with `@Every`. */
const task = /^[a-z][a-z -]*$/;
const ended = counter({
  name: 'concilia_timer_runs_total',
  help: 'Runs of the periodic tasks of the scheduler role, by result.',
  labels: { task, result: ['succeeded', 'failed'] },
});
const durations = histogram({
  name: 'concilia_timer_run_duration_seconds',
  help: 'How long a periodic task ran.',
  labels: { task },
  buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 60],
});

@Injectable()
export class Timers implements OnModuleInit, BeforeApplicationShutdown {
  private tasks: TimerTask[] = [];
  private readonly timeouts = new Map<string, NodeJS.Timeout>();
  private readonly running = new Set<Promise<void>>();
  private startedAt = 0;
  private isStopped = false;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly settings: Settings,
    private readonly log: Log,
  ) {}

  /** Runs in every role: a process does not start when two methods have one timer. */
  onModuleInit(): void {
    const providers = this.discovery.getProviders().map(({ instance }): unknown => instance);
    this.tasks = findTimerTasks(providers, this.settings);
  }

  /**
   * Starts one task before the others, which would compete with it for the time of the process.
   * Resolves when it has run once.
   */
  async startFirst(name: string): Promise<void> {
    const task = this.tasks.find((found) => found.name === name);
    invariant(task, `no method has @Every('${name}')`);
    this.startedAt = performance.now();
    await new Promise<void>((resolve) => this.schedule(task, 0, resolve));
  }

  /** Called in processes with the scheduler role. */
  start(): void {
    this.startedAt ||= performance.now();
    for (const task of this.tasks) if (!this.timeouts.has(task.name)) this.schedule(task, 0);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    for (const timeout of this.timeouts.values()) clearTimeout(timeout);
    await Promise.all(this.running);
  }

  /**
   * The next run is scheduled when the previous one has ended, so that runs of one task never
   * overlap.
   */
  private schedule(task: TimerTask, delayMs: number, onEnd = () => undefined as void): void {
    if (this.isStopped) return;
    const timeout = setTimeout(() => {
      const run = this.run(task).finally(() => {
        this.running.delete(run);
        this.schedule(task, this.delayOf(task));
        onEnd();
      });
      this.running.add(run);
    }, delayMs);
    this.timeouts.set(task.name, timeout);
  }

  /** From now to the moment that is nearest to the end of the task's interval. */
  private delayOf({ everyMs }: TimerTask): number {
    if (everyMs < gridMs) return everyMs;
    const sinceStartMs = performance.now() - this.startedAt;
    return Math.round((sinceStartMs + everyMs) / gridMs) * gridMs - sinceStartMs;
  }

  private async run(task: TimerTask): Promise<void> {
    const startedAtMs = performance.now();
    const end = (result: 'succeeded' | 'failed') => {
      ended.inc({ task: task.name, result });
      durations.observe({ task: task.name }, (performance.now() - startedAtMs) / 1_000);
    };
    try {
      await runWithTrace(newTraceId(), task.work);
      end('succeeded');
    } catch (error) {
      end('failed');
      this.log.error({ err: error, task: task.name }, 'periodic task failed');
    }
  }
}
