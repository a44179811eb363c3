// Queries of one moment that share a statement, and the sweepers that ask by them.
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Prisma } from '../../../src/generated/service/client.js';
import { SharedReads } from '../../../src/platform/postgres/shared-reads.queries.js';
import { serviceApplication } from '../../support/service-application.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

let service: ServiceDatabase;
let reads: SharedReads;
beforeAll(async () => {
  service = await serviceDatabase();
  reads = service.database.sharedReads;
});
afterAll(() => service.drop());

it('answers the queries of one moment by one statement', async () => {
  const statements = jest.spyOn(service.database.pool, 'query');
  const hostile = [`it's "quoted"`, 'back\\slash', '{a,b}', ''];
  const [numbers, texts, none, several] = await Promise.all([
    reads.$queryRaw`SELECT n AS some_number FROM generate_series(${1}::int, ${2}::int) n`,
    reads.$queryRaw(Prisma.sql`SELECT ${'ação'}::text AS some_text, NULL::int AS some_number`),
    reads.$queryRaw`SELECT 1 AS some_number WHERE false`,
    reads.$queryRaw`SELECT unnest(${hostile}::text[]) AS some_text`,
  ]);
  expect(numbers).toEqual([{ someNumber: 1 }, { someNumber: 2 }]);
  expect(texts).toEqual([{ someText: 'ação', someNumber: null }]);
  expect(none).toEqual([]);
  expect(several).toEqual(hostile.map((someText) => ({ someText })));
  expect(statements).toHaveBeenCalledTimes(1);
  statements.mockRestore();
});

it('fails the query that fails, and no other', async () => {
  const [failed, answered] = await Promise.allSettled([
    reads.$queryRaw`SELECT 1 / ${0}::int AS result`,
    reads.$queryRaw`SELECT 1 AS result`,
  ]);
  expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'division by zero' } });
  expect(answered).toEqual({ status: 'fulfilled', value: [{ result: 1 }] });
});

it('delays no query by more than the limit of one that is slow, and reads apart from then on', async () => {
  const limited = new SharedReads(service.database.pool, 300);
  const readBesideSlow = async () => {
    const startedAt = performance.now();
    const slow = limited.$queryRaw`SELECT pg_sleep(2)::text AS slept`.catch(
      (error: { code?: string }) => error.code,
    );
    const read = await limited.$queryRaw`SELECT ${"it's"}::text AS some_text`;
    expect(read).toEqual([{ someText: "it's" }]);
    const afterMs = performance.now() - startedAt;
    // query_canceled
    expect(await slow).toBe('57014');
    return afterMs;
  };
  const first = await readBesideSlow();
  expect(first).toBeGreaterThan(300);
  expect(first).toBeLessThan(1_500);
  expect(await readBesideSlow()).toBeLessThan(300);
  const { rows } = await service.database.pool.query('SHOW statement_timeout');
  expect(rows).toEqual([{ statement_timeout: '0' }]);
});

it('costs a process at rest one statement for all frequent sweepers', async () => {
  const { application, database, stop } = await serviceApplication();
  const frequent = [...application.get(SchedulerRegistry).getCronJobs().values()].filter((job) => {
    const [first, second] = job.nextDates(2);
    return second!.toMillis() - first!.toMillis() <= 5_000;
  });
  const sweep = () => Promise.all(frequent.map((job) => job.fireOnTick()));
  expect(frequent.length).toBeGreaterThan(10);
  // The first runs store what a new account lacks.
  await sweep();
  // Statements and transactions both begin with a connection of the pool.
  const connections = jest.spyOn(database.pool, 'connect');
  await sweep();
  expect(connections).toHaveBeenCalledTimes(1);
  await stop();
});
