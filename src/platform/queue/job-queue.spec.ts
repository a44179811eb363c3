import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { JobQueue } from './job-queue.js';

it('waits 50 ms for a queue that does not respond, and not again until it does', async () => {
  const ends: (() => void)[] = [];
  const add = () => new Promise<void>((resolve) => void ends.push(resolve));
  const queue = new JobQueue({ get: () => ({ add }) } as never, pino({ level: 'silent' }));
  /** Which comes first, in the order of their timers. */
  const enqueue = async () => {
    const enqueued = queue.enqueue('reconcile', { accountId: 1 });
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
});

it('starts a job in this process while it has a place for it, unless it is delayed for long', async () => {
  const queued: unknown[] = [];
  const add = (_name: string, payload: unknown) => Promise.resolve(void queued.push(payload));
  const queue = new JobQueue({ get: () => ({ add }) } as never, pino({ level: 'silent' }));
  const started: unknown[] = [];
  let isFree = true;
  queue.startJobsHere(
    (_name, { accountId }, isRoutine) => isFree && started.push({ accountId, isRoutine }) > 0,
  );
  await queue.enqueue('reconcile', { accountId: 1 });
  await queue.enqueue('reconcile', { accountId: 2 }, { delayMs: 5_000 });
  await queue.enqueue('reconcile', { accountId: 3 }, { isRoutine: true });
  isFree = false;
  await queue.enqueue('reconcile', { accountId: 4 });
  isFree = true;
  queue.startJobsHere(null);
  await queue.enqueue('reconcile', { accountId: 5 });
  expect(started).toEqual([
    { accountId: 1, isRoutine: false },
    { accountId: 3, isRoutine: true },
  ]);
  expect(queued).toEqual([2, 4, 5].map((accountId) => ({ accountId })));
});

it('starts a job once after a short delay, and none once it starts no more', async () => {
  const queue = new JobQueue({ get: () => ({}) } as never, pino({ level: 'silent' }));
  const started: number[] = [];
  queue.startJobsHere((_name, payload) => started.push(payload.accountId) > 0);
  await queue.enqueue('reconcile', { accountId: 1 }, { delayMs: 1_000 });
  for (const accountId of [1, 1, 2])
    await queue.enqueue('reconcile', { accountId }, { delayMs: 20 });
  expect(started).toEqual([]);
  await sleep(100);
  expect(started).toEqual([1, 2]);
  await queue.enqueue('reconcile', { accountId: 3 }, { delayMs: 20 });
  queue.startJobsHere(null);
  await sleep(60);
  expect(started).toEqual([1, 2]);
});
