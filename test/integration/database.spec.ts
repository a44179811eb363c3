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

  it('runs one holder of a session lock at a time, and the next after it ended or failed', async () => {
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
      [1, 2, 3].map(() => database.withSessionLock('syncStatement', 7, work)),
    );
    expect(results.filter((result) => result?.result === 'done')).toHaveLength(1);
    await expect(
      database.withSessionLock('syncStatement', 7, () => Promise.reject(new Error('failed'))),
    ).rejects.toThrow('failed');
    expect(await database.withSessionLock('syncStatement', 7, work)).toEqual({ result: 'done' });
    expect(await database.withSessionLock('syncStatement', 8, work)).toEqual({ result: 'done' });
  });

  it('releases the session lock of a process that lost its connection', async () => {
    open();
    const lost = database.withSessionLock('syncStatement', 7, async () => {
      await test.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7`,
      );
      return database.withSessionLock('syncStatement', 7, () => Promise.resolve('acquired'));
    });
    expect((await lost)?.result).toEqual({ result: 'acquired' });
  });
});
