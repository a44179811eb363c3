import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { advisoryLocks } from '../../../src/platform/postgres/advisory-locks.js';
import { LockNotAvailable } from '../../../src/platform/postgres/lock-waits.queries.js';
import {
  applyMigrations,
  checkMigrations,
  OtherMigrations,
  PendingMigrations,
} from '../../../src/platform/postgres/migrations.js';
import { testDatabase } from '../../support/postgres.js';
import type { TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

let database: TestDatabase;
let folder: string;
const log = (): void => undefined;

beforeEach(async () => {
  database = await testDatabase();
  folder = await mkdtemp(join(tmpdir(), 'concilia-migrations-'));
  await writeFile(join(folder, 'migration_lock.toml'), 'provider = "postgresql"\n');
  await writeMigration(
    '20260101000000_second',
    'CREATE TABLE match (line_id int REFERENCES line);',
  );
  await writeMigration('20250101000000_first', 'CREATE TABLE line (id int PRIMARY KEY);\n');
});

afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function writeMigration(name: string, sql: string): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, name, 'migration.sql'), sql);
}

function apply(): Promise<{ applied: string[] }> {
  return applyMigrations({ url: database.url, folder, log });
}

async function hasRun(): Promise<boolean> {
  const { rows } = await database.pool.query(`SELECT to_regclass('run') IS NOT NULL AS "hasRun"`);
  return rows[0].hasRun;
}

it('applies pending migrations in the order of their names, each once', async () => {
  expect(await apply()).toEqual({ applied: ['20250101000000_first', '20260101000000_second'] });
  expect(await apply()).toEqual({ applied: [] });
  await writeMigration('20270101000000_third', 'CREATE TABLE run (id int);');
  expect(await applyMigrations({ pool: database.pool, folder, log })).toEqual({
    applied: ['20270101000000_third'],
  });
});

it('records each migration as Prisma does', async () => {
  await apply();
  const { rows } = await database.pool.query(
    `SELECT checksum, applied_steps_count, finished_at >= started_at AS "isFinished", logs,
            rolled_back_at, id ~ '^[0-9a-f-]{36}$' AS "hasId"
     FROM _prisma_migrations WHERE migration_name = '20250101000000_first'`,
  );
  expect(rows).toEqual([
    {
      // printf 'CREATE TABLE line (id int PRIMARY KEY);\n' | sha256sum
      checksum: 'c9fc30845ff4caf889f9a2114727d6ab97f2faa7bd96c1b5d77c47c1893e1b05',
      applied_steps_count: 1,
      isFinished: true,
      logs: null,
      rolled_back_at: null,
      hasId: true,
    },
  ]);
});

it('applies each migration once when several processes start at once', async () => {
  const results = await Promise.all([apply(), apply(), apply()]);
  expect(results.flatMap((result) => result.applied)).toHaveLength(2);
});

it('fails when an applied migration was changed', async () => {
  await apply();
  await writeMigration('20260101000000_second', 'CREATE TABLE match (line_id bigint);');
  await writeMigration('20270101000000_third', 'CREATE TABLE run (id int);');
  await expect(apply()).rejects.toThrow(/20260101000000_second was changed/);
  expect(await hasRun()).toBe(false);
});

it('accepts an applied migration whose line endings a checkout changed', async () => {
  await apply();
  await writeMigration('20250101000000_first', 'CREATE TABLE line (id int PRIMARY KEY);\r\n');
  expect(await apply()).toEqual({ applied: [] });
});

it('fails when an applied migration is missing in the folder', async () => {
  await apply();
  await rm(join(folder, '20260101000000_second'), { recursive: true });
  await expect(apply()).rejects.toThrow(/20260101000000_second was applied .* is not in/);
});

it('fails when a failed migration is recorded, until it is marked as rolled back', async () => {
  await apply();
  await database.pool.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name)
     VALUES ('x', 'y', '2027_broken')`,
  );
  await expect(apply()).rejects.toThrow(/2027_broken is recorded as started and never finished/);
  await database.pool.query(`UPDATE _prisma_migrations SET rolled_back_at = now() WHERE id = 'x'`);
  expect(await apply()).toEqual({ applied: [] });
});

it('rolls back a migration that fails, and applies it once it is repaired', async () => {
  const name = '20270101000000_third';
  await writeMigration(name, 'CREATE TABLE run (id int); SELECT 1 / 0;');
  await expect(apply()).rejects.toThrow(
    /20270101000000_third failed and was rolled back: .*division/,
  );
  await writeMigration(name, 'CREATE TABLE run (id int);');
  expect(await apply()).toEqual({ applied: [name] });
});

it('records a separate history in each schema', async () => {
  await applyMigrations({ url: database.url, folder, schema: 'sandbox', log });
  const { rows } = await database.pool.query(
    `SELECT to_regclass('sandbox.line') IS NOT NULL AS inside,
            to_regclass('public.line') AS outside`,
  );
  expect(rows).toEqual([{ inside: true, outside: null }]);
  expect((await apply()).applied).toHaveLength(2);
});

describe('a lock that another session holds', () => {
  const third = '20270101000000_third';
  let messages: string[];
  const applyWaiting = (totalMs: number) =>
    applyMigrations({
      url: database.url,
      folder,
      wait: { totalMs, tryMs: 100, reportEveryMs: 50 },
      log: (message) => messages.push(message),
    });
  const failure = (totalMs: number) => applyWaiting(totalMs).catch((error: unknown) => error);
  /** Holds what `sql` locks until `release` is called. */
  const hold = async (sql: string) => {
    const holder = await database.pool.connect();
    await holder.query(`SET application_name = 'month report'; BEGIN; ${sql}`);
    return { release: () => holder.release(true) };
  };

  beforeEach(async () => {
    messages = [];
    await apply();
    await writeMigration(third, 'ALTER TABLE line ADD COLUMN day date; CREATE TABLE run (id int);');
  });

  it('is reported, and blocks no query behind the migration that waits for it', async () => {
    const holder = await hold('SELECT FROM line');
    const applied = applyWaiting(60_000);
    await until('the wait is reported', () =>
      messages.some((message) =>
        /^Waiting for AccessExclusiveLock on relation line, held by process \d+ \(month report, idle in transaction\)$/.test(
          message,
        ),
      ),
    );
    for (let queries = 0; queries < 3; queries += 1) await database.pool.query('SELECT FROM line');
    expect(await hasRun()).toBe(false);
    holder.release();
    expect(await applied).toEqual({ applied: [third] });
  });

  it('ends a migration after the wait, without any of its changes', async () => {
    const holder = await hold('SELECT FROM line');
    const error = await failure(300);
    expect(error).toBeInstanceOf(LockNotAvailable);
    expect(String(error)).toMatch(
      /third was not applied: it gave up after [\d.]+ s waiting for AccessExclusiveLock on relation line, held by process/,
    );
    expect(await hasRun()).toBe(false);
    holder.release();
    expect(await applyWaiting(60_000)).toEqual({ applied: [third] });
  });

  it('is waited for when it is the lock of another migration, and reported', async () => {
    const lock = `SELECT pg_advisory_xact_lock(${advisoryLocks.migrate})`;
    const holder = await hold(lock);
    const error = await failure(200);
    expect(error).toBeInstanceOf(LockNotAvailable);
    expect(String(error)).toMatch(
      /Gave up after 0.2 s waiting for the advisory lock migrate, held by process \d+ \(month report/,
    );
    messages = [];
    const applied = applyWaiting(60_000);
    await until('the wait is reported', () =>
      messages.some((message) => message.startsWith('Waiting for the advisory lock migrate, held')),
    );
    holder.release();
    expect(await applied).toEqual({ applied: [third] });
  });
});

describe('a migration outside a transaction', () => {
  const name = '20270101000000_index';
  const marked = (unique: string) =>
    writeMigration(
      name,
      `-- migrate: outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS line_day;
CREATE ${unique} INDEX CONCURRENTLY line_day ON line ((id % 2));
`,
    );
  const listIndexes = async () => {
    const { rows } = await database.pool.query(
      `SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass('line_day')`,
    );
    return rows;
  };

  beforeEach(async () => {
    await apply();
    await database.pool.query('INSERT INTO line SELECT generate_series(1, 4)');
  });

  it('creates an index concurrently while other processes wait for their turn', async () => {
    await marked('');
    const results = await Promise.all([apply(), apply(), apply()]);
    expect(results.flatMap(({ applied }) => applied)).toEqual([name]);
    expect(await listIndexes()).toEqual([{ isValid: true }]);
  });

  it('runs again from its start when it failed', async () => {
    await marked('UNIQUE');
    await expect(apply()).rejects.toThrow(/_index failed outside a transaction: .*line_day/);
    expect(await listIndexes()).toEqual([{ isValid: false }]);
    await database.pool.query('DELETE FROM line WHERE id > 2');
    expect(await apply()).toEqual({ applied: [name] });
    expect(await listIndexes()).toEqual([{ isValid: true }]);
  });
});

describe('a start that only checks', () => {
  const check = () => checkMigrations({ url: database.url, folder });

  const refusal = async () => {
    const error: unknown = await check().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PendingMigrations);
    return String(error);
  };

  it('names the migrations that the database lacks', async () => {
    await apply();
    await writeMigration('20270101000000_third', 'CREATE TABLE run (id int);');
    expect(await refusal()).toMatch(/lacks .*: 20270101000000_third\. .*concilia migrate/);
  });

  it('says that the database has no tables, and changes nothing', async () => {
    expect(await refusal()).toMatch(/has no tables of Concilia\. .*concilia migrate/);
    const { rows } = await database.pool.query(`SELECT FROM pg_class WHERE relname ~ '^_prisma'`);
    expect(rows).toEqual([]);
    await apply();
    await check();
  });

  it('accepts a database that was migrated for a newer version', async () => {
    await writeMigration('20270101000000_third', 'CREATE TABLE run (id int);');
    await apply();
    await rm(join(folder, '20270101000000_third'), { recursive: true });
    await check();
  });

  it('refuses a database whose migrations are not those of this build', async () => {
    await apply();
    await writeMigration('20250101000000_first', 'CREATE TABLE line (id bigint PRIMARY KEY);\n');
    await expect(check()).rejects.toBeInstanceOf(OtherMigrations);
  });
});
