import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js';
import type { EmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js';
import { until } from '../support/until.js';

let dataDir: string;
let messages: string[];
const started: EmbeddedPostgres[] = [];

beforeEach(async () => {
  dataDir = join(await mkdtemp(join(tmpdir(), 'concilia-embedded-')), 'postgres');
  messages = [];
});

afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
  await rm(join(dataDir, '..'), { recursive: true, force: true });
});

async function start(): Promise<EmbeddedPostgres> {
  const log = (message: string): void => void messages.push(message);
  const server = await startEmbeddedPostgres({ dataDir, log });
  started.push(server);
  return server;
}

async function query(
  server: EmbeddedPostgres,
  database: string,
  sql: string,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url(database) });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const serverStart = 'SELECT pg_postmaster_start_time()::text AS at';

it('preserves committed data, its port and its password over a restart', async () => {
  const first = await start();
  await first.ensureDatabase('book');
  await query(first, 'book', 'CREATE TABLE line (nsu bigint); INSERT INTO line VALUES (7)');
  await first.stop();

  const second = await start();
  await second.ensureDatabase('book');
  expect(await query(second, 'book', 'SELECT nsu FROM line')).toEqual([{ nsu: '7' }]);
  expect(second.url('book')).toBe(first.url('book'));
});

it('keeps an eighth of the memory as its buffers, within bounds', async () => {
  const server = await start();
  const [buffers] = await query(
    server,
    'postgres',
    `SELECT pg_size_bytes(current_setting('shared_buffers')) / 1048576 AS mb`,
  );
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  const eighth = Math.floor(memory / 8 / 1_048_576);
  expect(Number(buffers?.mb)).toBe(Math.min(1_024, Math.max(128, eighth)));
});

it('is durable, uses UTF-8 and UTC, and accepts only clients with the password, on loopback', async () => {
  const server = await start();
  const [settings] = await query(
    server,
    'postgres',
    `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
            current_setting('server_encoding') AS encoding, current_setting('TimeZone') AS zone,
            current_setting('listen_addresses') AS addresses, lower('Ã') AS lowered`,
  );
  expect(settings).toEqual({
    fsync: 'on',
    commit: 'on',
    encoding: 'UTF8',
    zone: 'UTC',
    addresses: '127.0.0.1',
    lowered: 'ã',
  });
  const passwordFile = await stat(join(dataDir, 'server', 'password'));
  expect(passwordFile.mode & 0o777).toBe(0o600);
  const client = new pg.Client({
    connectionString: server.url('postgres').replace(/:[0-9a-f]+@/, ':wrong@'),
  });
  await expect(client.connect()).rejects.toMatchObject({ code: '28P01' });
  await client.end();
});

it('uses the server that a killed process left running, with its committed data', async () => {
  const program = `
    const { startEmbeddedPostgres } = await import(process.env.TEST_LAUNCHER_URL);
    const server = await startEmbeddedPostgres({ dataDir: process.argv[1], log: () => {} });
    await server.ensureDatabase('book');
    console.log('ready');
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(parent.stdout, 'data');
  parent.kill('SIGKILL');
  await once(parent, 'exit');

  const server = await start();
  expect(messages.at(-1)).toMatch(/already runs/);
  expect(await query(server, 'book', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await server.stop();
  await expect(query(server, 'book', 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('shares one server between two users, until the last of them stops', async () => {
  const [first, second] = await Promise.all([start(), start()]);
  expect(first.url('postgres')).toBe(second.url('postgres'));
  await Promise.all([first.ensureDatabase('book'), second.ensureDatabase('book')]);

  const before = await query(first, 'postgres', serverStart);
  await first.stop();
  expect(await query(second, 'book', serverStart)).toEqual(before);
  await second.stop();
  await second.stop();
  await expect(query(second, 'book', 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it.each([
  ['of a process that has ended', '999999999'],
  ['whose pid another process has now', String(process.pid)],
])('starts despite a stale pid file %s', async (_, pid) => {
  await (await start()).stop();
  const pidFile = join(dataDir, 'server', 'cluster', 'postmaster.pid');
  await writeFile(pidFile, `${pid}\n${dataDir}\n1\n1\n\n127.0.0.1\n`);
  const owner = await stat(join(pidFile, '..'));
  if (process.getuid?.() === 0) {
    const { chown } = await import('node:fs/promises');
    await chown(pidFile, owner.uid, owner.gid);
  }

  const server = await start();
  expect(await query(server, 'postgres', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

const pidOf = async (): Promise<number> =>
  Number.parseInt(await readFile(join(dataDir, 'server', 'cluster', 'postmaster.pid'), 'utf8'), 10);

it('starts a server again that died, on its port and with its committed data', async () => {
  const lost: unknown[] = [];
  const log = (message: string): void => void messages.push(message);
  const server = await startEmbeddedPostgres({ dataDir, log, onLost: (why) => lost.push(why) });
  started.push(server);
  await query(server, 'postgres', 'CREATE TABLE line (nsu bigint); INSERT INTO line VALUES (7)');
  const [first] = await query(server, 'postgres', serverStart);
  process.kill(await pidOf(), 'SIGKILL');
  const again = await until('the server answers again', async () => {
    const [found] = await query(server, 'postgres', serverStart);
    return found?.at === first?.at ? null : found;
  });
  expect(again).not.toEqual(first);
  expect(await query(server, 'postgres', 'SELECT nsu FROM line')).toEqual([{ nsu: '7' }]);
  expect(lost).toEqual([]);
}, 60_000);

it('says that a server is lost that cannot be started again', async () => {
  const lost: unknown[] = [];
  const log = (message: string): void => void messages.push(message);
  const server = await startEmbeddedPostgres({ dataDir, log, onLost: (why) => lost.push(why) });
  const pid = await pidOf();
  await rm(join(dataDir, 'server', 'cluster', 'PG_VERSION'));
  process.kill(pid, 'SIGKILL');
  await until('the loss is reported', () => lost.length > 0, 60_000);
  expect(String(lost[0])).toContain('did not start');
  await server.stop();
}, 90_000);

it('waits for a running query of a client before it stops', async () => {
  const server = await start();
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  const query = async () => {
    const result = await client.query('SELECT pg_sleep(0.5), 1 AS one');
    await client.end();
    return result;
  };
  const querying = query();
  const [result] = await Promise.all([querying, server.stop()]);
  expect(result.rows).toMatchObject([{ one: 1 }]);
});

it('reports the end of the server log when the server does not start', async () => {
  await (await start()).stop();
  await appendFile(
    join(dataDir, 'server', 'cluster', 'postgresql.conf'),
    '\nno_such_setting = 1\n',
  );
  await expect(start()).rejects.toThrow(/no_such_setting/);
});
