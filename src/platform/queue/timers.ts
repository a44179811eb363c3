// Periodic tasks of the scheduler role: methods with `@Every`. They run in this process, so that
// sweepers still run when the queue has lost its jobs.
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Cron, SchedulerRegistry } from '@nestjs/schedule';
import { counter, histogram } from '../metrics/instruments.js';
import { newTraceId, runWithTrace } from '../trace.js';

type TimerMethod = () => Promise<void>;
type CronJob = ReturnType<SchedulerRegistry['getCronJob']>;

/** The names are those of the methods with `@Every`. */
const task = /^[a-z][a-z -]*$/;
const results = ['succeeded', 'failed'] as const;
const ended = counter({
  name: 'concilia_timer_runs_total',
  help: 'Runs of the periodic tasks of the scheduler role, by result.',
  labels: { task, result: results },
});
const durations = histogram({
  name: 'concilia_timer_run_duration_seconds',
  help: 'How long a periodic task ran.',
  labels: { task },
  buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 60],
});

/**
 * `@Cron` of `@nestjs/schedule` for a task of the scheduler role, where `Timers` starts it. Runs
 * never overlap; each has a trace of its own, is measured, and logged when it fails.
 */
export function Every(name: string, cron: string) {
  return (prototype: object, key: string, descriptor: TypedPropertyDescriptor<TimerMethod>) => {
    const work = descriptor.value!;
    // As the other counters, whose labels are listed: a rate would not show the first failure.
    for (const result of results) ended.inc({ task: name, result }, 0);
    descriptor.value = function (this: object) {
      return measured(name, () => Reflect.apply(work, this, []));
    };
    // A late run takes place all the same.
    const whenever = { threshold: Number.MAX_SAFE_INTEGER };
    Cron(cron, { name, disabled: true, waitForCompletion: true, ...whenever })(
      prototype,
      key,
      descriptor,
    );
  };
}

function measured(name: string, work: TimerMethod): Promise<void> {
  return runWithTrace(newTraceId(), async () => {
    const startedAtMs = performance.now();
    const end = (result: (typeof results)[number]) => {
      ended.inc({ task: name, result });
      durations.observe({ task: name }, (performance.now() - startedAtMs) / 1_000);
    };
    try {
      await work();
      end('succeeded');
    } catch (error) {
      end('failed');
      throw new Error(`periodic task ${name} failed`, { cause: error });
    }
  });
}

@Injectable()
export class Timers implements BeforeApplicationShutdown {
  private readonly started: CronJob[] = [];

  constructor(private readonly registry: SchedulerRegistry) {}

  /**
   * Starts one task before the others, which would compete with it for the time of the process.
   * Resolves when it has run once.
   */
  async startFirst(name: string): Promise<void> {
    await this.startNow(this.registry.getCronJob(name));
  }

  /** Called in processes with the scheduler role. Each task runs at once, and then at its times. */
  start(): void {
    for (const job of this.registry.getCronJobs().values())
      if (!this.started.includes(job)) void this.startNow(job);
  }

  /** Waits for the runs in progress. */
  async beforeApplicationShutdown(): Promise<void> {
    const stop = async (job: CronJob): Promise<void> => {
      await job.stop();
    };
    await Promise.all(this.started.map(stop));
  }

  private startNow(job: CronJob): Promise<void> {
    this.started.push(job);
    job.start();
    return job.fireOnTick();
  }
}
