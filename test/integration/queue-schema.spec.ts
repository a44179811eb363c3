// A queue whose tables were emptied, the note of its migrations with them, is made anew by whoever starts next.
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { createLog } from '../../src/platform/log.js';
import { connectQueue } from '../../src/platform/queue-connection.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

const log = createLog('silent', 'test');
let database: TestDatabase;

const open = () => connectQueue({ redisUrl: null, databaseUrl: database.url }, log);

async function countNotes(): Promise<number> {
  const { rows } = await database.pool.query('SELECT 1 FROM bullmq.migration');
  return rows.length;
}

/** The last of the queue's tables to be locked when its schema is dropped is among the youngest. */
async function listTables(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relnamespace = 'bullmq'::regnamespace AND relkind = 'r' ORDER BY oid`,
  );
  return rows.map(({ name }) => name);
}

beforeEach(async () => {
  database = await testDatabase();
  await (await open()).close();
});

afterEach(async () => {
  jest.restoreAllMocks();
  await database.drop();
});

it('is prepared again after it gave way to a process at work on the same tables', async () => {
  const tables = await listTables();
  await database.pool.query(`TRUNCATE ${tables.join(', ')}`);
  const warned = jest.spyOn(log, 'warn');
  const other = await database.pool.connect();
  await other.query('BEGIN');
  await other.query(`LOCK TABLE ${tables.at(-1)} IN ROW EXCLUSIVE MODE`);
  const opening = open();
  await until('the one that starts waits for the other', async () => {
    const { rows } = await database.pool.query(
      `SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'`,
    );
    return rows.length > 0;
  });
  await other.query(`LOCK TABLE ${tables.slice(0, -1).join(', ')} IN ROW EXCLUSIVE MODE`);
  await other.query('ROLLBACK');
  other.release();

  await (await opening).close();

  expect(warned).toHaveBeenCalledWith(
    { err: expect.objectContaining({ code: '40P01' }) },
    'the queue could not be prepared; trying again',
  );
  expect(await countNotes()).toBeGreaterThan(0);
});

it('is prepared by one process at a time', async () => {
  await database.pool.query(`TRUNCATE ${(await listTables()).join(', ')}`);
  const warned = jest.spyOn(log, 'warn');

  for (const queue of await Promise.all([open(), open(), open()])) await queue.close();

  expect(warned).not.toHaveBeenCalled();
  expect(await countNotes()).toBeGreaterThan(0);
});
