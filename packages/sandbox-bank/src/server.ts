// The process of one bank: its PostgreSQL in a temporary folder, and its HTTP server. It ends when
// the process that started it has gone, and leaves no PostgreSQL and no folder behind.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../src/platform/embedded-postgres/embedded-postgres.js';
import { createLog } from '../../../src/platform/log.js';
import type { BankOptions } from './index.js';
import type { BankAnswer } from './words.js';

const partnerKey = 'sandbox-dev-partner';
const stopTimeoutMs = 10_000;

/** What ends the bank, in the order of its start. */
const stopSteps: (() => Promise<unknown>)[] = [];

async function start({ accounts, clock, preset, port = 0 }: BankOptions): Promise<BankAnswer> {
  const folder = await mkdtemp(join(tmpdir(), 'concilia-bank-'));
  // As root, PostgreSQL runs as another user.
  await chmod(folder, 0o755);
  stopSteps.push(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  guard(folder);
  const startsAt = clock?.now === undefined ? undefined : new Date(clock.now);
  if (startsAt && Number.isNaN(startsAt.getTime()))
    throw new RangeError(`clock.now: ${clock?.now} is no ISO 8601 time.`);
  // PostgreSQL starts while the bank itself is loaded.
  let starting!: Promise<EmbeddedPostgres>;
  await new Promise<void>((resolve) => {
    starting = startEmbeddedPostgres({
      ...{ dataDir: folder, isTemporary: true, onLaunch: resolve },
      log: () => undefined,
    });
    starting.catch(() => resolve());
  });
  const { createSandbox } = await import('../../../src/sandbox/sandbox.module.js');
  const { FirstAccounts } = await import('../../../src/sandbox/accounts/accounts.service.js');
  const { faultEndpoints, faultKinds } = await import('../../../src/sandbox/faults/fault.js');
  const postgres = await starting;
  stopSteps.push(() => postgres.stop());
  await postgres.ensureDatabase('bank');
  const bank = await createSandbox({
    databaseUrl: postgres.url('bank'),
    log: createLog('warn', 'sandbox-bank', process.stderr),
    settings: {
      ...{ apiKey: 'sandbox-dev-key', partnerKey, preset, accounts, startsAt },
      isFrozen: clock?.frozen,
      maxConnections: 8,
    },
  });
  stopSteps.push(() => bank.close());
  const opened = bank.get(FirstAccounts, { strict: false }).all;
  const keys = opened.map(({ branch, number, apiKey }) => ({ branch, number, apiKey }));
  const page = payerPage({ keys, faultEndpoints, faultKinds });
  bank
    .getHttpAdapter()
    .getInstance()
    .get('/', (_request, reply) => reply.header('content-type', 'text/html').send(page));
  await bank.listen(port, '127.0.0.1');
  const url = `http://127.0.0.1:${(bank.getHttpServer().address() as { port: number }).port}`;
  return { url, partnerKey, accounts: keys };
}

/** The page of the test payer, with the keys by which it calls the bank: no money is real. */
function payerPage(values: object): string {
  const given = JSON.stringify(values).replaceAll('<', '\\u003c');
  const page = readFileSync(new URL('payer.html', import.meta.url), 'utf8');
  return page.replace(
    '<script type="module">',
    () => `<script type="application/json" id="given">${given}</script>\n<script type="module">`,
  );
}

/**
 * Ends PostgreSQL and deletes the folder once this process has ended, also by SIGKILL: its standard
 * input ends then. Windows has no such shell; there a killed bank leaves its server.
 */
function guard(folder: string): void {
  if (process.platform === 'win32') return;
  const script = `
    read -r _
    pid=$(head -n 1 "$1/server/cluster/postmaster.pid" 2>/dev/null)
    [ -n "$pid" ] && kill -QUIT "$pid"
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null && sleep 0.2
    done
    rm -rf "$1"`;
  spawn('/bin/sh', ['-c', script, 'sh', folder], {
    ...{ cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  }).unref();
}

async function stop(): Promise<never> {
  setTimeout(() => process.exit(1), stopTimeoutMs);
  for (const step of stopSteps.splice(0).reverse()) await step();
  process.exit(0);
}

process.once('message', (settings) => {
  start(settings as BankOptions).then(
    (answer) => process.send?.(answer),
    async (error: unknown) => {
      process.send?.({ error: error instanceof Error ? error.message : String(error) });
      await stop();
    },
  );
});
// Ctrl-C in a terminal reaches this process too: the process that started it decides.
process.on('SIGINT', () => undefined);
process.once('disconnect', () => void stop());
