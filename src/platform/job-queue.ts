// The only producer of jobs. A wake-up carries ids and may be lost: whoever wakes has committed what is to
// be done, and a sweeper wakes again.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { getQueueToken } from '@nestjs/bullmq';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Queue } from 'bullmq';
import { allJobs, jobs, type JobName, type JobPayload } from '../queues.js';
import { Log } from './log.js';

const minuteMs = 60_000;
const patienceMs = 1_000;

@Injectable()
export class JobQueue implements OnModuleInit {
  /**
   * Wake-ups coalesce with those of this process. A worker that is killed leaves its job's lock in the queue
   * for some seconds, which must not hold up the process that takes its place.
   */
  private readonly lane = randomBytes(4).toString('hex');

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly log: Log,
  ) {}

  onModuleInit(): void {
    for (const { name } of allJobs)
      this.queue(name).on('error', (error) =>
        this.log.warn({ err: error, queue: name }, 'the queue is in trouble'),
      );
  }

  /**
   * Wakes a job, at once or after `delayMs`. Never throws and never waits for long: when the queue is away
   * the caller's work is committed all the same, and the sweepers wake it once the queue is back.
   */
  async enqueue<Name extends JobName>(
    name: Name,
    payload: JobPayload<Name>,
    { delayMs = 0 }: { delayMs?: number } = {},
  ): Promise<void> {
    await this.add(name, payload, delayMs, `${this.lane}-${delayMs}`);
  }

  /**
   * Wakes a job past its coalescing: for work that is overdue although wake-ups were sent, because a killed
   * worker or a wiped queue may have left a lock behind. At most one a minute for each id.
   */
  async enqueueOverdue<Name extends JobName>(name: Name, payload: JobPayload<Name>): Promise<void> {
    await this.add(name, payload, 0, `overdue-${Math.floor(Date.now() / minuteMs)}`);
  }

  private async add<Name extends JobName>(
    name: Name,
    payload: JobPayload<Name>,
    delayMs: number,
    lane: string,
  ): Promise<void> {
    const job = jobs[name];
    const id = `${(job.coalesceBy as (payload: JobPayload<Name>) => string)(payload)}-${lane}`;
    try {
      const added = this.queue(job.name).add(job.name, payload, {
        delay: delayMs,
        deduplication: { id, keepLastIfActive: true },
        removeOnComplete: true,
        removeOnFail: true,
      });
      // A queue that hangs must not hang who wakes.
      const late = sleep(patienceMs, 'late' as const, { ref: false });
      if ((await Promise.race([added, late])) !== 'late') return;
      this.log.warn({ job: job.name }, 'the queue hangs; a sweeper will wake again');
      added.catch((error: unknown) => this.log.warn({ err: error, job: job.name }, 'it failed'));
    } catch (error) {
      this.log.warn({ err: error, job: job.name }, 'wake-up not queued; a sweeper will send it');
    }
  }

  private queue(name: string): Queue {
    return this.moduleRef.get<Queue>(getQueueToken(name), { strict: false });
  }
}
