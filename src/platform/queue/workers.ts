// The job workers of a process, one for each job. They run in a process with the worker role, and
// they close before the connections that their jobs use. For the queue, a job has ended when it
// gives its slot back: PostgreSQL stores what it works on, so a killed process loses nothing.
// Therefore what this process enqueues runs here without the queue, while a slot is free, and what
// only a timer asks for in its turn.
import { AsyncLocalStorage } from 'node:async_hooks';
import { getQueueToken } from '@nestjs/bullmq';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, ModuleRef } from '@nestjs/core';
import { Worker, type Job as QueuedJob, type Queue } from 'bullmq';
import { Settings } from '../settings/config.js';
import { allJobs, jobs, type Job, type JobName, type JobPayload } from './queues.js';
import { findJobMethods, type JobMethod } from './job-methods.js';
import { JobQueue } from './job-queue.js';
import { JobRuns } from './job-slots.js';
import { AppError } from '../errors.js';
import { counter, histogram } from '../metrics/instruments.js';
import { Log } from '../log.js';
import { idleWaitSeconds, jobLockMs, stalledCheckMs } from './queue-connection.js';
import { newTraceId, runWithTrace } from '../trace.js';

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

@Injectable()
export class Workers implements OnModuleInit, BeforeApplicationShutdown {
  private methods: ReadonlyMap<JobName, JobMethod> = new Map();
  private readonly workers: Worker[] = [];
  private readonly runs = new Map<JobName, JobRuns<JobPayload<JobName>>>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly moduleRef: ModuleRef,
    private readonly jobQueue: JobQueue,
    private readonly settings: Settings,
    private readonly log: Log,
  ) {}

  /** Runs in every role: a process does not start when a job has no method or more than one. */
  onModuleInit(): void {
    const providers = this.discovery.getProviders().map(({ instance }): unknown => instance);
    this.methods = findJobMethods(providers);
  }

  start(): void {
    for (const [name, method] of this.methods) this.workers.push(this.startWorker(name, method));
    // A job must not run in the database transaction, trace or slot of the code that enqueued it.
    const outsideCaller = AsyncLocalStorage.snapshot();
    this.jobQueue.startJobsHere((name, payload, isRoutine) =>
      outsideCaller(() => this.startHere(name, payload, isRoutine)),
    );
  }

  /** Takes no more jobs and waits for the running ones. */
  async beforeApplicationShutdown(): Promise<void> {
    this.jobQueue.startJobsHere(null);
    for (const runs of this.runs.values()) runs.dropTurns();
    await Promise.all(this.workers.map((worker) => worker.close()));
    await Promise.all([...this.runs.values()].map((runs) => runs.idle()));
  }

  private startWorker(name: JobName, method: JobMethod): Worker {
    const job = jobs[name];
    const queue = this.moduleRef.get<Queue>(getQueueToken(job.name), { strict: false });
    const runs = new JobRuns<JobPayload<JobName>>(job.concurrency, (payload) => {
      void this.jobQueue.enqueue(name, payload);
    });
    this.runs.set(name, runs);
    const run = (queued: QueuedJob) => {
      const payload = jobs[name].payload.parse(queued.data);
      return runs.run(runOf(name, payload), () => {
        measureWait(queued);
        return this.work(name, method, payload);
      });
    };
    const worker = new Worker(job.name, run, {
      connection: queue.opts.connection,
      concurrency: job.concurrency,
      drainDelay: idleWaitSeconds(this.settings),
      lockDuration: jobLockMs,
      stalledInterval: stalledCheckMs,
      // A stalled job is always run again. That is safe: fences in the database reject the work of
      // the stalled run.
      maxStalledCount: 1_000,
      // A worker that lost its connection retries after 0.5 s instead of BullMQ's default of 15 s.
      runRetryDelay: 500,
    });
    // Errors of the worker, not of its jobs: the connection failed, or a job's lock was lost.
    worker.on('error', (error) => this.log.warn({ err: error, job: name }, 'job worker failed'));
    return worker;
  }

  private startHere(name: JobName, payload: JobPayload<JobName>, isRoutine: boolean): boolean {
    const [method, runs] = [this.methods.get(name), this.runs.get(name)];
    if (!method || !runs) return false;
    const work = () => this.work(name, method, payload);
    const run = runOf(name, payload);
    return isRoutine ? runs.startInTurn(run, work) : runs.start(run, work);
  }

  private work(name: JobName, method: JobMethod, payload: JobPayload<JobName>): Promise<void> {
    return runWithTrace(newTraceId(), async () => {
      const endMeasuring = measureRun(jobs[name].name);
      try {
        await method(payload as Parameters<JobMethod>[0]);
        endMeasuring('succeeded');
      } catch (error) {
        endMeasuring('failed');
        // The queue does not retry a job: its sweeper finds the pending work in PostgreSQL.
        // A call that the bank did not answer is in the log already.
        const isBankAway = error instanceof AppError && error.code === 'bank_unreachable';
        this.log[isBankAway ? 'debug' : 'warn'](
          { err: error, job: name, ids: payload },
          'job failed; its sweeper enqueues it again',
        );
        throw error;
      }
    });
  }
}

function runOf(name: JobName, payload: JobPayload<JobName>) {
  const id = (jobs[name] as Job).coalesceBy(payload);
  return { accountId: payload.accountId, id, payload };
}

/** Measures how long a job of the queue waited. */
function measureWait({ name: job, timestamp, delay }: QueuedJob): void {
  waits.observe({ job }, Math.max(0, Date.now() - timestamp - delay) / 1_000);
}

/** The returned function measures a run that begins now. */
function measureRun(job: string) {
  const startedAtMs = performance.now();
  return (result: 'succeeded' | 'failed') => {
    ended.inc({ job, result });
    durations.observe({ job }, (performance.now() - startedAtMs) / 1_000);
  };
}
