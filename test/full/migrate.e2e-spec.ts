// `concilia migrate` before a rollout, and starts that may not migrate themselves.
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { advisoryLocks } from '../../src/platform/postgres/advisory-locks.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';

const project = join(import.meta.dirname, '..', '..');

let service: TestDatabase;
let bank: TestDatabase;
beforeEach(async () => {
  [service, bank] = [await testDatabase(), await testDatabase('sandbox')];
});
afterEach(async () => {
  await service.drop();
  await bank.drop();
});

/** Runs a command until it ends. */
function run(command: string, settings: Record<string, string> = {}) {
  const env = { PATH: process.env.PATH, DATABASE_URL: service.url, ...settings };
  return new Promise<{ code: unknown; printed: string }>((resolve) => {
    execFile(
      process.execPath,
      [join(project, 'dist/cli.js'), command],
      { cwd: tmpdir(), env },
      (error, out, errors) => resolve({ code: error ? error.code : 0, printed: out + errors }),
    );
  });
}

it('applies the migrations, which a start without the right to do so requires', async () => {
  const checking = { MIGRATE_ON_START: 'false', SANDBOX_DATABASE_URL: bank.url };
  const refused = await run('start', { ...checking, PORT: '0', SANDBOX_PORT: '0' });
  expect(refused.code).toBe(1);
  expect(refused.printed).toMatch(
    /The database test_\w+ has no tables of Concilia.*`concilia migrate`/,
  );
  expect(refused.printed).not.toMatch(/\n\s+at /);

  for (const times of [1, 2]) {
    const { code, printed } = await run('migrate');
    expect([times, code, printed.includes('Applied migration')]).toEqual([times, 0, times === 1]);
    expect(printed).toContain('The database is up to date.');
  }
  const concilia = await ConciliaProcess.with({ DATABASE_URL: service.url, ...checking });
  await concilia.start();
  expect(await concilia.stop()).toBe(0);
}, 90_000);

it('ends with exit code 75 when another session holds a lock for too long', async () => {
  const holder = await service.pool.connect();
  await holder.query('SELECT pg_advisory_lock($1)', [advisoryLocks.migrate]);
  const { code, printed } = await run('migrate', { MIGRATION_WAIT_MS: '300' });
  holder.release(true);
  expect(code).toBe(75);
  expect(printed).toMatch(/^Waiting for the advisory lock migrate, held by process \d+/);
  expect(printed).toMatch(/Gave up after 0.3 s waiting for the advisory lock migrate/);
  expect(printed).not.toMatch(/\n\s+at /);
}, 60_000);
