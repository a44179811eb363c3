// The only producer of jobs. A job carries ids only, and it may be lost: the caller has committed
// the work to PostgreSQL, and a sweeper enqueues the job again. A process that works jobs runs its
// own jobs without the queue, at once while it has a free slot, and routine ones in their turns.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { getQueueToken } from '@nestjs/bullmq';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Queue } from 'bullmq';
import { allJobs, jobs, type JobName, type JobPayload } from './queues.js';
import { Log } from '../log.js';

/** A request waits no longer for its jobs: a sweeper finds the work that it has committed. */
const enqueueTimeoutMs = 50;
/** While a job waits in a long queue, its work stays overdue: it is not added again and again. */
const overdueEveryMs = 600_000;
/** A job with a longer delay goes through the queue. */
const maxDelayHereMs = 1_000;
/** BullMQ takes jobs without a priority first. */
const routinePriority = 1;

interface EnqueueOptions {
  delayMs?: number;
  /**
   * Whether only a timer asks for the job: it waits for the jobs that something has caused. A few
   * of them run at once in this process.
   */
  isRoutine?: boolean;
}

/**
 * Starts a job in this process, a routine one when its turn comes. False if the queue must take it:
 * all its slots are taken, or it is routine, and it runs already or too many wait.
 */
export type StartJob = <Name extends JobName>(
  name: Name,
  payload: JobPayload<Name>,
  isRoutine: boolean,
) => boolean;

@Injectable()
export class JobQueue implements OnModuleInit {
  /**
   * Part of the deduplication id, so that jobs coalesce only with jobs of this process. A killed
   * worker leaves its job's lock in the queue for some seconds, which must not delay the process
   * that replaces it.
   */
  private readonly processId = randomBytes(4).toString('hex');
  /** Jobs that are being added for longer than the caller waits: the queue does not respond. */
  private unanswered = 0;
  private startHere: StartJob | null = null;
  /** Jobs that will start in this process. Those of one id and delay coalesce, as in the queue. */
  private readonly delayed = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly log: Log,
  ) {}

  onModuleInit(): void {
    for (const { name } of allJobs)
      this.queue(name).on('error', (error) =>
        this.log.warn({ err: error, queue: name }, 'queue connection failed'),
      );
  }

  /** From now on, jobs of this process are started here; null: no longer. */
  startJobsHere(start: StartJob | null): void {
    this.startHere = start;
    if (start) return;
    for (const timer of this.delayed.values()) clearTimeout(timer);
    this.delayed.clear();
  }

  /**
   * Enqueues a job, to run at once or after `delayMs`. Never throws, and waits 50 ms at most, or
   * not at all while the queue does not respond: the caller's work is already committed, and a
   * sweeper enqueues the job once the queue is available again.
   */
  async enqueue<Name extends JobName>(
    name: Name,
    payload: JobPayload<Name>,
    options: EnqueueOptions = {},
  ): Promise<void> {
    const { delayMs = 0, isRoutine = false } = options;
    if (this.startHere && delayMs <= maxDelayHereMs) {
      if (delayMs > 0) return this.startLater(name, payload, delayMs);
      if (this.startHere(name, payload, isRoutine)) return;
    }
    const idSuffix = `${this.processId}-${delayMs}${isRoutine ? '-routine' : ''}`;
    await this.add(name, payload, idSuffix, options);
  }

  /**
   * Enqueues a job that does not coalesce with jobs of `enqueue`. It is for work that is overdue
   * although its job was enqueued: a killed worker or a wiped queue may have left a lock. At most
   * one job in ten minutes is added for each id.
   */
  async enqueueOverdue<Name extends JobName>(name: Name, payload: JobPayload<Name>): Promise<void> {
    const idSuffix = `overdue-${Math.floor(Date.now() / overdueEveryMs)}`;
    await this.add(name, payload, idSuffix, { isRoutine: true });
  }

  private startLater<Name extends JobName>(
    name: Name,
    payload: JobPayload<Name>,
    delayMs: number,
  ): void {
    const key = `${name} ${idOf(name, payload)} ${delayMs}`;
    if (this.delayed.has(key)) return;
    const start = () => {
      this.delayed.delete(key);
      void this.enqueue(name, payload);
    };
    this.delayed.set(key, setTimeout(start, delayMs));
  }

  private async add<Name extends JobName>(
    name: Name,
    payload: JobPayload<Name>,
    idSuffix: string,
    { delayMs = 0, isRoutine = false }: EnqueueOptions,
  ): Promise<void> {
    const job = jobs[name];
    const id = `${idOf(name, payload)}-${idSuffix}`;
    try {
      const added = this.queue(job.name).add(job.name, payload, {
        delay: delayMs,
        priority: isRoutine ? routinePriority : 0,
        deduplication: { id, keepLastIfActive: true },
        removeOnComplete: true,
        removeOnFail: true,
      });
      // A queue that does not respond must not block the caller, nor the slot of a request.
      const timeoutMs = this.unanswered > 0 ? 0 : enqueueTimeoutMs;
      const timeout = sleep(timeoutMs, 'timeout' as const, { ref: false });
      if ((await Promise.race([added, timeout])) !== 'timeout') return;
      this.log.warn({ job: job.name }, 'enqueuing a job timed out; a sweeper enqueues it again');
      this.unanswered += 1;
      added
        .catch((error: unknown) => this.warnNotEnqueued(job.name, error))
        .finally(() => (this.unanswered -= 1));
    } catch (error) {
      this.warnNotEnqueued(job.name, error);
    }
  }

  private warnNotEnqueued(job: string, error: unknown): void {
    this.log.warn({ err: error, job }, 'job could not be enqueued; a sweeper enqueues it again');
  }

  private queue(name: string): Queue {
    return this.moduleRef.get<Queue>(getQueueToken(name), { strict: false });
  }
}

function idOf<Name extends JobName>(name: Name, payload: JobPayload<Name>): string {
  return (jobs[name].coalesceBy as (payload: JobPayload<Name>) => string)(payload);
}
