// What every processor shares: its queue, how many run at once, the payload's check and a trace a job.
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, type OnModuleInit } from '@nestjs/common';
import type { Job as QueuedJob } from 'bullmq';
import { jobs, type JobName, type JobPayload } from '../queues.js';
import { Log } from './log.js';
import { jobLockMs, stalledCheckMs } from './queue.js';
import { newTraceId, runWithTrace } from './trace.js';
import { Workers } from './workers.js';

const jobKey = 'processes-job';

/** Binds a processor to its job. */
export function Processes(name: JobName): ClassDecorator {
  const job = jobs[name];
  return (target) => {
    Reflect.defineMetadata(jobKey, name, target);
    Processor(job.name, {
      concurrency: job.concurrency,
      lockDuration: jobLockMs,
      stalledInterval: stalledCheckMs,
      // A stalled job is run again as often as it takes: its work is fenced in the database.
      maxStalledCount: 1_000,
      // A worker that lost its queue looks for it again at once, not after fifteen seconds.
      runRetryDelay: 500,
    })(target);
  };
}

/** The job that a processor class is bound to; undefined for other classes. */
export function jobOf(target: object): JobName | undefined {
  return Reflect.getMetadata(jobKey, target) as JobName | undefined;
}

export abstract class JobProcessor<Name extends JobName>
  extends WorkerHost
  implements OnModuleInit
{
  @Inject(Workers)
  private readonly workers!: Workers;

  @Inject(Log)
  private readonly log!: Log;

  onModuleInit(): void {
    this.workers.add(this);
  }

  protected abstract run(payload: JobPayload<Name>): Promise<void>;

  override async process(queued: QueuedJob): Promise<void> {
    const name = jobOf(this.constructor) as Name;
    const payload = jobs[name].payload.parse(queued.data) as JobPayload<Name>;
    await runWithTrace(newTraceId(), async () => {
      try {
        await this.run(payload);
      } catch (error) {
        // It is not queued again: what is still to be done is found in PostgreSQL, by the job's sweeper.
        this.log.warn(
          { err: error, job: name, ids: payload },
          'job failed; its sweeper wakes it again',
        );
        throw error;
      }
    });
  }

  /** The worker's own trouble: its connection, a lock that it lost. */
  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.log.warn({ err: error, job: jobOf(this.constructor) }, 'the queue gave a worker trouble');
  }
}
