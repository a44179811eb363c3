// Periodic tasks of the scheduler role: the methods with `@Every`. They run in this process, so
// that sweepers still run when the queue has lost its jobs.
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Settings } from '../config.js';
import { Log } from './log.js';
import { findTimerTasks, type TimerTask } from './timer-methods.js';
import { newTraceId, runWithTrace } from './trace.js';

@Injectable()
export class Timers implements OnModuleInit, BeforeApplicationShutdown {
  private tasks: TimerTask[] = [];
  private readonly timeouts = new Map<string, NodeJS.Timeout>();
  private readonly running = new Set<Promise<void>>();
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

  /** Called in processes with the scheduler role. */
  start(): void {
    for (const task of this.tasks) this.schedule(task, 0);
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
  private schedule(task: TimerTask, delayMs: number): void {
    if (this.isStopped) return;
    const timeout = setTimeout(() => {
      const run = this.run(task).finally(() => {
        this.running.delete(run);
        this.schedule(task, task.everyMs);
      });
      this.running.add(run);
    }, delayMs);
    this.timeouts.set(task.name, timeout);
  }

  private async run(task: TimerTask): Promise<void> {
    try {
      await runWithTrace(newTraceId(), task.work);
    } catch (error) {
      this.log.error({ err: error, task: task.name }, 'periodic task failed');
    }
  }
}
