// The clock of the scheduler role: what the rooms ask to be done again and again, in this process, so that it
// goes on when the queue forgets everything.
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Log } from './log.js';
import { newTraceId, runWithTrace } from './trace.js';

interface Task {
  name: string;
  everyMs: number;
  work: () => Promise<void>;
}

@Injectable()
export class Timers implements BeforeApplicationShutdown {
  private readonly tasks: Task[] = [];
  private readonly timeouts = new Map<string, NodeJS.Timeout>();
  private readonly running = new Set<Promise<void>>();
  private isStopped = false;

  constructor(private readonly log: Log) {}

  /** Declares work; it starts with `start()`, in processes that have the scheduler role. */
  every(name: string, everyMs: number, work: () => Promise<void>): void {
    this.tasks.push({ name, everyMs, work });
  }

  start(): void {
    for (const task of this.tasks) this.schedule(task, 0);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    for (const timeout of this.timeouts.values()) clearTimeout(timeout);
    await Promise.all(this.running);
  }

  /** The next round is planned when the last has ended: rounds of one task never overlap. */
  private schedule(task: Task, delayMs: number): void {
    if (this.isStopped) return;
    const timeout = setTimeout(() => {
      const round = this.run(task).finally(() => {
        this.running.delete(round);
        this.schedule(task, task.everyMs);
      });
      this.running.add(round);
    }, delayMs);
    this.timeouts.set(task.name, timeout);
  }

  private async run(task: Task): Promise<void> {
    try {
      await runWithTrace(newTraceId(), task.work);
    } catch (error) {
      this.log.error({ err: error, task: task.name }, 'scheduled work failed; it is tried again');
    }
  }
}
