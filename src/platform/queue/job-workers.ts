// What all queues and workers of a process have in common. The workers, an `@Processor` class for
// each job, start in a process with the worker role, and close before the connections that their
// jobs use. PostgreSQL stores what they work on, so a killed process loses nothing.
import { BullRegistrar, ProcessorDecoratorService, WorkerHost } from '@nestjs/bullmq';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, ModuleRef } from '@nestjs/core';
import { DelayedError, type Job as QueuedJob } from 'bullmq';
import { allJobs, jobOf } from './queues.js';
import { JobQueue, NotEnqueued } from './job-queue.js';
import { AppError } from '../errors.js';
import { counter, histogram } from '../metrics/instruments.js';
import { Log } from '../log.js';
import { continueTrace, inSpan, newTraceId, runWithTrace } from '../trace.js';

const jobNames = allJobs.map(({ name }) => name);
const ended = counter({
  name: 'concilia_jobs_total',
  help: 'Jobs that this process has run, by result.',
  labels: { job: jobNames, result: ['succeeded', 'failed'] },
});
const durations = histogram({
  name: 'concilia_job_duration_seconds',
  help: 'How long a job ran.',
  labels: { job: jobNames },
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
});
const waits = histogram({
  name: 'concilia_job_wait_seconds',
  help: 'How long a job that was due waited in the queue, by the clocks of both processes.',
  labels: { job: jobNames },
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
});

/** How long a job waits for others of its account: longer each time, as a bank that hangs would. */
const shareWaitMs = (times: number) => Math.min(4_000, 250 * 2 ** times);

@Injectable()
export class JobWorkers implements OnModuleInit, BeforeApplicationShutdown {
  private isStarted = false;
  /** How many jobs of a queue and an account run in this process. */
  private readonly running = new Map<string, number>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly moduleRef: ModuleRef,
    private readonly log: Log,
  ) {}

  onModuleInit(): void {
    for (const queue of this.providers(JobQueue))
      queue.on('error', (error) => {
        const isLostJob = error instanceof NotEnqueued;
        const err = isLostJob ? error.cause : error;
        const message = isLostJob ? error.message : 'queue connection failed';
        this.log.warn({ ...(err ? { err } : {}), job: queue.name }, message);
      });
  }

  /** Called in processes with the worker role. */
  start(): void {
    const ofProcessors = this.moduleRef.get(ProcessorDecoratorService, { strict: false });
    ofProcessors.decorate = (process) => (job, token) =>
      this.withinShare(job, token, () => this.run(job, () => process(job, token)));
    this.moduleRef.get(BullRegistrar, { strict: false }).register();
    for (const { worker } of this.providers(WorkerHost))
      // Errors of the worker, not of its jobs: the connection failed, or a job's lock was lost.
      worker.on('error', (error) =>
        this.log.warn({ err: error, job: worker.name }, 'job worker failed'),
      );
    this.isStarted = true;
  }

  /** Takes no more jobs and waits for the running ones. */
  async beforeApplicationShutdown(): Promise<void> {
    if (!this.isStarted) return;
    await Promise.all(this.providers(WorkerHost).map(({ worker }) => worker.close()));
  }

  /**
   * An account has at most half the places of a worker: a job beyond them is put off, so that no
   * account delays another.
   */
  private async withinShare(job: QueuedJob, token: string | undefined, run: () => Promise<void>) {
    const { concurrency } = jobOf(job.name);
    const { accountId } = job.data as { accountId: number };
    const key = `${job.name} ${accountId}`;
    const running = this.running.get(key) ?? 0;
    if (running >= concurrency / 2) {
      await job.moveToDelayed(Date.now() + shareWaitMs(job.attemptsStarted), token);
      throw new DelayedError();
    }
    this.running.set(key, running + 1);
    try {
      await run();
    } finally {
      const left = (this.running.get(key) ?? 1) - 1;
      if (left > 0) this.running.set(key, left);
      else this.running.delete(key);
    }
  }

  /**
   * Every processor's job runs in a trace: where spans are recorded that of what enqueued it, or
   * else its own.
   */
  private run(job: QueuedJob, work: () => Promise<unknown>): Promise<void> {
    const { accountId, traceparent } = job.data as { accountId: number; traceparent?: string };
    const runMeasured = () =>
      inSpan(`job ${job.name}`, 'CONSUMER', (span) => {
        span?.set({ 'concilia.account_id': accountId });
        return this.measure(job, work);
      });
    return runWithTrace(newTraceId(), () => continueTrace(traceparent, runMeasured));
  }

  /** It is logged when it fails. */
  private async measure(job: QueuedJob, work: () => Promise<unknown>): Promise<void> {
    const { name, timestamp, delay } = job;
    waits.observe({ job: name }, Math.max(0, Date.now() - timestamp - delay) / 1_000);
    const startedAtMs = performance.now();
    const end = (result: 'succeeded' | 'failed') => {
      ended.inc({ job: name, result });
      durations.observe({ job: name }, (performance.now() - startedAtMs) / 1_000);
    };
    try {
      job.data = jobOf(name).payload.parse(job.data);
      await work();
      end('succeeded');
    } catch (error) {
      end('failed');
      // The queue does not retry a job: its sweeper finds the pending work in PostgreSQL.
      // A call that the bank did not answer is in the log already.
      const isBankAway = error instanceof AppError && error.code === 'bank_unreachable';
      this.log[isBankAway ? 'debug' : 'warn'](
        { err: error, job: name, ids: job.data as unknown },
        'job failed; its sweeper enqueues it again',
      );
      throw error;
    }
  }

  private providers<Kind>(kind: abstract new (...given: never[]) => Kind): Kind[] {
    const instances = this.discovery.getProviders().map(({ instance }): unknown => instance);
    return instances.filter((instance): instance is Kind => instance instanceof kind);
  }
}
