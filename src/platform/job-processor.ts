// What every processor shares: its queue, how many run at once, the payload's check and a trace a job.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job as QueuedJob } from 'bullmq';
import { jobs, type JobName, type JobPayload } from '../queues.js';
import { jobLockMs, stalledCheckMs } from './queue.js';
import { newTraceId, runWithTrace } from './trace.js';

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
    })(target);
  };
}

/** The job that a processor class is bound to; undefined for other classes. */
export function jobOf(target: object): JobName | undefined {
  return Reflect.getMetadata(jobKey, target) as JobName | undefined;
}

export abstract class JobProcessor<Name extends JobName> extends WorkerHost {
  protected abstract run(payload: JobPayload<Name>): Promise<void>;

  override async process(queued: QueuedJob): Promise<void> {
    const name = jobOf(this.constructor) as Name;
    const payload = jobs[name].payload.parse(queued.data) as JobPayload<Name>;
    await runWithTrace(newTraceId(), () => this.run(payload));
  }
}
