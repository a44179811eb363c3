// `@OnJob` marks the method that processes a job. At boot, each job of the catalogue must have
// exactly one method.
import { MetadataScanner } from '@nestjs/core';
import { jobs, type JobName, type JobPayload } from '../queues.js';
import { invariant } from './errors.js';

const jobKey = 'on-job';

export type JobMethod<Name extends JobName = JobName> = (
  payload: JobPayload<Name>,
) => Promise<void>;

/** Marks the method that a worker calls with the job's payload. Its class must be a provider. */
export function OnJob<Name extends JobName>(name: Name) {
  return <Method extends JobMethod<Name>>(
    _prototype: object,
    _key: string,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void => {
    Reflect.defineMetadata(jobKey, name, descriptor.value as Method);
  };
}

interface FoundMethod {
  job: JobName;
  /** `Class.method`, for error messages. */
  methodName: string;
  run: JobMethod;
}

/**
 * The method of each job, bound to its provider. Throws when a job has no method or more than one.
 */
export function findJobMethods(providers: readonly unknown[]): ReadonlyMap<JobName, JobMethod> {
  const scanner = new MetadataScanner();
  const found = [...new Set(providers)].flatMap((provider) => methodsOf(provider, scanner));
  return new Map(
    (Object.keys(jobs) as JobName[]).map((name) => {
      const methods = found.filter(({ job }) => job === name);
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

function methodsOf(provider: unknown, scanner: MetadataScanner): FoundMethod[] {
  if (typeof provider !== 'object' || provider === null) return [];
  const methods = provider as Record<string, JobMethod>;
  return scanner.getAllMethodNames(Object.getPrototypeOf(provider) as object).flatMap((key) => {
    const method = methods[key] as JobMethod;
    const job = Reflect.getMetadata(jobKey, method) as JobName | undefined;
    if (job === undefined) return [];
    const methodName = `${provider.constructor.name}.${key}`;
    return [{ job, methodName, run: method.bind(provider) }];
  });
}
