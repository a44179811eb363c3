// `@OnJob` marks the method that processes a job. At boot, each job of the catalogue must have
// exactly one method.
import { SetMetadata } from '@nestjs/common';
import { jobs, type JobName, type JobPayload } from './queues.js';
import { findDecoratedMethods, type DecoratorOf } from '../decorated-methods.js';
import { invariant } from '../errors.js';

const jobKey = 'on-job';

export type JobMethod<Name extends JobName = JobName> = (
  payload: JobPayload<Name>,
) => Promise<void>;

/** Marks the method that a worker calls with the job's payload. Its class must be a provider. */
export function OnJob<Name extends JobName>(name: Name): DecoratorOf<JobMethod<Name>> {
  return SetMetadata(jobKey, name);
}

/**
 * The method of each job, bound to its provider. Throws when a job has no method or more than one.
 */
export function findJobMethods(providers: readonly unknown[]): ReadonlyMap<JobName, JobMethod> {
  const found = findDecoratedMethods<JobName, JobMethod>(jobKey, providers);
  return new Map(
    (Object.keys(jobs) as JobName[]).map((name) => {
      const methods = found.filter(({ mark }) => mark === name);
      const methodNames = methods.map(({ methodName }) => methodName).join(', ') || 'none';
      const [only] = methods;
      invariant(
        only && methods.length === 1,
        `job ${name} must have exactly one method with @OnJob('${name}'), found ${methodNames}`,
      );
      return [name, only.run];
    }),
  );
}
