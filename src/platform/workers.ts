// The job workers of a process: one for each job of the catalogue. They run where the process has the worker role,
// and close before the connections that their jobs use.
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

  /** In every role: a process does not boot while a job has no method, or more than one. */
  onModuleInit(): void {
    const providers = this.discovery.getProviders().map(({ instance }): unknown => instance);
    this.methods = findJobMethods(providers);
  }

  start(): void {
    for (const [name, method] of this.methods) this.workers.push(this.startWorker(name, method));
  }

  /** Takes no more jobs and waits for those under way. */
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
      // A stalled job is run again as often as it takes: its work is fenced in the database.
      maxStalledCount: 1_000,
      // A worker that lost its queue looks for it again at once, not after fifteen seconds.
      runRetryDelay: 500,
    });
    // Errors of the worker itself: its connection failed, or it lost a job's lock.
    worker.on('error', (error) => this.log.warn({ err: error, job: name }, 'job worker failed'));
    return worker;
  }

  private async run(name: JobName, method: JobMethod, queued: QueuedJob): Promise<void> {
    const payload = jobs[name].payload.parse(queued.data) as Parameters<JobMethod>[0];
    await runWithTrace(newTraceId(), async () => {
      try {
        await method(payload);
      } catch (error) {
        // The queue does not retry it: the job's sweeper finds in PostgreSQL what is still to be done.
        this.log.warn(
          { err: error, job: name, ids: payload },
          'job failed; its sweeper enqueues it again',
        );
        throw error;
      }
    });
  }
}
