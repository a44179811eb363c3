// A queue as modules inject it: BullMQ's, with one way to enqueue. A job carries ids only, and it
// may be lost: the caller has committed the work to PostgreSQL, and a sweeper enqueues it again.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BullModule } from '@nestjs/bullmq';
import { Queue } from 'bullmq';
import { currentTraceparent } from '../trace.js';
import { jobOf, type JobName, type JobPayload } from './queues.js';

/** A request waits no longer for its jobs: a sweeper finds the work that it has committed. */
const enqueueTimeoutMs = 50;
/** While a job waits in a long queue, its work stays overdue: it is not added again and again. */
const overdueEveryMs = 600_000;
/** BullMQ takes jobs without a priority first. */
const routinePriority = 1;
/**
 * Part of the deduplication id, so that jobs coalesce only with jobs of this process. A killed
 * worker leaves its job's lock in the queue for some seconds, which must not delay the process that
 * replaces it.
 */
const processId = randomBytes(4).toString('hex');
/** Jobs that are being added for longer than the caller waits: the queue does not respond. */
let unanswered = 0;

interface EnqueueOptions {
  delayMs?: number;
  /** Whether only a timer asks for the job: it waits for the jobs that something has caused. */
  isRoutine?: boolean;
}

/** A job that was not added, as the queue's event `error` reports it. */
export class NotEnqueued extends Error {}

export class JobQueue<Name extends JobName = JobName> extends Queue {
  /**
   * Enqueues a job, to run at once or after `delayMs`. Never throws, and waits 50 ms at most, or
   * not at all while the queue does not respond: the caller's work is already committed, and a
   * sweeper enqueues the job once the queue is available again. Jobs with the same id coalesce:
   * while one runs, at most one more waits.
   */
  async enqueue(payload: JobPayload<Name>, options: EnqueueOptions = {}): Promise<void> {
    const { delayMs = 0, isRoutine = false } = options;
    const idSuffix = `${processId}-${delayMs}${isRoutine ? '-routine' : ''}`;
    await this.addOrReport(payload, idSuffix, options);
  }

  /**
   * Enqueues a job that does not coalesce with jobs of `enqueue`. It is for work that is overdue
   * although its job was enqueued: a killed worker or a wiped queue may have left a lock. At most
   * one job in ten minutes is added for each id.
   */
  async enqueueOverdue(payload: JobPayload<Name>): Promise<void> {
    const idSuffix = `overdue-${Math.floor(Date.now() / overdueEveryMs)}`;
    await this.addOrReport(payload, idSuffix, { isRoutine: true });
  }

  private async addOrReport(
    payload: JobPayload<Name>,
    idSuffix: string,
    { delayMs = 0, isRoutine = false }: EnqueueOptions,
  ): Promise<void> {
    const id = `${jobOf(this.name).coalesceBy(payload)}-${idSuffix}`;
    const traceparent = currentTraceparent();
    const data = traceparent === null ? payload : { ...payload, traceparent };
    const added = this.add(this.name, data, {
      delay: delayMs,
      priority: isRoutine ? routinePriority : 0,
      deduplication: { id, keepLastIfActive: true },
      removeOnComplete: true,
      removeOnFail: true,
    }).catch((error: unknown) => this.report('job could not be enqueued', error));
    // A queue that does not respond must not block the caller, nor the slot of a request.
    const timeoutMs = unanswered > 0 ? 0 : enqueueTimeoutMs;
    const timeout = sleep(timeoutMs, 'timeout' as const, { ref: false });
    if ((await Promise.race([added, timeout])) !== 'timeout') return;
    this.report('enqueuing a job timed out');
    unanswered += 1;
    void added.finally(() => (unanswered -= 1));
  }

  private report(message: string, cause?: unknown): void {
    this.emit('error', new NotEnqueued(`${message}; a sweeper enqueues it again`, { cause }));
  }
}

// What `BullModule.registerQueue` creates in the modules.
BullModule.queueClass = JobQueue;
