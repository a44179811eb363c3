// Applies a folder of Prisma migrations, where Prisma's own engine is not available. It writes
// Prisma's table `_prisma_migrations` exactly as Prisma does, so that `prisma migrate status` and
// `resolve` agree with it; `deploy` would run each migration in a transaction. No wait for a lock
// blocks the queries of a table for long.
import { createHash, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  defaultLockWait,
  isLockFailure,
  LockNotAvailable,
  LockWatch,
  takeAdvisoryLock,
  type LockWait,
} from './lock-waits.queries.js';

/**
 * The first line of a migration that runs outside a transaction, for CREATE INDEX CONCURRENTLY and
 * for work in parts. Each of its statements ends with a semicolon at the end of a line. It is
 * recorded when all have succeeded and runs again from its first statement otherwise, so it must
 * first drop what a failed run may have left: DROP INDEX CONCURRENTLY IF EXISTS.
 */
const outsideTransaction = /^-- migrate: outside a transaction\r?\n/;

/** Pauses between tries, in which the queries of other sessions pass. */
const firstPauseMs = 500;
const maxPauseMs = 4_000;

interface Migration {
  name: string;
  sql: string;
}

interface RecordedMigration {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
}

/** The database has migrations that are not those of this build. The message names one. */
export class OtherMigrations extends Error {
  override readonly name = 'OtherMigrations';
}

/** The database has not all migrations of this build. The message says how to apply them. */
export class PendingMigrations extends Error {
  override readonly name = 'PendingMigrations';
}

type Target = { url: string } | { pool: pg.Pool };

interface MigrationOptions {
  folder: string;
  schema?: string;
}

/**
 * Applies the pending migrations in the order of their folder names, each in its own transaction.
 * Throws before it changes anything when the migrations recorded in the database are not those of
 * the folder (`OtherMigrations`). A transaction that does not
 * get a lock within a moment is rolled back and tried again; `LockNotAvailable` when the wait ends.
 */
export async function applyMigrations(
  options: Target & MigrationOptions & { wait?: Partial<LockWait>; log: (message: string) => void },
): Promise<{ applied: string[] }> {
  const { folder, schema = 'public', log } = options;
  const wait = { ...defaultLockWait, ...options.wait };
  const migrations = await readMigrations(folder);
  return withConnection(options, async (client) => {
    await client.query(`SET statement_timeout = 0; SET lock_timeout = ${wait.totalMs}`);
    await takeAdvisoryLock(client, 'migrate', wait, log);
    await prepareHistory(client, schema);
    const recorded = await listRecordedMigrations(client, schema);
    const pending = choosePending(migrations, recorded, folder);
    if (pending.length === 0) return { applied: [] };
    await withConnection(options, async (observer) => {
      const watch = new LockWatch(observer, await readPid(client), wait, log);
      try {
        for (const migration of pending)
          await applyWithRetries(client, migration, wait, watch, log);
      } finally {
        await watch.stop();
      }
    });
    return { applied: pending.map(({ name }) => name) };
  });
}

/**
 * Only reads, and takes no lock. Throws PendingMigrations, or what `applyMigrations` throws for a
 * database of another history. Migrations after the newest one of the folder are accepted: a newer
 * version was migrated for, and processes of this one may still start.
 */
export async function checkMigrations(options: Target & MigrationOptions): Promise<void> {
  const { folder, schema = 'public' } = options;
  const migrations = await readMigrations(folder);
  const newest = migrations.at(-1)?.name ?? '';
  await withConnection(options, async (client) => {
    const recorded = await listRecordedMigrations(client, schema);
    const known = recorded.filter(({ migration_name: name }) => name <= newest);
    const pending = choosePending(migrations, known, folder);
    if (pending.length === 0) return;
    const lacking =
      recorded.length === 0
        ? 'has no tables of Concilia'
        : `lacks migrations of this version: ${pending.map(({ name }) => name).join(', ')}`;
    throw new PendingMigrations(
      `The database ${await currentDatabaseName(client)} ${lacking}. Apply its migrations with ` +
        `\`concilia migrate\`, then run this again.`,
    );
  });
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => ({
      name,
      sql: await readFile(join(folder, name, 'migration.sql'), 'utf8'),
    })),
  );
}

/**
 * The connection is closed afterwards and not reused by a pool: its session has settings and locks.
 */
async function withConnection<T>(
  target: Target,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  if ('pool' in target) {
    const client = await target.pool.connect();
    try {
      return await work(client);
    } finally {
      client.release(true);
    }
  }
  const client = new pg.Client({
    connectionString: target.url,
    application_name: 'concilia migrations',
    connectionTimeoutMillis: 10_000,
  });
  // The next query of a lost connection fails. Without a listener the process would end.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function prepareHistory(client: pg.ClientBase, schema: string): Promise<void> {
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${pg.escapeIdentifier(schema)}`);
  await client.query(`SET search_path TO ${pg.escapeIdentifier(schema)}`);
  await client.query(`
    CREATE TABLE IF NOT EXISTS _prisma_migrations (
      id                  VARCHAR(36) PRIMARY KEY NOT NULL,
      checksum            VARCHAR(64) NOT NULL,
      finished_at         TIMESTAMPTZ,
      migration_name      VARCHAR(255) NOT NULL,
      logs                TEXT,
      rolled_back_at      TIMESTAMPTZ,
      started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
      applied_steps_count INTEGER NOT NULL DEFAULT 0
    )`);
}

/** None in a database without a history. */
async function listRecordedMigrations(
  client: pg.ClientBase,
  schema: string,
): Promise<RecordedMigration[]> {
  const history = `${pg.escapeIdentifier(schema)}._prisma_migrations`;
  const { rows } = await client.query<{ exists: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS exists',
    [history],
  );
  if (!rows[0]?.exists) return [];
  const result = await client.query<RecordedMigration>(
    `SELECT migration_name, checksum, finished_at FROM ${history}
     WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  return result.rows;
}

async function readPid(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

async function currentDatabaseName(client: pg.ClientBase): Promise<string> {
  const result = await client.query<{ name: string }>('SELECT current_database() AS name');
  return result.rows[0]?.name ?? '';
}

function choosePending(
  migrations: Migration[],
  recorded: RecordedMigration[],
  folder: string,
): Migration[] {
  const byName = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { migration_name: name, checksum, finished_at: finishedAt } of recorded) {
    if (finishedAt === null) {
      throw new Error(
        `Migration ${name} is recorded as started and never finished. ` +
          `Repair the database, then mark the migration with ` +
          `\`prisma migrate resolve --applied ${name}\` or \`--rolled-back ${name}\`.`,
      );
    }
    const migration = byName.get(name);
    if (!migration) {
      throw new OtherMigrations(
        `Migration ${name} was applied to this database but is not in ${folder}. ` +
          `Is this program older than its database?`,
      );
    }
    if (!checksums(migration.sql).includes(checksum)) {
      throw new OtherMigrations(
        `Migration ${name} was changed after it was applied to this database. ` +
          `Restore its file and put the change in a new migration.`,
      );
    }
  }
  const applied = new Set(recorded.map((record) => record.migration_name));
  return migrations.filter((migration) => !applied.has(migration.name));
}

/**
 * Accepted checksums, the file's own first. Like Prisma, this accepts a checkout that changed only
 * line endings.
 */
function checksums(sql: string): string[] {
  const unixSql = sql.replaceAll('\r\n', '\n');
  return [sql, unixSql, unixSql.replaceAll('\n', '\r\n')].map((text) =>
    createHash('sha256').update(text).digest('hex'),
  );
}

async function applyWithRetries(
  client: pg.ClientBase,
  migration: Migration,
  { totalMs, tryMs }: LockWait,
  watch: LockWatch,
  log: (message: string) => void,
): Promise<void> {
  const { name, sql } = migration;
  const startedAtMs = performance.now();
  const elapsedMs = () => Math.round(performance.now() - startedAtMs);
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    try {
      if (outsideTransaction.test(sql)) await applyOutsideTransaction(client, migration);
      else await applyInTransaction(client, migration, tryMs);
      return log(`Applied migration ${name} (${elapsedMs()} ms)`);
    } catch (cause) {
      if (!isLockFailure(cause)) throw failureOf(migration, cause);
      if (elapsedMs() + pauseMs >= totalMs)
        throw new LockNotAvailable(
          `Migration ${name} was not applied: it gave up after ${elapsedMs() / 1_000} s ` +
            `waiting for ${watch.lastAwaited}.`,
          { cause },
        );
      log(`Migration ${name} was rolled back without its lock; trying again in ${pauseMs} ms`);
      await sleep(pauseMs);
    }
  }
}

function failureOf({ name, sql }: Migration, cause: unknown): Error {
  const consequence = outsideTransaction.test(sql)
    ? 'failed outside a transaction'
    : 'failed and was rolled back';
  return new Error(`Migration ${name} ${consequence}: ${String(cause)}`, { cause });
}

/**
 * The record is written in the migration's transaction: a failure leaves neither, so the migration
 * can be tried again.
 */
async function applyInTransaction(
  client: pg.ClientBase,
  migration: Migration,
  lockTimeoutMs: number,
): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    const id = await recordStart(client, migration);
    await client.query(migration.sql);
    await recordEnd(client, id);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** Nothing is recorded before the end: a migration that was cut off is run again. */
async function applyOutsideTransaction(client: pg.ClientBase, migration: Migration): Promise<void> {
  // Several statements in one query would be one transaction. A DO block has semicolons inside.
  const statements = migration.sql.match(/(?:\$\$.*?\$\$|.)+?;[^\S\n]*$/gms) ?? [];
  for (const statement of statements) await client.query(statement);
  await client.query('BEGIN');
  try {
    await recordEnd(client, await recordStart(client, migration));
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function recordStart(client: pg.ClientBase, { name, sql }: Migration): Promise<string> {
  const id = randomUUID();
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at)
     VALUES ($1, $2, $3, clock_timestamp())`,
    [id, checksums(sql)[0], name],
  );
  return id;
}

async function recordEnd(client: pg.ClientBase, id: string): Promise<void> {
  await client.query(
    `UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1
     WHERE id = $1`,
    [id],
  );
}
