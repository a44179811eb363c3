import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPool, Database } from '../../src/database.service.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';

describe('the database', () => {
  let test: TestDatabase;
  let database: Database;

  const open = () => {
    database = new Database(createPool(test.url, () => undefined));
  };

  beforeEach(async () => {
    test = await testDatabase();
  });

  afterEach(async () => {
    await database.close();
    await test.drop();
  });

  it('reads and writes the same instant in every time zone of the server', async () => {
    const { rows } = await test.pool.query<{ name: string }>('SELECT current_database() AS name');
    await test.pool.query(`ALTER DATABASE ${rows[0]?.name} SET timezone = 'America/Sao_Paulo'`);
    open();
    const instant = new Date('2026-11-21T02:30:00.000Z');
    const [read] = await database.prisma.$queryRaw<{ at: Date }[]>`
      SELECT '2026-11-21T02:30:00Z'::timestamptz AS at`;
    expect(read?.at).toEqual(instant);
    const [written] = await database.prisma.$queryRaw<{ epoch: number }[]>`
      SELECT extract(epoch FROM ${instant}::timestamptz)::float8 AS epoch`;
    expect(written?.epoch).toBe(instant.getTime() / 1_000);
  });

  it('retries a transaction that PostgreSQL ended because of a deadlock', async () => {
    open();
    await test.pool.query('CREATE TABLE counter (id int PRIMARY KEY, value int NOT NULL)');
    await test.pool.query('INSERT INTO counter VALUES (1, 0), (2, 0)');
    let runs = 0;
    const add = (first: number, second: number) =>
      database.transaction(async (tx) => {
        runs += 1;
        await tx.$executeRaw`UPDATE counter SET value = value + 1 WHERE id = ${first}`;
        await sleep(200);
        await tx.$executeRaw`UPDATE counter SET value = value + 1 WHERE id = ${second}`;
      });
    await Promise.all([add(1, 2), add(2, 1)]);
    expect(runs).toBeGreaterThan(2);
    const { rows } = await test.pool.query('SELECT value FROM counter ORDER BY id');
    expect(rows).toEqual([{ value: 2 }, { value: 2 }]);
  });
});
