// Runs before the contract suite that calls the service. It starts one service with one sandbox
// bank as a real process on its own databases. All test files share it, as clients share a bank.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { prepare, projectFolder } from '../../scripts/prepare.mjs';
import globalSetup from './global-setup.mjs';

const keys = { api: 'concilia-dev-key', admin: 'concilia-dev-admin', bank: 'sandbox-dev-key' };

export default async function serviceInFront() {
  await globalSetup();
  await prepare();
  const [port, sandboxPort] = await freePorts(2);
  const databases = [`through_${process.pid}`, `through_${process.pid}_bank`];
  for (const name of databases) await runOnServer(`CREATE DATABASE ${name}`);
  const child = spawn(process.execPath, [join(projectFolder, 'dist/cli.js'), 'start'], {
    cwd: tmpdir(), // not the checkout: a developer's .env must not change the tests
    env: {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME ?? '/tmp' },
      ...{ PORT: String(port), SANDBOX_PORT: String(sandboxPort), SYNC_INTERVAL_MS: '1000' },
      SANDBOX_PRESET: 'complete',
      DATABASE_URL: urlOf(databases[0]),
      SANDBOX_DATABASE_URL: urlOf(databases[1]),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (printed = (printed + chunk).slice(-20_000)));
  globalThis.stopServiceInFront = () => stop(child, databases);
  const [service, sandbox] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${sandboxPort}`];
  await untilReady(service, child, () => printed);
  process.env.TEST_SERVICE_IN_FRONT = JSON.stringify({
    CONTRACT_BASE_URL: service,
    CONTRACT_API_KEY: keys.api,
    CONTRACT_WHITELABEL_URL: service,
    CONTRACT_PARTNER_KEY: 'concilia-dev-partner',
    CONTRACT_WITHOUT_WEBHOOKS: 'true',
    ...(await knownBills(sandbox)),
    ...(await otherAccount(service).catch(skipOtherAccount)),
  });
}

function skipOtherAccount(error) {
  process.stderr.write(`tests about another account are skipped: ${error.message}\n`);
  return {};
}

async function knownBills(sandbox) {
  const headers = { 'x-service-api-key': keys.bank };
  const { bills } = await (await fetch(`${sandbox}/sandbox/fixtures`, { headers })).json();
  const codes = (status) =>
    bills
      .filter((bill) => bill.status === status)
      .map(({ barCode }) => barCode)
      .join(',');
  return {
    CONTRACT_BILL_PENDING: codes('PENDING_PAYMENT'),
    CONTRACT_BILL_PAID: codes('PAID'),
  };
}

/** A second bank account behind the service, and a business system's key to it. */
async function otherAccount(service) {
  const post = async (path, body) => {
    const response = await fetch(service + path, {
      method: 'POST',
      headers: { 'x-service-api-key': keys.admin, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status === 201) return response.json();
    throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`);
  };
  await post('/v1/accounts', { slug: 'other', credentials: { apiKey: 'sandbox-dev-key-2' } });
  const scopes = ['read', 'charge', 'transfer', 'pay', 'refund'];
  const { key } = await post('/v1/accounts/other/keys', { name: 'suite', kind: 'api', scopes });
  return { CONTRACT_OTHER_API_KEY: key };
}

async function untilReady(service, child, printed) {
  for (const deadlineMs = Date.now() + 60_000; Date.now() < deadlineMs; await sleep(50)) {
    if (child.exitCode !== null) break;
    const response = await fetch(`${service}/health/ready`).catch(() => null);
    if (response?.ok) return;
  }
  throw new Error(`The service in front of the sandbox did not start:\n${printed()}`);
}

async function stop(child, databases) {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const killTimer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(killTimer);
  }
  for (const name of databases) await runOnServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

function urlOf(database) {
  const url = new URL(process.env.TEST_DATABASE_URL);
  url.pathname = `/${database}`;
  return url.href;
}

async function runOnServer(sql) {
  const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

/** Holds each port until all are found, because a released port could be found again. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer());
  for (const server of servers)
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ports = servers.map((server) => server.address().port);
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}
