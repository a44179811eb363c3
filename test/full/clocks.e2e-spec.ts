// Two processes of the service, PostgreSQL and the bank with clocks that differ by seconds, an hour
// and a day, each way: what moved money is never reported as not executed, and what did not is.
// PostgreSQL's own clock is not shifted: all others shifted alike are PostgreSQL's shifted the
// other way.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyTransfer, knownBeneficiaries, manualTransfer } from '../contract/transfer-samples.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { fetchChargeSettlement, sampleChargeRequest } from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;
/** The bank's clock only moves forward. */
const worlds = [
  { bank: -day, first: hour, second: -day },
  { bank: -hour, first: -hour, second: -hour },
  { bank: 0, first: day, second: -day },
  { bank: 5 * second, first: 0, second: 5 * second },
  { bank: hour, first: hour, second: hour },
  { bank: day, first: -day, second: day },
];

describe('with clocks that differ', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clocks-'));
  let databases: TestDatabase[];
  let bank: ConciliaProcess;
  let first: ConciliaProcess;
  let other: ConciliaProcess;
  let bankAheadMs = -day;

  const shift = (name: string, ms: number) => writeFileSync(join(folder, name), String(ms));
  const clockOf = (name: string, ms: number) => {
    shift(name, ms);
    const preload = fileURLToPath(new URL('../support/shifted-clock.mjs', import.meta.url));
    return { CLOCK_SHIFT_FILE: join(folder, name), NODE_OPTIONS: `--import ${preload}` };
  };

  beforeAll(async () => {
    databases = [await testDatabase('service'), await testDatabase('sandbox')];
    const [service, sandbox] = databases;
    bank = await ConciliaProcess.with({
      ...{ ROLES: 'sandbox', SANDBOX_DATABASE_URL: sandbox?.url ?? '' },
      ...clockOf('bank', bankAheadMs),
    });
    await bank.start();
    const settings = {
      ...{ DATABASE_URL: service?.url ?? '', ROLES: 'api,worker,scheduler' },
      ...{ BANK_BASE_URL: bank.bankUrl, BANK_PROFILE: 'sandbox', SYNC_INTERVAL_MS: '1000' },
      // Absence is proven by the statement alone.
      ...{
        BANK_REPEAT_SAFE: 'false',
        BANK_STATUS_BY_ID: 'false',
        BANK_VISIBILITY_BOUND_MS: '4000',
      },
      ...{ BANK_API_KEY: 'sandbox-dev-key', BANK_PARTNER_KEY: 'sandbox-dev-partner' },
    };
    first = await ConciliaProcess.with({ ...settings, ...clockOf('first', 0) });
    other = await ConciliaProcess.with({ ...settings, ...clockOf('second', 0) });
    await first.start();
    await other.start();
  }, 120_000);

  afterAll(async () => {
    await other.stop();
    await first.stop();
    await bank.stop();
    for (const database of databases) await database.drop();
    rmSync(folder, { recursive: true });
  });

  const databaseTime = async (): Promise<Date> => {
    const result = await databases[0]?.pool.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    return result?.rows[0]?.now ?? new Date(NaN);
  };
  /** Waits for a sync that began after now, so that the offset of the clocks is the new one. */
  const syncedSince = async (instant: Date) => {
    await until(
      'a sync has completed',
      async () => {
        const { body } = await first.callService<{ statement: { syncedAt: string } }>(
          'GET',
          '/v1/summary',
        );
        return Date.parse(body.statement.syncedAt) > instant.getTime() + 2_000;
      },
      30_000,
    );
  };
  const enter = async (world: (typeof worlds)[number]) => {
    const aheadMs = world.bank - bankAheadMs;
    bankAheadMs = world.bank;
    if (aheadMs > 0)
      await bank.callBank('POST', '/sandbox/clock', { advance: `PT${aheadMs / second}S` });
    shift('first', world.first);
    shift('second', world.second);
    await syncedSince(await databaseTime());
  };

  it.each(worlds)(
    '%j',
    async (world) => {
      await enter(world);
      const name = `${world.bank}`;
      const { body: lookUp } = await first.callService<{ endToEndId: string }>(
        'POST',
        '/baas/api/v2/pix/dict/payment-initialization',
        { key: knownBeneficiaries.dictKey },
      );
      const send = (service: ConciliaProcess, body: unknown, key: string) =>
        service.callService('POST', '/baas/api/v2/transfers', body, { IdempotencyKey: key });
      // The look-up of one process is fresh in the other.
      expect((await send(other, keyTransfer(lookUp.endToEndId), `key-${name}`)).status).toBe(200);

      const fault = (kind: string) =>
        bank.callBank('POST', '/sandbox/faults', { endpoint: 'transfers', kind, times: 1 });
      const operationOf = async (key: string) => {
        const path = `/v1/operations?idempotencyKey=${key}`;
        const { body } = await other.callService<{ data: { state: string }[] }>('GET', path);
        return body.data[0]?.state;
      };
      await bank.callBank('POST', '/sandbox/faults', {
        endpoint: 'transactions',
        kind: 'statement-lag',
        times: 5,
      });
      await fault('reset-after-effect');
      const allow = { 'Concilia-Allow-Duplicate': 'true' };
      const manual = (service: ConciliaProcess, key: string, amount: number) =>
        service.callService(
          'POST',
          '/baas/api/v2/transfers',
          manualTransfer({ amount, externalId: key }),
          { IdempotencyKey: key, ...allow },
        );
      expect((await manual(first, `done-${name}`, 10.01)).status).toBe(202);
      await fault('error-before-effect');
      expect((await manual(other, `lost-${name}`, 10.02)).status).toBe(202);

      const charge = `order-${name}`;
      expect(
        (await other.callService('POST', '/baas/v1/charges', sampleChargeRequest(charge))).status,
      ).toBe(200);
      await bank.callBank('POST', `/baas/v1/charges/${charge}/pay`);
      await until(
        'the charge is settled',
        async () => (await fetchChargeSettlement(first, charge)) === 'settled',
        30_000,
      );
      await until(
        'what the bank did is seen on the statement',
        async () => {
          const state = await operationOf(`done-${name}`);
          expect(state).not.toBe('not_executed');
          return state === 'succeeded';
        },
        60_000,
      );
      await until(
        'what the bank did not do is proven not executed',
        async () => (await operationOf(`lost-${name}`)) === 'not_executed',
        90_000,
      );
      const { rows } = (await databases[0]?.pool.query<{ data: string }>(
        `SELECT data FROM event WHERE type = 'operation.not_executed'`,
      )) ?? { rows: [] };
      expect(rows.filter(({ data }) => data.includes(`done-${name}`))).toEqual([]);
      const { body: health } = await other.callService<{ warnings: string[] }>(
        'GET',
        '/health/ready',
      );
      expect(health.warnings).toHaveLength(Math.abs(world.second) > 5 * second ? 1 : 0);
    },
    240_000,
  );
});
