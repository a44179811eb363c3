// Which jobs run first, and which coalesce, on the queue in PostgreSQL.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Queue, Worker } from 'bullmq';
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
let queue: Queue;
let jobQueue: JobQueue;

beforeAll(async () => {
  database = await testDatabase();
  connection = await connectQueue({ redisUrl: null, databaseUrl: database.url }, log);
});
beforeEach(() => {
  queue = new Queue(name, { connection: connection.connection as never });
  jobQueue = new JobQueue({ get: () => queue } as never, log);
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

it('runs what something has caused before what only a timer asks for', async () => {
  for (const accountId of [1, 2, 3])
    await jobQueue.enqueue('syncStatement', { accountId }, { isRoutine: true });
  await jobQueue.enqueue('syncStatement', { accountId: 3 });
  await jobQueue.enqueueOverdue('syncStatement', { accountId: 4 });
  await jobQueue.enqueue('syncStatement', { accountId: 5 });
  expect(await takeAll(6)).toEqual([3, 5, 1, 2, 3, 4]);
});

it('adds an overdue job once while it waits', async () => {
  const now = 1_000 * 600_000;
  for (const elapsedMs of [0, 60_000, 599_999]) {
    jest.spyOn(Date, 'now').mockReturnValue(now + elapsedMs);
    await jobQueue.enqueueOverdue('syncStatement', { accountId: 1 });
  }
  expect(await queue.getJobCountByTypes('waiting', 'prioritized')).toBe(1);
  jest.spyOn(Date, 'now').mockReturnValue(now + 600_000);
  await jobQueue.enqueueOverdue('syncStatement', { accountId: 1 });
  expect(await queue.getJobCountByTypes('waiting', 'prioritized')).toBe(2);
});
