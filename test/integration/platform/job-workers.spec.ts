// The workers of a process, with two processors of the test on the queue in PostgreSQL.
import { BullModule, Processor, WorkerHost, getQueueToken } from '@nestjs/bullmq';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import type { Job } from 'bullmq';
import { createLog, Log } from '../../../src/platform/log.js';
import { JobQueue } from '../../../src/platform/queue/job-queue.js';
import { JobWorkers } from '../../../src/platform/queue/job-workers.js';
import {
  connectQueue,
  queueModule,
  type QueueConnection,
} from '../../../src/platform/queue/queue-connection.js';
import { jobs, workerOptions, type JobPayload } from '../../../src/platform/queue/queues.js';
import { currentTrace } from '../../../src/platform/trace.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

let begun: { accountId: number; traceId: unknown }[];
let ends: (() => void)[];

@Processor(jobs.reconcile.name, workerOptions(jobs.reconcile))
class Reconciling extends WorkerHost {
  async process({ data: { accountId } }: Job<JobPayload<'reconcile'>>): Promise<void> {
    if (accountId === 0) throw new Error('nothing to reconcile');
    begun.push({ accountId, traceId: currentTrace()?.traceId });
    await new Promise<void>((resolve) => void ends.push(resolve));
  }
}

class WorkersModule {}

let database: TestDatabase;
let connection: QueueConnection;
let application: INestApplicationContext;
let logged: { msg: string }[];
let queue: JobQueue<'reconcile'>;
let workers: JobWorkers;

beforeEach(async () => {
  [begun, ends] = [[], []];
  logged = [];
  const log = createLog('warn', 'test', {
    write: (line: string) => void logged.push(JSON.parse(line) as { msg: string }),
  });
  database = await testDatabase();
  connection = await connectQueue({ redisUrl: null, databaseUrl: database.url }, log);
  application = await NestFactory.createApplicationContext(
    {
      module: WorkersModule,
      imports: [
        DiscoveryModule,
        queueModule(connection.connection),
        BullModule.registerQueue({ name: jobs.reconcile.name }),
      ],
      providers: [JobWorkers, Reconciling, { provide: Log, useValue: log }],
    },
    { logger: false },
  );
  queue = application.get(getQueueToken(jobs.reconcile.name), { strict: false });
  workers = application.get(JobWorkers);
});
afterEach(async () => {
  for (const end of ends) end();
  await application.close();
  await connection.close();
  await database.drop();
});

const begunBy = (accountId: number) => begun.filter((one) => one.accountId === accountId).length;

it('work jobs once they are started, each in a trace of its own', async () => {
  await queue.enqueue({ accountId: 1 });
  await queue.enqueue({ accountId: 2 });
  const areAdded = async () => (await queue.getJobCountByTypes('waiting')) === 2;
  await until('both jobs are added', areAdded);
  expect(begun).toEqual([]);
  workers.start();
  await until('both jobs run', () => begun.length === 2);
  expect(new Set(begun.map(({ traceId }) => traceId)).size).toBe(2);
});

it('run a job once more that was enqueued while it ran', async () => {
  workers.start();
  await queue.enqueue({ accountId: 1 });
  await until('the job runs', () => begun.length === 1);
  for (let again = 0; again < 3; again += 1) await queue.enqueue({ accountId: 1 });
  ends.shift()?.();
  await until('it runs again', () => begun.length === 2);
  ends.shift()?.();
  await until('nothing waits', async () => (await queue.getJobCountByTypes('active')) === 0);
  expect(begun).toHaveLength(2);
});

it('leave half their places to other accounts, and run what they put off', async () => {
  workers.start();
  // Other delays are other ids, which do not coalesce.
  for (const delayMs of [0, 1, 2, 3, 4]) await queue.enqueue({ accountId: 1 }, { delayMs });
  await until('the jobs beyond half the places are put off', async () => {
    return begunBy(1) === 2 && (await queue.getJobCountByTypes('delayed')) === 3;
  });
  await queue.enqueue({ accountId: 2 });
  await until('the job of the other account runs', () => begunBy(2) === 1);
  expect(begunBy(1)).toBe(2);
  await until('all of them have run', () => {
    for (const end of ends.splice(0)) end();
    return begunBy(1) === 5;
  });
});

it('log a failed job by its ids, and go on', async () => {
  workers.start();
  await queue.enqueue({ accountId: 0 });
  const failures = () => logged.filter(({ msg }) => msg.startsWith('job failed'));
  await until('the failure is logged', () => failures().length > 0);
  expect(failures()).toMatchObject([
    {
      job: 'reconcile',
      ids: { accountId: 0 },
      err: { message: 'nothing to reconcile' },
      msg: 'job failed; its sweeper enqueues it again',
    },
  ]);
  await queue.enqueue({ accountId: 1 });
  await until('the next job runs', () => begunBy(1) === 1);
});

it('end the jobs that run before the process stops, and begin no other', async () => {
  workers.start();
  await queue.enqueue({ accountId: 1 });
  await until('the job runs', () => begun.length === 1);
  let hasStopped = false;
  const stopping = application.close().then(() => (hasStopped = true));
  const { worker } = application.get(Reconciling);
  await until('the worker closes', () => worker.closing !== undefined);
  await queue.enqueue({ accountId: 2 });
  expect(hasStopped).toBe(false);
  ends.shift()?.();
  await stopping;
  expect(begun).toHaveLength(1);
});
