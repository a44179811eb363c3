// Which jobs run first, and which coalesce, on the queue in PostgreSQL.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Worker } from 'bullmq';
import { JobQueue } from '../../../src/platform/queue/job-queue.js';
import { createLog } from '../../../src/platform/log.js';
import {
  connectQueue,
  type QueueConnection,
} from '../../../src/platform/queue/queue-connection.js';
import { jobs } from '../../../src/platform/queue/queues.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

const log = createLog('silent', 'test');
const { name } = jobs.syncStatement;
let database: TestDatabase;
let connection: QueueConnection;
let queue: JobQueue<'syncStatement'>;

beforeAll(async () => {
  database = await testDatabase();
  connection = await connectQueue({ redisUrl: null, databaseUrl: database.url }, log);
});
beforeEach(() => {
  queue = new JobQueue(name, { connection: connection.connection as never });
  queue.on('error', () => undefined);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await queue.close();
});
afterAll(async () => {
  await connection.close();
  await database.drop();
});

/** The accounts of the waiting jobs in the order in which a worker takes them. */
async function takeAll(count: number): Promise<number[]> {
  const taken: number[] = [];
  const worker = new Worker(
    name,
    ({ data }) => Promise.resolve(void taken.push((data as { accountId: number }).accountId)),
    { connection: connection.connection as never, concurrency: 1 },
  );
  await until('all jobs are taken', () => taken.length >= count);
  await worker.close();
  return taken;
}

const countWaiting = () => queue.getJobCountByTypes('waiting', 'prioritized');

/** A busy queue takes a job after the call that enqueues it. */
async function added(enqueue: () => Promise<void>): Promise<void> {
  const before = await countWaiting();
  await enqueue();
  await until('the job is added', async () => (await countWaiting()) > before);
}

it('runs what something has caused before what only a timer asks for', async () => {
  for (const accountId of [1, 2, 3])
    await added(() => queue.enqueue({ accountId }, { isRoutine: true }));
  await added(() => queue.enqueue({ accountId: 3 }));
  await added(() => queue.enqueueOverdue({ accountId: 4 }));
  await added(() => queue.enqueue({ accountId: 5 }));
  expect(await takeAll(6)).toEqual([3, 5, 1, 2, 3, 4]);
});

it('adds an overdue job once while it waits', async () => {
  const now = 1_000 * 600_000;
  for (const elapsedMs of [0, 60_000, 599_999]) {
    jest.spyOn(Date, 'now').mockReturnValue(now + elapsedMs);
    await queue.enqueueOverdue({ accountId: 1 });
  }
  await until('the job is added', async () => (await countWaiting()) > 0);
  expect(await countWaiting()).toBe(1);
  jest.spyOn(Date, 'now').mockReturnValue(now + 600_000);
  await added(() => queue.enqueueOverdue({ accountId: 1 }));
  expect(await countWaiting()).toBe(2);
});
