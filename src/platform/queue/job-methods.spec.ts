import { expect, it } from '@jest/globals';
import { jobs, type JobName, type JobPayload } from './queues.js';
import { findJobMethods, OnJob } from './job-methods.js';

const names = Object.keys(jobs) as JobName[];

/** One provider for each job. It records the payloads that its method gets. */
function providersOf(jobNames: readonly JobName[], calls: unknown[] = []): object[] {
  return jobNames.map((name) => {
    class Service {
      work(payload: unknown): Promise<void> {
        calls.push([name, payload]);
        return Promise.resolve();
      }
    }
    const work = Object.getOwnPropertyDescriptor(Service.prototype, 'work') as PropertyDescriptor;
    OnJob(name)(Service.prototype, 'work', work);
    return new Service();
  });
}

class DayClosing {
  calls: number[] = [];

  @OnJob('closeDays')
  close({ accountId }: JobPayload<'closeDays'>): Promise<void> {
    this.calls.push(accountId);
    return Promise.resolve();
  }
}
const otherJobs = names.filter((name) => name !== 'closeDays');

it('finds the method of each job, bound to its provider', async () => {
  const closing = new DayClosing();
  // A provider may be listed twice, and may be a value that is not an object.
  const providers = [...providersOf(otherJobs), closing, closing, null, 'text', () => 1];
  const methods = findJobMethods(providers);
  expect([...methods.keys()]).toEqual(names);
  await methods.get('closeDays')?.({ accountId: 7 });
  expect(closing.calls).toEqual([7]);
});

it('throws for a job without a method', () => {
  expect(() => findJobMethods(providersOf(otherJobs))).toThrow(
    "job closeDays must have exactly one method with @OnJob('closeDays'), found none",
  );
});

it('throws for a job with two methods, and names both', () => {
  const providers = [...providersOf(names), new DayClosing()];
  expect(() => findJobMethods(providers)).toThrow(
    "job closeDays must have exactly one method with @OnJob('closeDays'), found Service.work, DayClosing.close",
  );
});

it('accepts only methods that take the payload of their job', () => {
  class Wrong {
    // @ts-expect-error closeDays carries no uploadId
    @OnJob('closeDays')
    close({ uploadId }: JobPayload<'issueBulkRows'>): Promise<void> {
      return Promise.reject(new Error(uploadId));
    }

    // @ts-expect-error a job's method takes the payload object, not one of its ids
    @OnJob('reconcile')
    reconcile(accountId: number): Promise<void> {
      return Promise.reject(new Error(String(accountId)));
    }
  }
  expect(new Wrong()).toBeDefined();
});
