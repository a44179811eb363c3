// A fresh database for each integration test, on the one server that global-setup.mjs started or the caller named.
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { applyMigrations } from '../../src/platform/migrations.js';

export interface TestDatabase {
  url: string;
  pool: pg.Pool;
  /** Ends the pool and drops the database, whoever is still connected. */
  drop(): Promise<void>;
}

/** Empty; or with the tables of one of the two houses. */
export async function testDatabase(house?: 'service' | 'sandbox'): Promise<TestDatabase> {
  const server = serverUrl();
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  const template = house && (await templateOf(house));
  await onServer(server, (client) =>
    client.query(`CREATE DATABASE ${name}${template ? ` TEMPLATE ${template}` : ''}`),
  );
  const url = databaseUrl(server, name);
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  // A test may cut connections on purpose; idle ones then report here, where no caller could catch it.
  pool.on('error', () => undefined);
  return {
    url,
    pool,
    drop: async () => {
      await pool.end();
      await onServer(server, (client) =>
        client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      );
    },
  };
}

/** Makers of one template wait for each other. */
const makeTemplateLock = 7_270_736_999;
const templates = new Map<string, Promise<string>>();

/** The database that others are copied from: to migrate each of hundreds would take most of the tests' time. */
function templateOf(house: 'service' | 'sandbox'): Promise<string> {
  const known = templates.get(house);
  if (known) return known;
  const made = makeTemplate(house);
  templates.set(house, made);
  return made;
}

async function makeTemplate(house: 'service' | 'sandbox'): Promise<string> {
  const folder = fileURLToPath(new URL(`../../prisma/${house}/migrations`, import.meta.url));
  const name = `template_${house}_${hashOf(folder)}`;
  const server = serverUrl();
  await onServer(server, async (client) => {
    await client.query(`SELECT pg_advisory_lock($1)`, [makeTemplateLock]);
    const { rows } = await client.query<{ isWhole: boolean }>(
      `SELECT datistemplate AS "isWhole" FROM pg_database WHERE datname = $1`,
      [name],
    );
    if (rows[0]?.isWhole) return;
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
  if (!url) throw new Error('TEST_DATABASE_URL is unset: run the tests through `npm test`');
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
