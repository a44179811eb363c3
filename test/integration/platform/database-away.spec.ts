import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defaultDatabaseLimits } from '../../../src/platform/settings/config.js';
import {
  Database,
  createPool,
  isTransactionTimeout,
} from '../../../src/platform/postgres/database.service.js';
import { Prisma } from '../../../src/generated/service/client.js';
import { isDatabaseUnavailable } from '../../../src/platform/postgres/database-errors.js';
import { sampleChargeRequest } from '../../support/payments.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

describe('the service while the database cannot write', () => {
  let service: ServiceApplication;
  beforeAll(async () => {
    service = await serviceApplication();
  });
  afterAll(() => service.stop());

  const setReadOnly = async (isReadOnly: boolean) => {
    const client = await service.database.pool.connect();
    const { rows } = await client.query<{ name: string; now: string }>(
      'SELECT current_database() AS name, clock_timestamp()::text AS now',
    );
    const [{ name, now } = { name: '', now: '' }] = rows;
    await client.query('SET default_transaction_read_only = off');
    await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${isReadOnly}`);
    // Only new sessions have the setting.
    await until('the sessions from before have ended', async () => {
      const { rowCount } = await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = $1 AND pid <> pg_backend_pid() AND backend_start < $2::timestamptz`,
        [name, now],
      );
      return rowCount === 0;
    });
    client.release(true);
  };

  it('answers 503 with Retry-After to whatever writes, is not ready, and works again', async () => {
    const charge = sampleChargeRequest('away');
    const key = { IdempotencyKey: '0b5bd7a5-64ef-4d5b-a6a3-c53a0d3f7a01' };
    await setReadOnly(true);
    expect(await service.database.isReady()).toBe(false);
    for (const [method, path, body] of [
      ['POST', '/baas/v1/charges', charge],
      ['POST', '/v1/reconciliations', undefined],
    ] as const) {
      const response = await service.call(method, path, { body, headers: key });
      expect([path, response.status]).toEqual([path, 503]);
      expect(response.headers.get('retry-after')).toBe('1');
      expect(response.body.traceId).toEqual(expect.any(String));
      expect(response.body.title).toContain('not available');
    }
    expect((await service.call('GET', '/v1/transactions')).status).toBe(200);
    await setReadOnly(false);
    expect(await service.database.isReady()).toBe(true);
    expect((await service.call('POST', '/v1/reconciliations')).status).toBe(202);
  });
});

describe('an error of a connection that is lost', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await testDatabase();
  });
  afterAll(() => test.drop());

  const errorOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  it('says that the database is away, in the middle of a transaction', async () => {
    const database = new Database(createPool(test.url, () => undefined));
    const error = await errorOf(
      database.transaction(async (tx) => {
        const [own] = await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
        await test.pool.query('SELECT pg_terminate_backend($1)', [own?.pid]);
        await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      }),
    );
    expect([error instanceof Error, isDatabaseUnavailable(error)]).toEqual([true, true]);
    const wrong = await errorOf(database.pool.query('SELECT no_such_column'));
    expect([wrong instanceof Error, isDatabaseUnavailable(wrong)]).toEqual([true, false]);
    await database.close();
  });

  it.each([
    { when: 'between two statements', lastStatement: Prisma.sql`SELECT 1` },
    { when: 'during a statement', lastStatement: Prisma.sql`SELECT pg_sleep(20)` },
  ])('says so past the client too, $when, and the process goes on', async ({ lastStatement }) => {
    const database = new Database(createPool(test.url, () => undefined));
    const error = await errorOf(
      database.sqlTransaction(async (tx) => {
        const [own] = await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
        const ended = sleep(100).then(() =>
          test.pool.query('SELECT pg_terminate_backend($1)', [own?.pid]),
        );
        await tx.$executeRaw(lastStatement);
        await ended;
        // The connection is lost while no statement waits for its answer.
        await sleep(200);
        await tx.$executeRaw`SELECT 1`;
      }),
    );
    expect([error instanceof Error, isDatabaseUnavailable(error)]).toEqual([true, true]);
    const rows = await database.sqlTransaction(
      (tx) => tx.$queryRaw<{ seven: number }[]>`SELECT 7 AS seven`,
    );
    expect(rows).toEqual([{ seven: 7 }]);
    await database.close();
  });

  it('ends no process where it comes before the new owner of the connection listens', async () => {
    const pool = createPool(test.url, () => undefined);
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const ended = new Promise((resolve) => client.once('end', resolve));
    await test.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await ended;
    expect(await errorOf(client.query('SELECT 1'))).toBeInstanceOf(Error);
    client.release(true);
    expect((await pool.query('SELECT 7 AS seven')).rows).toEqual([{ seven: 7 }]);
    await pool.end();
  });

  it('is not waited for longer than a transaction may take', async () => {
    const limits = { ...defaultDatabaseLimits, transactionTimeoutMs: 100 };
    const database = new Database(
      createPool(test.url, () => undefined),
      limits,
    );
    const slow = (statement: Prisma.Sql) =>
      errorOf(
        database.sqlTransaction(async (tx) => {
          await tx.$executeRaw(statement);
          await sleep(200);
          await tx.$executeRaw`SELECT 1`;
        }),
      );
    expect(isTransactionTimeout(await slow(Prisma.sql`SELECT 1`))).toBe(true);
    expect(String(await slow(Prisma.sql`SELECT pg_sleep(20)`))).toContain('statement timeout');
    await database.close();
  });

  it('says so too when nobody answers', async () => {
    // No server listens on a reserved port.
    const database = new Database(createPool('postgresql://x@127.0.0.1:1/x', () => undefined));
    for (const work of [
      database.transaction((tx) => tx.$executeRaw`SELECT 1`),
      database.pool.query('SELECT 1'),
      database.prisma.bankAccount.findMany(),
    ])
      expect(isDatabaseUnavailable(await errorOf(work))).toBe(true);
    await database.close();
  });
});
