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

  it('tells the same instant whatever zone the server lives in', async () => {
    const { rows } = await test.pool.query<{ name: string }>('SELECT current_database() AS name');
    await test.pool.query(`ALTER DATABASE ${rows[0]?.name} SET timezone = 'America/Sao_Paulo'`);
    open();
    const instant = new Date('2026-11-21T02:30:00.000Z');
    const [told] = await database.prisma.$queryRaw<{ at: Date }[]>`
      SELECT '2026-11-21T02:30:00Z'::timestamptz AS at`;
    expect(told?.at).toEqual(instant);
    const [kept] = await database.prisma.$queryRaw<{ epoch: number }[]>`
      SELECT extract(epoch FROM ${instant}::timestamptz)::float8 AS epoch`;
    expect(kept?.epoch).toBe(instant.getTime() / 1_000);
  });

  it('runs a transaction again that PostgreSQL ended for a deadlock', async () => {
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

  it('lets one do its work alone, and the next when it has ended or failed', async () => {
    open();
    let inside = 0;
    const work = async () => {
      inside += 1;
      expect(inside).toBe(1);
      await sleep(50);
      inside -= 1;
      return 'done';
    };
    const results = await Promise.all(
      [1, 2, 3].map(() => database.alone('syncStatement', 7, work)),
    );
    expect(results.filter((result) => result?.result === 'done')).toHaveLength(1);
    await expect(
      database.alone('syncStatement', 7, () => Promise.reject(new Error('failed'))),
    ).rejects.toThrow('failed');
    expect(await database.alone('syncStatement', 7, work)).toEqual({ result: 'done' });
    expect(await database.alone('syncStatement', 8, work)).toEqual({ result: 'done' });
  });

  it('takes the lock from who lost its connection', async () => {
    open();
    const lost = database.alone('syncStatement', 7, async () => {
      await test.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7`,
      );
      return database.alone('syncStatement', 7, () => Promise.resolve('taken'));
    });
    expect((await lost)?.result).toEqual({ result: 'taken' });
  });
});
