// When all tables of the queue were truncated, with its list of applied migrations, the next
// process that starts creates the queue's schema again.
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { createLog } from '../../../src/platform/log.js';
import { connectQueue } from '../../../src/platform/queue/queue-connection.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

const log = createLog('silent', 'test');
let database: TestDatabase;

const open = () => connectQueue({ redisUrl: null, databaseUrl: database.url }, log);

async function countQueueMigrations(): Promise<number> {
  const { rows } = await database.pool.query('SELECT 1 FROM bullmq.migration');
  return rows.length;
}

/**
 * The queue's tables by their creation. Dropping the schema locks one of the youngest tables last.
 */
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

it('is prepared again after a deadlock with a process that uses the same tables', async () => {
  const tables = await listTables();
  await database.pool.query(`TRUNCATE ${tables.join(', ')}`);
  const warned = jest.spyOn(log, 'warn');
  const other = await database.pool.connect();
  await other.query('BEGIN');
  await other.query(`LOCK TABLE ${tables.at(-1)} IN ROW EXCLUSIVE MODE`);
  const opening = open();
  await until('the starting process waits for the other', async () => {
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
    'queue schema could not be prepared; retrying',
  );
  expect(await countQueueMigrations()).toBeGreaterThan(0);
});

it('is prepared by one process at a time', async () => {
  await database.pool.query(`TRUNCATE ${(await listTables()).join(', ')}`);
  const warned = jest.spyOn(log, 'warn');

  for (const queue of await Promise.all([open(), open(), open()])) await queue.close();

  expect(warned).not.toHaveBeenCalled();
  expect(await countQueueMigrations()).toBeGreaterThan(0);
});
