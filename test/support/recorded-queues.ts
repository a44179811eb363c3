// Queues without BullMQ: a test sees which jobs a service enqueues, and none of them runs.
import { jobs, type JobName } from '../../src/platform/queue/queues.js';

/** Called with what each job is enqueued with. */
type RecordJob = (job: JobName, ...given: unknown[]) => unknown;

/** The queue of a job, as a service injects it. */
export type QueueOf = (job: JobName) => never;

export function recordedQueues(record: RecordJob = () => undefined): QueueOf {
  return (job) => {
    const enqueue = async (...given: unknown[]) => void record(job, ...given);
    return { name: jobs[job].name, enqueue } as never;
  };
}

/** The queues of `StatementSync`, in its order. */
export function lineQueues(record?: RecordJob): [never, never, never] {
  const queueOf = recordedQueues(record);
  return [queueOf('syncStatement'), queueOf('reconcile'), queueOf('processWebhooks')];
}
