// A new database for each integration test, on the server of global-setup.mjs or of
// TEST_DATABASE_URL.
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { applyMigrations } from '../../src/platform/postgres/migrations.js';
import { recordEvents } from './recorded-examples.js';

export interface TestDatabase {
  url: string;
  pool: pg.Pool;
  /** Ends the pool and drops the database, also while clients are connected. */
  drop(): Promise<void>;
}

/** A database that is empty, or has the tables of one of the two applications. */
export async function testDatabase(application?: 'service' | 'sandbox'): Promise<TestDatabase> {
  return createDatabase(application && (await templateOf(application)));
}

/** A database with the present content of another one, whose connections it cuts. */
export async function copyOf({ url }: TestDatabase): Promise<TestDatabase> {
  const template = new URL(url).pathname.slice(1);
  await onServer(serverUrl(), (client) =>
    client.query(
      'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1',
      [template],
    ),
  );
  return createDatabase(template);
}

async function createDatabase(template: string | undefined): Promise<TestDatabase> {
  const server = serverUrl();
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  await onServer(server, (client) =>
    client.query(
      // Through the log of changes, as by default, a copy takes four times the work.
      `CREATE DATABASE ${name}${template ? ` TEMPLATE ${template} STRATEGY FILE_COPY` : ''}`,
    ),
  );
  const url = databaseUrl(server, name);
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  // A test may cut connections. Idle clients then emit an error that no caller could catch.
  pool.on('error', () => undefined);
  return {
    url,
    pool,
    drop: async () => {
      if (template?.startsWith('template_service')) await recordEvents(pool);
      await pool.end();
      await onServer(server, (client) =>
        client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      );
    },
  };
}

/** The advisory lock of processes that create templates. */
const createTemplateLock = 7_270_736_999;
const templates = new Map<string, Promise<string>>();

/**
 * The database that test databases are copied from: migrating each of them would take most of the
 * tests' time.
 */
function templateOf(application: 'service' | 'sandbox'): Promise<string> {
  const existing = templates.get(application);
  if (existing) return existing;
  const created = createTemplate(application);
  templates.set(application, created);
  return created;
}

async function createTemplate(application: 'service' | 'sandbox'): Promise<string> {
  const folder = fileURLToPath(new URL(`../../prisma/${application}/migrations`, import.meta.url));
  const name = `template_${application}_${hashOf(folder)}`;
  const server = serverUrl();
  await onServer(server, async (client) => {
    await client.query(`SELECT pg_advisory_lock($1)`, [createTemplateLock]);
    const { rows } = await client.query<{ isComplete: boolean }>(
      `SELECT datistemplate AS "isComplete" FROM pg_database WHERE datname = $1`,
      [name],
    );
    if (rows[0]?.isComplete) return;
    await client.query(`DROP DATABASE IF EXISTS ${name}`);
    await client.query(`CREATE DATABASE ${name}`);
    await applyMigrations({ url: databaseUrl(server, name), folder, log: () => undefined });
    await client.query(`ALTER DATABASE ${name} IS_TEMPLATE true`);
  });
  return name;
}

function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
    if (path.endsWith('.sql')) hash.update(path).update(readFileSync(join(folder, path)));
  return hash.digest('hex').slice(0, 16);
}

function serverUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (!url) throw new Error('TEST_DATABASE_URL is not set: run the tests with `npm test`');
  return url;
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function onServer(
  server: string,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
