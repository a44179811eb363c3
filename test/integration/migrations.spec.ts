import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMigrations, OtherInitialSchema } from '../../src/platform/migrations.js';
import { testDatabase } from '../support/postgres.js';
import type { TestDatabase } from '../support/postgres.js';

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

describe('a database of an unreleased build with another initial schema', () => {
  const resetInstruction = 'delete the data folder /tmp/.data (DATA_DIR)';
  const rejectionMessage = async () => {
    const starting = applyMigrations({ url: database.url, folder, resetInstruction, log });
    const error: unknown = await starting.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OtherInitialSchema);
    return (error as Error).message;
  };
  const expectedMessage = () =>
    `The database ${new URL(database.url).pathname.slice(1)} was created by an unreleased build ` +
    `with another initial schema. To reset it, ${resetInstruction}.`;

  beforeEach(async () => {
    await apply();
    await writeMigration('20270101000000_third', 'CREATE TABLE run (id int);');
  });

  it('is rejected and not changed when the build has another initial migration', async () => {
    await rm(join(folder, '20250101000000_first'), { recursive: true });
    await rm(join(folder, '20260101000000_second'), { recursive: true });
    expect(await rejectionMessage()).toBe(expectedMessage());
    expect(await hasRun()).toBe(false);
  });

  it('is rejected and not changed when the initial migration was rewritten', async () => {
    await writeMigration('20250101000000_first', 'CREATE TABLE line (id bigint PRIMARY KEY);\n');
    expect(await rejectionMessage()).toBe(expectedMessage());
    expect(await hasRun()).toBe(false);
  });
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
