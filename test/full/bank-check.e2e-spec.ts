// The command at a bank that nobody configured; then the sandbox imitates that bank, and the
// service works against it with the profile that was written.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConciliaProcess } from '../support/concilia-process.js';
import { testDatabase } from '../support/postgres.js';
import { strangeKey, StrangeBank } from '../support/strange-bank.js';
import { until } from '../support/until.js';

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bank-check-'));
const written = join(folder, 'strange-bank.json');
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs in the empty folder, so that no `.env` counts. */
const run = (args: string[], environment: Record<string, string>) =>
  new Promise<Ended>((resolve) => {
    const { PATH = '' } = process.env;
    const options = { cwd: folder, env: { PATH, ...environment } };
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

it('finds out a bank that nobody configured', async () => {
  const bank = await StrangeBank.listen();
  const environment = { BANK_BASE_URL: bank.url, BANK_API_KEY: strangeKey };
  const args = ['bank-check', '--payments', '--beneficiary', '4455667', '--json'];
  const { code, stdout, stderr } = await run([...args, '--output', written], environment);
  bank.close();
  expect([code, stderr]).toEqual([0, expect.stringContaining('waiting for lines')]);
  const profile = JSON.parse(readFileSync(written, 'utf8')) as { habits: { lineDelayMs: number } };
  expect(JSON.parse(stdout)).toEqual({ output: written, profile });
  const { lineDelayMs } = profile.habits;
  expect([5_000, 6_000]).toContain(lineDelayMs);
  expect(profile.habits).toEqual({
    ...{ pageOrder: 'asc', pageCap: 37, ratePerSecond: 5 },
    // Too slow a bank to see whether lines overtake each other.
    nsuOrder: 'unknown',
    ...{ lineDelayMs, visibilityBoundMs: 'unknown' },
    ...{ lineEndToEndId: 'present', lineCorrelationId: 'absent', lineExternalId: 'absent' },
    ...{ lineOriginalId: 'absent', refundEndToEndId: 'own' },
    ...{ repeatedTransfer: 'refused', repeatedCharge: 'refused' },
    ...{ hasTransferById: false, hasTransferByExternalId: false, hasChargeById: false },
    hasSimulation: true,
    ...{ webhookDelivery: 'unknown', webhookDelayMs: 'unknown', webhookCopies: 'unknown' },
    ...{ paysBillsOnTime: 'unknown', creditDays: 'unknown', interestPeriod: 'unknown' },
  });
  const all = [readFileSync(written, 'utf8'), stdout, stderr].join();
  for (const secret of [strangeKey, '4455667', '52998224725']) expect(all).not.toContain(secret);
  expect(bank.requests.filter((path) => path.includes('/sandbox'))).toEqual([]);
}, 120_000);

it('only reads without consent, and overwrites no file', async () => {
  const bank = await StrangeBank.listen();
  const environment = { BANK_BASE_URL: bank.url, BANK_API_KEY: strangeKey };
  const output = join(folder, 'read-only.json');
  expect((await run(['bank-check', '--output', output], environment)).code).toBe(0);
  expect([...new Set(bank.requests)]).toEqual(['GET /baas/api/v2/transactions']);
  const again = await run(['bank-check', '--output', output], environment);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists')]);
  const asked = await run(['bank-check', '--beneficiary', '1'], environment);
  expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('--payments')]);
  const wrongKey = { ...environment, BANK_API_KEY: 'another-key' };
  const refused = await run(['bank-check'], wrongKey);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('answers 401')]);
  bank.close();
}, 120_000);

it('makes the service and an imitating sandbox work together', async () => {
  const keys = {
    BANK_API_KEY: 'key-of-the-imitation',
    BANK_PARTNER_KEY: 'partner-of-the-imitation',
  };
  const [bankDatabase, database] = [await testDatabase(), await testDatabase()];
  const bank = await ConciliaProcess.with({
    ...{ ROLES: 'sandbox', SANDBOX_PROFILE: written, SANDBOX_DATABASE_URL: bankDatabase.url },
    ...keys,
  });
  await bank.start();
  const service = await ConciliaProcess.with({
    ...{ BANK_PROFILE: written, BANK_BASE_URL: bank.bankUrl, DATABASE_URL: database.url, ...keys },
    ...{ PUBLIC_URL: 'https://concilia.example', SYNC_INTERVAL_MS: '1000' },
    ...{ CONCILIA_API_KEY: 'own-api-key', CONCILIA_PARTNER_KEY: 'own-partner-key' },
    ...{
      CONCILIA_ADMIN_KEY: 'own-admin-key',
      CREDENTIALS_KEY: 'own-credentials-key-of-32-letters',
    },
  });
  await service.start();
  const call = async (url: string, key: string, method: string, body?: unknown) => {
    const headers = { 'x-service-api-key': key, 'content-type': 'application/json' };
    const request = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(url, { method, headers, ...request });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const modes = await call(`${bank.bankUrl}/sandbox/modes`, keys.BANK_API_KEY, 'GET');
  expect(modes.body).toMatchObject({
    ...{ statementOrder: 'asc', statementPageCap: 37, rateLimitPerSecond: 5 },
    ...{ chargeById: 'absent', transferById: 'absent', idempotentRepeat: 'conflict' },
  });
  const charge = {
    ...{ type: 'BANKSLIP_PIX', correlationId: 'order-1', yourNumber: '1', Amount: 149.9 },
    ...{ dueDate: '2030-12-31', payer: { name: 'Maria', document: '12345678909' } },
  };
  const issued = await call(`${service.serviceUrl}/baas/v1/charges`, 'own-api-key', 'POST', charge);
  expect(issued.status).toBe(200);
  await call(`${bank.bankUrl}/baas/v1/charges/order-1/pay`, keys.BANK_API_KEY, 'POST');
  const paid = await until(
    'the charge is settled',
    async () => {
      const read = await call(`${service.serviceUrl}/v1/charges/order-1`, 'own-api-key', 'GET');
      return JSON.stringify(read.body).includes('"settled"') && read.body;
    },
    60_000,
  );
  expect(paid).toMatchObject({ correlationId: 'order-1' });
  expect([await service.stop(), await bank.stop()]).toEqual([0, 0]);
  await Promise.all([bankDatabase.drop(), database.drop()]);
}, 180_000);
