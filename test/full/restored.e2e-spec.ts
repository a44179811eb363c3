// `concilia restored` beside the real service, by the steps of docs/how-to/backup-restore.md.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { internalTransfer } from '../contract/transfer-samples.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { copyOf, testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

const program = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');

interface Request {
  body: ReturnType<typeof internalTransfer>;
  key: string;
}

const newRequest = (amount: number): Request => ({
  body: internalTransfer({ amount, externalId: randomUUID() }),
  key: randomUUID(),
});

let former: TestDatabase;
let restored: TestDatabase;
let bank: TestDatabase;
let concilia: ConciliaProcess;

beforeAll(async () => {
  [former, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
}, 60_000);
afterAll(async () => {
  await concilia.stop();
  for (const database of [former, restored, bank]) await database.drop();
});

const startOn = async (database: TestDatabase) => {
  concilia = await ConciliaProcess.with({
    DATABASE_URL: database.url,
    SANDBOX_DATABASE_URL: bank.url,
    BANK_VISIBILITY_BOUND_MS: '1000',
  });
  await concilia.start();
};

const runProgram = (...argv: string[]) =>
  new Promise<{ exitCode: number | null; printed: string }>((resolve, reject) => {
    const settings = { DATABASE_URL: restored.url, BANK_VISIBILITY_BOUND_MS: '1000' };
    const env = { PATH: process.env.PATH, HOME: tmpdir(), ...settings };
    const child = spawn(process.execPath, [program, 'restored', ...argv], { cwd: tmpdir(), env });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, printed }));
  });

const send = ({ body, key }: Request) =>
  concilia.callService<{ code?: string; id?: string }>('POST', '/baas/api/v2/transfers', body, {
    IdempotencyKey: key,
  });
const statusOf = async (request: Request) => {
  const { status, body } = await send(request);
  return [status, body.code ?? null];
};
const accepted = async (request: Request) => {
  expect(await statusOf(request)).toEqual([200, null]);
  return request;
};
const listDebits = async () => {
  const { rows } = await bank.pool.query<{ cents: string }>(
    `SELECT (-e.change_cents)::text AS cents FROM entry e JOIN movement m ON m.id = e.movement_id
     WHERE m.kind = 'ordinary' AND e.change_cents < 0 ORDER BY e.change_cents DESC`,
  );
  return rows.map(({ cents }) => cents);
};

it('finds what a restored database lacks, and pays nothing twice', async () => {
  await startOn(former);
  const stored = await accepted(newRequest(1.01));
  await concilia.stop();
  restored = await copyOf(former);
  await startOn(former);
  const lost = await accepted(newRequest(2.02));
  await concilia.stop();

  expect(await runProgram()).toMatchObject({ exitCode: 2 });
  expect(await runProgram('--actor', 'Ana')).toEqual({
    exitCode: 0,
    printed:
      'main: stopped, 0 unfinished operations are looked for at the bank\n' +
      'Start the service. Then: concilia restored --check\n',
  });
  expect(await runProgram('--release', '--actor', 'Ana')).toMatchObject({
    exitCode: 1,
    printed: expect.stringContaining('main: not released'),
  });

  await startOn(restored);
  expect(await statusOf(stored)).toEqual([200, null]);
  expect(await statusOf(lost)).toEqual([503, 'account_stopped']);
  const checked = await until(
    'the statement shows everything that may be lost',
    async () => {
      const result = await runProgram('--check');
      return result.exitCode === 0 && result;
    },
    60_000,
  );
  expect(checked.printed).toContain('1 debits that no stored operation explains');
  expect(checked.printed).toMatch(new RegExp(`  2.02  .*  externalId ${lost.body.externalId}`));

  expect(await runProgram('--release', '--actor', 'Ana')).toMatchObject({
    exitCode: 0,
    printed: expect.stringContaining('main: released'),
  });
  expect(await statusOf(lost)).toEqual([202, null]);
  await until('the lost request has its response', async () => (await send(lost)).status === 200);
  expect(await statusOf({ ...lost, key: randomUUID() })).toEqual([409, 'possible_duplicate']);
  await accepted(newRequest(3.03));
  expect(await listDebits()).toEqual(['101', '202', '303']);
  expect(await runProgram('--check')).toMatchObject({
    exitCode: 0,
    printed: 'No account has a restore that is not over.\n',
  });
}, 180_000);
