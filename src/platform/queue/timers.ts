// Periodic tasks of the scheduler role: methods with `@Every`. They run in this process, so that
// sweepers still run when the queue has lost its jobs.
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { counter, histogram } from '../metrics/instruments.js';
import { newTraceId, runWithTrace } from '../trace.js';

type TimerMethod = () => Promise<void>;
const logger = new Logger('Timers');

/** The names that `@Every` is given. */
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

interface Task {
  name: string;
  seconds: number;
}

const EveryTask = Reflector.createDecorator<Task>();

/**
 * A task of the scheduler role, which `Timers` starts. Runs never overlap; each has a trace of its
 * own, is measured, and logged when it fails.
 */
export function Every(name: string, seconds: number) {
  // As the other counters, whose labels are listed: a rate would not show the first failure.
  for (const result of results) ended.inc({ task: name, result }, 0);
  return EveryTask({ name, seconds });
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

/** A task with its interval, once it is started. */
class Timer {
  private running: Promise<void> | null = null;
  private isStopped = false;

  constructor(
    readonly task: Task,
    private readonly work: TimerMethod,
    private readonly registry: SchedulerRegistry,
  ) {}

  /** Starts the interval. Resolves when the task has run once. */
  async start(): Promise<void> {
    const { name, seconds } = this.task;
    if (this.registry.doesExist('interval', name)) return;
    this.registry.addInterval(
      name,
      setInterval(() => void this.run(), seconds * 1_000),
    );
    await this.run();
  }

  /** Waits for the run in progress. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  private run(): Promise<void> {
    if (this.isStopped) return Promise.resolve();
    this.running ??= measured(this.task.name, this.work)
      .catch((error: unknown) => logger.error(error))
      .finally(() => (this.running = null));
    return this.running;
  }
}

@Injectable()
export class Timers implements OnModuleInit, BeforeApplicationShutdown {
  private timers: readonly Timer[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly registry: SchedulerRegistry,
  ) {}

  onModuleInit(): void {
    const providers = this.discovery
      .getProviders()
      .flatMap(({ instance }) => (instance ? [instance as object] : []));
    this.timers = [...new Set(providers)].flatMap((provider) => this.timersOf(provider));
  }

  /**
   * Starts one task before the others, which would compete with it for the time of the process.
   * Resolves when it has run once.
   */
  async startFirst(name: string): Promise<void> {
    await this.timers.find(({ task }) => task.name === name)?.start();
  }

  /** Called in processes with the scheduler role. Each task runs at once, and then at its times. */
  start(): void {
    for (const timer of this.timers) void timer.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.timers.map((timer) => timer.stop()));
  }

  private timersOf(provider: object): Timer[] {
    const prototype = Object.getPrototypeOf(provider) as Record<string, TimerMethod>;
    return this.scanner.getAllMethodNames(prototype).flatMap((key) => {
      const work = prototype[key]!;
      const task = Reflect.getMetadata(EveryTask.KEY, work) as Task | undefined;
      return task ? [new Timer(task, () => work.call(provider), this.registry)] : [];
    });
  }
}
