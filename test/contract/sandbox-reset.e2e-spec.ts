// The reset of the bank, also during requests, tasks and deliveries. Runs only against a sandbox.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BankClock } from '../../src/sandbox/clock/bank-clock.service.js';
import { DueWork } from '../../src/sandbox/due-work/due-work.service.js';
import { SandboxDatabase } from '../../src/sandbox/sandbox-database.service.js';
import { until } from '../support/until.js';
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, slip, staticQr } from './samples.js';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
});
afterEach(() => bank.stop());

const post = (path: string, body: unknown = {}, headers = {}) =>
  bank.call('POST', path, { body, headers });
const get = async (path: string) => (await bank.call('GET', path)).body;
const reset = () => bank.call('POST', '/sandbox/reset');
const initialLedger = {
  accounts: [
    { branch: '0001', number: '1000001', balance: 100_000 },
    { branch: '0001', number: '1000002', balance: 5_000 },
    { branch: '0001', number: '1000003', balance: 50_000 },
  ],
  movements: [],
  audit: { clean: true, problems: [] },
};

it('deletes lines, charges, keys, registrations, clock and modes, and returns the fixtures', async () => {
  const fixtures = await get('/sandbox/fixtures');
  const charge = slip();
  const qr = staticQr();
  const key = newKeyHeader();
  await post('/baas/v1/charges', charge);
  await post(`/baas/v1/charges/${charge.correlationId}/pay`);
  await post('/baas/api/v2/pix/qrcode/static', qr, key);
  await post('/baas/api/v1/webhooks', {
    eventType: 'CHARGE_PAID',
    url: 'http://127.0.0.1:9/',
    authorizationScheme: 'HEADER',
    authorization: 'x-key: secret',
  });
  await post('/sandbox/clock', { advance: 'P400D', frozen: true });
  await bank.call('PATCH', '/sandbox/modes', { body: { statementOrder: 'asc', pixStepMs: 1 } });
  await post('/sandbox/generate', { count: 100 });

  const response = await reset();
  expect(response.status).toBe(200);
  // Bills are seeded with due dates relative to the day of the reset.
  expect(response.body.accounts).toEqual(fixtures.accounts);
  expect(response.body.dictKeys).toEqual(fixtures.dictKeys);
  expect(response.body.bills).toHaveLength(fixtures.bills.length);
  expect(await get('/sandbox/ledger')).toEqual(initialLedger);
  expectError(await post(`/baas/v1/charges/${charge.correlationId}/pay`), 404);
  const clock = await get('/sandbox/clock');
  expect(clock.frozen).toBe(false);
  expect(Math.abs(Date.parse(clock.now) - Date.now())).toBeLessThan(60_000);
  expect(await get('/sandbox/modes')).toMatchObject({ statementOrder: 'desc', pixStepMs: 300 });
  expect(await get('/baas/api/v1/webhooks')).toEqual([]);
  // The same key and correlationId can be used again.
  const again = await post('/baas/api/v2/pix/qrcode/static', { ...qr, amount: 77 }, key);
  expect(again.body.amount).toBe(77);
});

it('restarts all numbering', async () => {
  await post('/sandbox/generate', { count: 50 });
  await reset();
  const charge = slip();
  const first = await post('/baas/v1/charges', charge);
  expect(first.body.ourNumber).toBe('00000000001');
  const paid = await post(`/baas/v1/charges/${charge.correlationId}/pay`);
  expect(paid.body.nsu).toBe(1);
  expect((await get('/sandbox/ledger')).audit).toEqual({ clean: true, problems: [] });
});

it('still has the initial settings after a restart', async () => {
  await post('/sandbox/clock', { advance: 'P1D' });
  await reset();
  const restartedBank = await bank.start();
  try {
    expect(Math.abs(restartedBank.get(BankClock).now().getTime() - Date.now())).toBeLessThan(
      60_000,
    );
  } finally {
    await restartedBank.close();
  }
});

it('serves concurrent requests entirely from the old bank or from the new one', async () => {
  const responses = await Promise.all(
    Array.from({ length: 120 }, async (_, index) => {
      if (index % 40 === 39) return reset();
      const charge = slip();
      const created = await post('/baas/v1/charges', charge);
      const paid = await post(`/baas/v1/charges/${charge.correlationId}/pay`);
      // A charge of the old bank is unknown to the new one.
      expect([200, 404]).toContain(paid.status);
      return created;
    }),
  );
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  const { audit } = await get('/sandbox/ledger');
  expect(audit).toEqual({ clean: true, problems: [] });
  await reset();
  expect(await get('/sandbox/ledger')).toEqual(initialLedger);
});

it.each(['hang-after-effect', 'reset-after-effect', 'truncated'])(
  'does not wait for a request whose response was lost by %s',
  async (kind) => {
    await post('/sandbox/faults', { endpoint: 'charges', kind, times: 1, delayMs: 60_000 });
    const lost = post('/baas/v1/charges', slip()).catch(() => 'lost');
    if (kind !== 'hang-after-effect') expect(await lost).toBe('lost');
    await until('the effect is there', async () => (await get('/baas/v1/charges')).length === 1);
    expect((await reset()).status).toBe(200);
    expect(await get('/baas/v1/charges')).toEqual([]);
  },
);

it('aborts a running load', async () => {
  const load = post('/sandbox/generate', { count: 2_000_000 });
  await until('the load has started', async () => {
    const { movements } = await get('/sandbox/ledger?limit=1&audit=false');
    return movements.length > 0;
  });
  expect((await reset()).status).toBe(200);
  expectError(await load, 503);
  expect(await get('/sandbox/ledger')).toEqual(initialLedger);
});

it('runs no task of the old bank in the new one', async () => {
  const dueWork = bank.application.get(DueWork);
  const database = bank.application.get(SandboxDatabase);
  let runs = 0;
  dueWork.handle('late', async () => {
    runs += 1;
  });
  const dueAt = new Date(Date.now() + 3_600_000);
  await database.transaction((tx) => dueWork.schedule(tx, { kind: 'late', subject: '1', dueAt }));
  await reset();
  await post('/sandbox/clock', { advance: 'PT2H' });
  expect(runs).toBe(0);
});

it('waits for a running task and for another process of the bank', async () => {
  const dueWork = bank.application.get(DueWork);
  const database = bank.application.get(SandboxDatabase);
  let finish!: () => void;
  let hasStarted = false;
  dueWork.handle('slow', async (tx) => {
    hasStarted = true;
    await new Promise<void>((resolve) => (finish = resolve));
    await tx.query(`UPDATE account SET email = 'old@bank.example'`);
  });
  await database.transaction((tx) =>
    dueWork.schedule(tx, { kind: 'slow', subject: '1', dueAt: new Date(0) }),
  );
  await until('the task has started', () => hasStarted);
  let isReset = false;
  const resetting = reset().then((response) => {
    isReset = true;
    return response;
  });
  await until('the reset waits for a table', async () => {
    const { rows } = await bank.pool.query(
      `SELECT 1 FROM pg_stat_activity
       WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    );
    return rows.length > 0;
  });
  expect(isReset).toBe(false);
  finish();
  expect((await resetting).status).toBe(200);
  const { rows } = await bank.pool.query(`SELECT 1 FROM account WHERE email LIKE 'old@%'`);
  expect(rows).toEqual([]);
});

it('records no delivery of the old bank in the new one', async () => {
  const completions: (() => void)[] = [];
  const consumer = createServer((_, response) => completions.push(() => response.end()));
  await new Promise<void>((resolve) => consumer.listen(0, '127.0.0.1', resolve));
  try {
    const registration = {
      eventType: 'CHARGE_PAID',
      url: `http://127.0.0.1:${(consumer.address() as AddressInfo).port}/`,
      authorizationScheme: 'HEADER',
      authorization: 'x-key: secret',
    };
    const payOne = async () => {
      const charge = slip();
      await post('/baas/v1/charges', charge);
      await post(`/baas/v1/charges/${charge.correlationId}/pay`);
    };
    await post('/baas/api/v1/webhooks', registration);
    await payOne();
    await until('the old delivery is running', () => completions.length === 1);
    await reset();
    await post('/baas/api/v1/webhooks', registration);
    await payOne();
    await until('the new delivery is running', () => completions.length === 2);
    // The first delivery of the new bank gets no response: only the old delivery's could complete
    // it.
    completions[0]!();
    await payOne();
    await until('the second delivery is running', () => completions.length === 3);
    completions[2]!();
    const states = async () => {
      const { rows } = await bank.pool.query('SELECT state FROM webhook_delivery ORDER BY id');
      return rows.map(({ state }: { state: string }) => state);
    };
    await until(
      'the second delivery is delivered',
      async () => (await states())[1] === 'delivered',
    );
    expect(await states()).toEqual(['pending', 'delivered']);
  } finally {
    consumer.closeAllConnections();
    consumer.close();
  }
});
