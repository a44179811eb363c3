// The job workers of a process, one for each job. They run in a process with the worker role, and
// they close before the connections that their jobs use.
import { getQueueToken } from '@nestjs/bullmq';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, ModuleRef } from '@nestjs/core';
import { Worker, type Job as QueuedJob, type Queue } from 'bullmq';
import { jobs, type JobName } from '../queues.js';
import { findJobMethods, type JobMethod } from './job-methods.js';
import { Log } from './log.js';
import { jobLockMs, stalledCheckMs } from './queue-connection.js';
import { newTraceId, runWithTrace } from './trace.js';

@Injectable()
export class Workers implements OnModuleInit, BeforeApplicationShutdown {
  private methods: ReadonlyMap<JobName, JobMethod> = new Map();
  private readonly workers: Worker[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly moduleRef: ModuleRef,
    private readonly log: Log,
  ) {}

  /** Runs in every role: a process does not start when a job has no method or more than one. */
  onModuleInit(): void {
    const providers = this.discovery.getProviders().map(({ instance }): unknown => instance);
    this.methods = findJobMethods(providers);
  }

  start(): void {
    for (const [name, method] of this.methods) this.workers.push(this.startWorker(name, method));
  }

  /** Takes no more jobs and waits for the running ones. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close()));
  }

  private startWorker(name: JobName, method: JobMethod): Worker {
    const job = jobs[name];
    const queue = this.moduleRef.get<Queue>(getQueueToken(job.name), { strict: false });
    const worker = new Worker(job.name, (queued) => this.run(name, method, queued), {
      connection: queue.opts.connection,
      concurrency: job.concurrency,
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

  private async run(name: JobName, method: JobMethod, queued: QueuedJob): Promise<void> {
    const payload = jobs[name].payload.parse(queued.data) as Parameters<JobMethod>[0];
    await runWithTrace(newTraceId(), async () => {
      try {
        await method(payload);
      } catch (error) {
        // The queue does not retry a job: its sweeper finds the pending work in PostgreSQL.
        this.log.warn(
          { err: error, job: name, ids: payload },
          'job failed; its sweeper enqueues it again',
        );
        throw error;
      }
    });
  }
}
