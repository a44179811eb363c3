// Applies a folder of Prisma migrations at start, where Prisma's own engine is not available. It
// writes Prisma's table `_prisma_migrations` exactly as Prisma does, so that `prisma migrate` and
// this code can be used in turn.
import { createHash, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { advisoryLocks } from './advisory-locks.js';

const lockTimeoutMs = 60_000;

interface Migration {
  name: string;
  sql: string;
}

interface RecordedMigration {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
}

/**
 * The database has a different initial schema than this build. The message explains how to reset
 * the database.
 */
export class OtherInitialSchema extends Error {
  override readonly name = 'OtherInitialSchema';
}

/**
 * Applies the pending migrations in the order of their folder names, each in its own transaction.
 * Throws before it changes anything when the migrations recorded in the database are not those of
 * the folder: `OtherInitialSchema` when the initial migration differs. Its message ends with
 * `resetInstruction`, which says what the operator must do.
 */
export async function applyMigrations(
  options: ({ url: string } | { pool: pg.Pool }) & {
    folder: string;
    schema?: string;
    resetInstruction?: string;
    log: (message: string) => void;
  },
): Promise<{ applied: string[] }> {
  const { folder, schema = 'public', resetInstruction = 'create an empty database', log } = options;
  const migrations = await readMigrations(folder);
  return withConnection(options, async (client) => {
    await prepareSession(client, schema);
    const recorded = await listRecordedMigrations(client);
    if (hasOtherInitialMigration(migrations, recorded)) {
      const database = await currentDatabaseName(client);
      throw new OtherInitialSchema(
        `The database ${database} was created by an unreleased build with another initial schema. ` +
          `To reset it, ${resetInstruction}.`,
      );
    }
    const pending = choosePending(migrations, recorded, folder);
    for (const migration of pending) {
      const startedAtMs = Date.now();
      await applyMigration(client, migration);
      log(`Applied migration ${migration.name} (${Date.now() - startedAtMs} ms)`);
    }
    return { applied: pending.map((migration) => migration.name) };
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
 * The connection is closed afterwards and not reused by a pool: it has an advisory lock and its own
 * search path.
 */
async function withConnection<T>(
  target: { url: string } | { pool: pg.Pool },
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
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function prepareSession(client: pg.ClientBase, schema: string): Promise<void> {
  await client.query(`SET statement_timeout = 0; SET lock_timeout = ${lockTimeoutMs}`);
  await client.query('SELECT pg_advisory_lock($1)', [advisoryLocks.migrate]);
  await client.query('SET lock_timeout = 0');
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

async function listRecordedMigrations(client: pg.ClientBase): Promise<RecordedMigration[]> {
  const result = await client.query<RecordedMigration>(
    `SELECT migration_name, checksum, finished_at FROM _prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  return result.rows;
}

async function currentDatabaseName(client: pg.ClientBase): Promise<string> {
  const result = await client.query<{ name: string }>('SELECT current_database() AS name');
  return result.rows[0]?.name ?? '';
}

/**
 * Until the first release, a change of the schema rewrites the initial migration. A database of an
 * earlier build then lacks this build's initial migration, or has recorded it with another
 * checksum.
 */
function hasOtherInitialMigration(migrations: Migration[], recorded: RecordedMigration[]): boolean {
  const [initial] = migrations;
  const finished = recorded.filter((record) => record.finished_at !== null);
  if (!initial || finished.length === 0) return false;
  const applied = finished.find((record) => record.migration_name === initial.name);
  return !applied || !checksums(initial.sql).includes(applied.checksum);
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
      throw new Error(
        `Migration ${name} was applied to this database but is not in ${folder}. ` +
          `Is this program older than its database?`,
      );
    }
    if (!checksums(migration.sql).includes(checksum)) {
      throw new Error(
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

/**
 * The record is written in the migration's transaction: a failure leaves neither, so the migration
 * can be retried.
 */
async function applyMigration(client: pg.ClientBase, migration: Migration): Promise<void> {
  const id = randomUUID();
  await client.query('BEGIN');
  try {
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at)
       VALUES ($1, $2, $3, clock_timestamp())`,
      [id, checksums(migration.sql)[0], migration.name],
    );
    await client.query(migration.sql);
    await client.query(
      `UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1
       WHERE id = $1`,
      [id],
    );
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK');
    throw new Error(`Migration ${migration.name} failed and was rolled back: ${String(cause)}`, {
      cause,
    });
  }
}
