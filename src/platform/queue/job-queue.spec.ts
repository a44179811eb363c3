import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { JobQueue, NotEnqueued } from './job-queue.js';

/** The queue of `reconcile` without a backend: `add` stands for it. */
function queueWith(add: () => Promise<unknown>) {
  const reported: unknown[] = [];
  const queue = Object.create(JobQueue.prototype, {
    name: { value: 'reconcile' },
    add: { value: add },
    emit: { value: (_event: string, error: unknown) => void reported.push(error) },
  }) as JobQueue<'reconcile'>;
  return { queue, reported };
}

it('waits 50 ms for a queue that does not respond, and not again until it does', async () => {
  const ends: (() => void)[] = [];
  const { queue, reported } = queueWith(
    () => new Promise<void>((resolve) => void ends.push(resolve)),
  );
  /** Which comes first, in the order of their timers. */
  const enqueue = async () => {
    const enqueued = queue.enqueue({ accountId: 1 });
    const first = await Promise.race([enqueued.then(() => 'enqueued'), sleep(40, 'waiting')]);
    return { enqueued, first };
  };
  const one = await enqueue();
  expect(one.first).toBe('waiting');
  const since = performance.now();
  await one.enqueued;
  expect(performance.now() - since).toBeLessThan(500);
  expect((await enqueue()).first).toBe('enqueued');
  for (const end of ends.splice(0)) end();
  await sleep(0);
  const next = await enqueue();
  expect(next.first).toBe('waiting');
  for (const end of ends) end();
  await next.enqueued;
  expect(reported).toEqual(
    Array(2).fill(new NotEnqueued('enqueuing a job timed out; a sweeper enqueues it again')),
  );
});

it('reports a job that the queue refuses, and does not fail its caller', async () => {
  const cause = new Error('connection refused');
  const { queue, reported } = queueWith(() => Promise.reject(cause));
  await queue.enqueue({ accountId: 1 });
  expect(reported).toMatchObject([
    { message: 'job could not be enqueued; a sweeper enqueues it again', cause },
  ]);
});
