import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  defaultDatabaseLimits,
  type DatabaseLimits,
} from '../../../src/platform/settings/config.js';
import {
  afterCommit,
  createPool,
  Database,
} from '../../../src/platform/postgres/database.service.js';
import { Prisma } from '../../../src/generated/service/client.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

interface ArraysRow {
  texts: (string | null)[];
  numbers: (bigint | null)[];
  floats: number[];
  booleans: boolean[];
  times: (Date | null)[];
  none: string[];
}

describe('the database', () => {
  let test: TestDatabase;
  let database: Database;

  const open = (limits: Partial<DatabaseLimits> = {}) => {
    const all = { ...defaultDatabaseLimits, ...limits };
    database = new Database(
      createPool(test.url, () => undefined, all),
      all,
    );
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
    const instants = [new Date('2026-11-21T02:30:00.000Z'), new Date('2026-07-01T00:00:00.125Z')];
    const [first] = instants;
    const [read] = await database.prisma.$queryRaw<{ at: Date; every: Date[] }[]>`
      SELECT '2026-11-21T02:30:00Z'::timestamptz AS at,
             ARRAY['2026-11-21T02:30:00Z', '2026-07-01T00:00:00.125Z']::timestamptz[] AS every`;
    expect(read).toEqual({ at: first, every: instants });
    const [written] = await database.prisma.$queryRaw<{ epoch: number; every: number[] }[]>`
      SELECT extract(epoch FROM ${first}::timestamptz)::float8 AS epoch,
             ARRAY(SELECT extract(epoch FROM at)::float8
                   FROM unnest(${instants}::timestamptz[]) AS at) AS every`;
    const epochs = instants.map((instant) => instant.getTime() / 1_000);
    expect(written).toEqual({ epoch: epochs[0], every: epochs });
    const [day] = await database.prisma.$queryRaw<{ day: string }[]>`
      SELECT ${first}::date::text AS day`;
    expect(day?.day).toBe('2026-11-21');
  });

  it('needs no start-up option and no setting of its session', async () => {
    open();
    const { rows } = await database.pool.query<{ name: string }>(
      `SELECT name FROM pg_settings WHERE source IN ('client', 'session') ORDER BY name`,
    );
    // Sent by every client, and known to poolers.
    expect(rows.map(({ name }) => name)).toEqual(['client_encoding']);
  });

  it('stores nothing where the statement that is sent with the commit fails', async () => {
    open({ poolSize: 1 });
    await test.pool.query('CREATE TABLE stored (value int)');
    const store = (value: number, isComplete: boolean) =>
      database.sqlTransaction(async (tx, commitWith) => {
        await tx.$executeRaw`INSERT INTO stored VALUES (${value}::int)`;
        commitWith(Prisma.sql`INSERT INTO stored SELECT 1 / ${isComplete ? 1 : 0}::int`);
        return value;
      });
    expect(await store(7, true)).toBe(7);
    await expect(store(8, false)).rejects.toThrow('division by zero');
    const { rows } = await test.pool.query('SELECT array_agg(value) AS values FROM stored');
    expect(rows).toEqual([{ values: [7, 1] }]);
  });

  it('commits what is sent at once with the commit, or none of it', async () => {
    open({ poolSize: 1 });
    await test.pool.query('CREATE TABLE stored (value int)');
    const store = (value: number, divisor: number) =>
      database.sqlAtOnce<{ stored: number[] | null }>(
        Prisma.sql`SELECT array_agg(value ORDER BY value) AS stored FROM stored`,
        [
          Prisma.sql`INSERT INTO stored VALUES (${value}::int)`,
          Prisma.sql`INSERT INTO stored VALUES (${value}::int / ${divisor}::int)`,
        ],
      );
    expect(await store(7, 7)).toEqual([{ stored: null }]);
    await expect(store(8, 0)).rejects.toThrow('division by zero');
    expect(await store(9, 9)).toEqual([{ stored: [1, 7] }]);
    expect(await store(10, 10)).toEqual([{ stored: [1, 1, 7, 9] }]);
  });

  it('commits nothing of a transaction whose time limit has passed', async () => {
    open({ poolSize: 1, transactionTimeoutMs: 200 });
    await test.pool.query('CREATE TABLE stored (value int)');
    const late = database.sqlTransaction(async (tx, commitWith) => {
      await tx.$executeRaw`INSERT INTO stored VALUES (1)`;
      await sleep(300);
      commitWith(Prisma.sql`INSERT INTO stored VALUES (2)`);
    });
    await expect(late).rejects.toThrow('the transaction has ended');
    const { rows } = await test.pool.query('SELECT value FROM stored');
    expect(rows).toEqual([]);
  });

  describe('the readers beside a transaction', () => {
    /** What the transaction and its readers see of a row that the transaction has inserted. */
    const seen = (work = () => Promise.resolve()) =>
      database.transaction(async (tx) => {
        await tx.$executeRaw`INSERT INTO stored VALUES (1)`;
        return database.withReaders(2, async (readers) => {
          const reads = [tx, ...readers].map((one) => one.$queryRaw<object[]>`SELECT FROM stored`);
          const [own, ...beside] = await Promise.all(reads);
          await work();
          return { own: own?.length, beside: beside.map(({ length }) => length) };
        });
      });
    const committed = async () => {
      const { rows } = await test.pool.query<{ rows: number }>(
        'SELECT count(*)::int AS rows FROM stored',
      );
      return rows[0]?.rows;
    };

    beforeEach(() => test.pool.query('CREATE TABLE stored (value int)'));

    it('see only what is committed, on connections of their own', async () => {
      open({ poolSize: 4 });
      expect(await seen()).toEqual({ own: 1, beside: [0, 0] });
      expect(await seen()).toEqual({ own: 2, beside: [1, 1] });
      expect(database.pool.totalCount).toBe(3);
    });

    it('are as many as the pool has connections to spare but one', async () => {
      open({ poolSize: 3 });
      expect(await seen()).toEqual({ own: 1, beside: [0] });
      await database.close();
      open({ poolSize: 2 });
      expect(await seen()).toEqual({ own: 2, beside: [] });
    });

    it('are none while another transaction has readers', async () => {
      open({ poolSize: 6 });
      const inside: unknown[] = [];
      await seen(async () => void inside.push(await seen()));
      expect(inside).toEqual([{ own: 1, beside: [] }]);
      expect(await seen()).toEqual({ own: 3, beside: [2, 2] });
    });

    it('end with the transaction that fails', async () => {
      open({ poolSize: 4 });
      const failure = new Error('the work has failed');
      await expect(seen(() => Promise.reject(failure))).rejects.toBe(failure);
      expect(await committed()).toBe(0);
      expect(database.pool.idleCount).toBe(3);
      expect(await seen()).toEqual({ own: 1, beside: [0, 0] });
    });
  });

  it('begins a transaction with an isolation level', async () => {
    open({ poolSize: 1 });
    const [read] = await database.prisma.$transaction(
      (tx) =>
        tx.$queryRaw<{ level: string }[]>`SELECT current_setting('transaction_isolation') AS level`,
      { isolationLevel: 'RepeatableRead' },
    );
    expect(read).toEqual({ level: 'repeatable read' });
  });

  it('has the server end a statement of a transaction that takes too long', async () => {
    open({ statementTimeoutMs: 200 });
    const sleeping = database.transaction(async (tx) => {
      await tx.$executeRaw`SELECT pg_sleep(60)`;
    });
    await expect(sleeping).rejects.toThrow(/canceling statement due to statement timeout/);
    const { rows } = await test.pool.query(
      `SELECT 1 FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'active' AND query LIKE '%pg_sleep(60)'`,
    );
    expect(rows).toEqual([]);
  });

  it('waits no longer for the answer to a statement outside a transaction', async () => {
    open({ statementTimeoutMs: 1 });
    const sleeping = database.prisma.$executeRaw`SELECT pg_sleep(60)`;
    await expect(sleeping).rejects.toThrow(/timeout/i);
    expect(await database.isReady()).toBe(true);
  });

  it('has the server end a transaction that does nothing for too long', async () => {
    open({ statementTimeoutMs: 200 });
    const idle = database.transaction(async (tx) => {
      await tx.$queryRaw`SELECT 1`;
      await until('the server ends the connection', async () => {
        const { rows } = await test.pool.query(
          `SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
        );
        return rows.length === 0;
      });
      await tx.$queryRaw`SELECT 1`;
    });
    await expect(idle).rejects.toThrow();
  });

  it('retries a transaction that PostgreSQL ended because of a deadlock', async () => {
    open();
    await test.pool.query('CREATE TABLE counter (id int PRIMARY KEY, value int NOT NULL)');
    await test.pool.query('INSERT INTO counter VALUES (1, 0), (2, 0)');
    let runs = 0;
    let commits = 0;
    const add = (first: number, second: number) =>
      database.transaction(async (tx) => {
        runs += 1;
        afterCommit(tx, () => (commits += 1));
        await tx.$executeRaw`UPDATE counter SET value = value + 1 WHERE id = ${first}`;
        await sleep(200);
        await tx.$executeRaw`UPDATE counter SET value = value + 1 WHERE id = ${second}`;
      });
    await Promise.all([add(1, 2), add(2, 1)]);
    expect(runs).toBeGreaterThan(2);
    expect(commits).toBe(2);
    const { rows } = await test.pool.query('SELECT value FROM counter ORDER BY id');
    expect(rows).toEqual([{ value: 2 }, { value: 2 }]);
  });

  it('sends statements together, and runs them in their order', async () => {
    open();
    const seen = await database.transaction(async (tx) => {
      const [, first, , second] = await Promise.all([
        tx.$executeRaw`CREATE TEMP TABLE step (value int) ON COMMIT DROP`,
        tx.$queryRaw<{ count: number }[]>`SELECT count(*)::int FROM step`,
        tx.$executeRaw`INSERT INTO step VALUES (${1}::int)`,
        tx.$queryRaw<{ count: number }[]>`SELECT count(*)::int FROM step`,
      ]);
      return [first, second];
    });
    expect(seen).toEqual([[{ count: 0 }], [{ count: 1 }]]);
  });

  it('rolls back with the first error of statements that were sent together', async () => {
    open();
    await test.pool.query('CREATE TABLE counter (value int CHECK (value < 2))');
    const failing = database.transaction((tx) =>
      Promise.all([1, 2, 3].map((value) => tx.$executeRaw`INSERT INTO counter VALUES (${value})`)),
    );
    await expect(failing).rejects.toThrow('counter_value_check');
    expect((await test.pool.query('SELECT 1 FROM counter')).rows).toEqual([]);
  });

  it('sends arrays of every element exactly', async () => {
    open();
    const texts = ['', 'NULL', 'null', '{a,b}', '"', '\\', '\\"', ' x ', 'é\n\t😀', null];
    const numbers = [9_007_199_254_740_993n, -1n, null];
    const times = [new Date('2026-07-01T00:00:00.125Z'), null];
    const [read] = await database.transaction(
      (tx) => tx.$queryRaw<ArraysRow[]>`
        SELECT ${texts}::text[] AS texts, ${numbers}::bigint[] AS numbers,
               ${[0.5, 1e21]}::float8[] AS floats, ${[true, false]}::boolean[] AS booleans,
               ${times}::timestamptz[] AS times, ${[]}::text[] AS none`,
    );
    const floats = [0.5, 1e21];
    expect(read).toEqual({ texts, numbers, floats, booleans: [true, false], times, none: [] });
  });

  it('does nothing after the commit of a transaction that was rolled back', async () => {
    open();
    let commits = 0;
    const failed = database.transaction((tx) => {
      afterCommit(tx, () => (commits += 1));
      return Promise.reject(new Error('not now'));
    });
    await expect(failed).rejects.toThrow('not now');
    await database.transaction(async (tx) => {
      afterCommit(tx, () => (commits += 10));
      await tx.$queryRaw`SELECT 1`;
      expect(commits).toBe(0);
    });
    expect(commits).toBe(10);
  });
});
