// What reaches the bank in each mode of an account, with two processes of the service on one
// database. A proxy in front of the sandbox bank records every request.
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import pg from 'pg';
import { AccountsService } from '../../../src/access/accounts/accounts.service.js';
import { BankLimits, type Admission } from '../../../src/bank/bank-limits.service.js';
import { BankService } from '../../../src/bank/bank.service.js';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import { OperationRecovery } from '../../../src/outbound/operations/operation-recovery.service.js';
import { OperationResending } from '../../../src/outbound/operations/operation-resending.service.js';
import { Health } from '../../../src/platform/http/health.js';
import { WebhookRegistrar } from '../../../src/webhooks/registration/webhook-registrar.service.js';
import {
  sandboxUnderTest,
  type SandboxUnderTest,
  type TestResponse,
} from '../../contract/bank-under-test.js';
import { customer, dayFromToday, newKeyHeader, slip, staticQr } from '../../contract/samples.js';
import {
  batchItem,
  internalTransfer,
  keyTransfer,
  knownBeneficiaries,
  manualTransfer,
} from '../../contract/transfer-samples.js';
import { holdCommits } from '../../support/held-commits.js';
import { advanceAllOperations, makeOlder, onlyOperation } from '../../support/journal.js';
import { deleteAllRows, withoutTriggers } from '../../support/parent-rows.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { recordingBank, type RecordingBank } from '../../support/recording-bank.js';
import {
  adminKey,
  partnerKey,
  serviceProcess,
  type ServiceProcess,
} from '../../support/service-application.js';
import { until } from '../../support/until.js';

const charges = '/baas/v1/charges';
const transfers = '/baas/api/v2/transfers';

describe('the mode of an account', () => {
  let sandbox: SandboxUnderTest;
  let bank: RecordingBank;
  let test: TestDatabase;
  /** Two processes of the service. */
  let one: ServiceProcess;
  let other: ServiceProcess;
  let accountId: number;

  beforeAll(async () => {
    sandbox = await sandboxUnderTest();
    bank = await recordingBank(await sandbox.application.getUrl());
    test = await testDatabase('service');
    [one, other] = [await serviceProcess(test, bank.url), await serviceProcess(test, bank.url)];
    ({ id: accountId } = await one.database.prisma.bankAccount.findFirstOrThrow());
  });
  afterAll(async () => {
    await one.stop();
    await other.stop();
    await test.drop();
    bank.close();
    await sandbox.stop();
  });
  beforeEach(() => void bank.takeChanges());
  afterEach(async () => {
    jest.restoreAllMocks();
    bank.cutResponsesOf(null);
    const except = ['bank_account', 'api_key', 'service_secret'];
    await deleteAllRows(test.pool, { except });
    await test.pool.query(`UPDATE bank_account SET mode = 'live', registers_webhooks = true`);
  });

  const asOperator = (method: string, path: string, body?: object) =>
    one.call(method, path, { body, apiKey: adminKey });
  const change = async (mode: string, more: object = {}, slug = 'main') => {
    const body = { mode, actor: 'Ana', reason: 'incident 42', ...more };
    const response = await asOperator('PUT', `/v1/accounts/${slug}/mode`, body);
    expect(response.status).toBe(200);
    return response.body;
  };
  const advance = () =>
    advanceAllOperations(
      one.database,
      accountId,
      one.application.get(OperationRecovery, { strict: false }),
    );
  const create = (body = slip(), headers: Record<string, string> = newKeyHeader()) =>
    one.call('POST', charges, { body, headers });
  const requestAsync = () =>
    one.call('POST', transfers, {
      body: internalTransfer(),
      headers: { ...newKeyHeader(), Prefer: 'respond-async' },
    });

  /** Each request of the contract that changes something at the bank, by the route's path. */
  const changingRequests = async (): Promise<Record<string, () => Promise<TestResponse>>> => {
    const { endToEndId } = (
      await one.call('POST', '/baas/api/v2/pix/dict/payment-initialization', {
        body: { key: knownBeneficiaries.dictKey },
      })
    ).body;
    const post = (path: string, body: unknown) => () =>
      one.call('POST', path, { body, headers: newKeyHeader() });
    const upload = (path: string, row: unknown) => () =>
      one.call('POST', path, {
        body: JSON.stringify(row),
        headers: { 'content-type': 'application/x-ndjson' },
      });
    return {
      'POST /baas/v1/charges': () => create(),
      'POST /baas/v1/charges/{correlationId}/pay': post(`${charges}/a/pay`, undefined),
      'PUT /baas/v1/charges/{correlationId}/expire': () => one.call('PUT', `${charges}/a/expire`),
      'POST /baas/v1/charges/{correlationId}/void': post(`${charges}/a/void`, undefined),
      'PATCH /baas/v1/charges/{correlationId}': () =>
        one.call('PATCH', `${charges}/a`, { body: { dueDate: dayFromToday(5) } }),
      'POST /baas/api/v2/pix/qrcode/static': post('/baas/api/v2/pix/qrcode/static', staticQr()),
      'POST /baas/api/v2/transfers': post(transfers, keyTransfer(endToEndId)),
      'POST /baas/api/v2/transfers/ted': post(`${transfers}/ted`, manualTransfer()),
      'POST /baas/v1/transfers/batch': post('/baas/v1/transfers/batch', [batchItem()]),
      'POST /baas/api/v1/bill-payments': post('/baas/api/v1/bill-payments', {
        barCode: '99991164900000150750001112000000000011000001',
        amount: 150.75,
      }),
      'PUT /baas/api/v1/transactions/{transactionId}/refund': () =>
        one.call('PUT', '/baas/api/v1/transactions/1/refund?filterBy=NSU', {
          body: { amount: 1 },
          headers: newKeyHeader(),
        }),
      'POST /v1/customers': () =>
        one.call('POST', '/v1/customers', {
          body: customer(),
          apiKey: null,
          headers: { 'x-service-partner-key': partnerKey },
        }),
      'POST /v1/charges/bulk': upload('/v1/charges/bulk', slip()),
      'POST /v1/transfers/bulk': upload('/v1/transfers/bulk', internalTransfer()),
    };
  };
  const countRows = async () => {
    const { operation, bulkUpload, expectedPayment } = one.database.prisma;
    return Promise.all([operation.count(), bulkUpload.count(), expectedPayment.count()]);
  };

  it('is checked by every route of the contract that changes something at the bank', async () => {
    const document = (await one.call('GET', '/openapi.json')).body;
    const served = Object.entries(document.paths as Record<string, object>)
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      )
      .filter((route) => !route.startsWith('GET ') && route.includes(' /baas/'))
      .filter((route) => !route.endsWith('/payment-initialization'))
      // Registrations at the service change nothing at the bank.
      .filter((route) => !route.includes('/baas/api/v1/webhooks'));
    expect(Object.keys(await changingRequests())).toEqual(expect.arrayContaining(served));
    expect(served.length).toBeGreaterThan(6);
  });

  it.each([
    ['stopped', 503, 'account_stopped'],
    ['reconcile_only', 409, 'account_is_reconcile_only'],
  ])(
    '%s refuses each such request with %i %s, and stores nothing of it',
    async (mode, status, code) => {
      const requests = await changingRequests();
      bank.takeChanges();
      await change(mode);
      for (const [route, request] of Object.entries(requests)) {
        const response = await request();
        expect([route, response.status, response.body.code]).toEqual([route, status, code]);
      }
      expect(bank.takeChanges()).toEqual([]);
      expect(await countRows()).toEqual([0, 0, 0]);

      await change('live');
      const created = await create();
      expect(created.status).toBe(200);
      expect(bank.takeChanges()).toEqual([`POST ${charges}`]);
    },
  );

  it('stopped lets everything be read, and replays the response to an earlier request', async () => {
    const [body, headers] = [slip(), newKeyHeader()];
    const first = await create(body, headers);
    await change('stopped');
    const repeated = await create(body, headers);
    expect([repeated.status, repeated.text]).toEqual([200, first.text]);
    const range = 'startDate=2020-01-01&endDate=2100-01-01';
    const { status } = await one.call('GET', `/baas/api/v2/transactions?${range}`);
    expect(status).toBe(200);
    const looked = await one.call('POST', '/baas/api/v2/pix/dict/payment-initialization', {
      body: { key: 'not-a-key-of-anybody@nowhere.example' },
    });
    expect(looked.body.code).not.toBe('account_stopped');
  });

  it('stopped in another process counts the calls under way, which end as usual', async () => {
    const held = bank.holdNext(`POST ${charges}`);
    const creating = other.call('POST', charges, { body: slip(), headers: newKeyHeader() });
    await held.hasArrived;
    expect(await change('stopped')).toMatchObject({ callsUnderWay: 1, waiting: 0 });
    held.release();
    expect((await creating).status).toBe(200);
    const { body } = await asOperator('GET', '/v1/accounts/main/mode');
    expect(body).toMatchObject({ mode: 'stopped', callsUnderWay: 0, waiting: 0 });
  });

  it('stopped keeps what was accepted and not sent, and sends it once after the release', async () => {
    expect((await requestAsync()).status).toBe(202);
    expect(await change('stopped')).toMatchObject({ callsUnderWay: 0, waiting: 1 });
    // The stop lasts longer than an unsent operation waits in an account that is live.
    await makeOlder(one.database, accountId, '2 hours');
    await withoutTriggers(test.pool, async (client) => {
      await client.query(
        `UPDATE account_mode_change SET created_at = created_at - interval '2 hours'`,
      );
    });
    await advance();
    expect(await onlyOperation(one.database, accountId)).toMatchObject({ state: 'received' });
    expect(bank.takeChanges()).toEqual([]);

    await change('live');
    await Promise.all([advance(), advance()]);
    expect(await onlyOperation(one.database, accountId)).toMatchObject({ state: 'succeeded' });
    expect(bank.takeChanges()).toEqual([`POST ${transfers}`]);
  });

  it('stopped withholds an attempt that was recorded before, and not yet written', async () => {
    const limits = one.application.get(BankLimits, { strict: false });
    const admit = limits.admit.bind(limits);
    jest.spyOn(limits, 'admit').mockImplementationOnce(async (call) => {
      // The wait for the rate limit: the attempt is recorded, and the account was live.
      expect(await change('stopped')).toMatchObject({ callsUnderWay: 1 });
      return { ...(await admit(call)), hasWaited: true } as Admission;
    });
    const { status } = await create();
    expect([status, bank.takeChanges()]).toEqual([202, []]);
    expect(await onlyOperation(one.database, accountId)).toMatchObject({ state: 'received' });
    await change('live');
    await advance();
    expect(await onlyOperation(one.database, accountId)).toMatchObject({ state: 'succeeded' });
    expect(bank.takeChanges()).toEqual([`POST ${charges}`]);
  });

  it('stopped counts a call that was being recorded, and is sent afterwards', async () => {
    for (const { application } of [one, other]) {
      const accounts = application.get(AccountsService, { strict: false });
      // Long enough for what happens here between the reading and the call.
      jest.replaceProperty(accounts, 'recentAccountMs', 2_000);
    }
    const held = bank.holdNext(`POST ${charges}`);
    const commits = await holdCommits(test.pool, 'operation_attempt');
    const creating = other.call('POST', charges, { body: slip(), headers: newKeyHeader() });
    const waits = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await until('the commit waits', async () => (await test.pool.query(waits)).rowCount === 1);
    const changing = change('stopped');
    const stopped = `SELECT FROM bank_account WHERE mode = 'stopped'`;
    await until('it is stopped', async () => (await test.pool.query(stopped)).rowCount === 1);
    await commits.release();
    await held.hasArrived;
    expect(await changing).toMatchObject({ mode: 'stopped', callsUnderWay: 1 });
    held.release();
    expect((await creating).status).toBe(200);
  });

  it('is read once for a call that is recorded and sent at once, and again after a wait', async () => {
    await create();
    const sent = jest.spyOn(pg.Client.prototype, 'query');
    const reads = () => {
      const texts = sent.mock.calls.map(([config]) => (config as unknown as pg.QueryConfig).text);
      sent.mockClear();
      return texts.filter((text) => text?.includes('a.mode')).length;
    };
    await create();
    expect(reads()).toBe(1);
    const limits = one.application.get(BankLimits, { strict: false });
    const admit = limits.admit.bind(limits);
    jest.spyOn(limits, 'admit').mockImplementationOnce(async (call) => {
      return { ...(await admit(call)), hasWaited: true } as Admission;
    });
    await create();
    expect(reads()).toBe(2);
  });

  it('stopped resends nothing, neither by recovery nor for an operator', async () => {
    bank.cutResponsesOf(`POST ${transfers}`);
    const { status } = await one.call('POST', transfers, {
      body: internalTransfer(),
      headers: newKeyHeader(),
    });
    expect([status, bank.takeChanges()]).toEqual([202, [`POST ${transfers}`]]);
    await change('stopped');
    // Without the look-up by id, recovery has only the repeat.
    const { profile } = one.application.get(BankService, { strict: false });
    jest.replaceProperty(profile, 'hasStatusById', false);
    await advance();
    const { id, state, attempts } = await onlyOperation(one.database, accountId);
    expect([state, attempts, bank.takeChanges()]).toEqual(['unknown', 1, []]);
    const resending = one.application.get(OperationResending, { strict: false });
    await expect(
      one.database.transaction((tx) => resending.reopen(tx, accountId, id)),
    ).rejects.toMatchObject({ details: { reason: 'account_stopped' } });

    bank.cutResponsesOf(null);
    await change('live');
    await advance();
    expect(await onlyOperation(one.database, accountId)).toMatchObject({ state: 'succeeded' });
    expect(bank.takeChanges()).toEqual([`POST ${transfers}`]);
  });

  it('stopped keeps the rows of a file, and issues them after the release', async () => {
    const { body: upload } = await one.call('POST', '/v1/charges/bulk', {
      body: JSON.stringify(slip()),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    await change('stopped');
    const bulk = one.application.get(BulkService, { strict: false });
    const states = async () => {
      await bulk.issueNextRows({ accountId, uploadId: upload.id });
      const rows = await one.database.prisma.bulkRow.findMany();
      return rows.map(({ state }) => state);
    };
    expect([await states(), bank.takeChanges()]).toEqual([['pending'], []]);
    await change('live');
    expect([await states(), bank.takeChanges()]).toEqual([['accepted'], [`POST ${charges}`]]);
  });

  it('records who changed it, when and why, and reports it; a repeat changes nothing', async () => {
    await change('stopped');
    await change('stopped', { actor: 'Bia', reason: 'again' });
    await change('live', { actor: 'Bia', reason: 'solved' });
    const shown = await change('reconcile_only', { reason: 'migration' });
    expect(shown.changes).toMatchObject([
      { mode: 'reconcile_only', actor: 'Ana', reason: 'migration', registersWebhooks: false },
      { mode: 'live', actor: 'Bia', reason: 'solved', registersWebhooks: true },
      { mode: 'stopped', actor: 'Ana', reason: 'incident 42', registersWebhooks: true },
    ]);
    const { data } = (await one.call('GET', '/v1/events?after=0')).body;
    expect(data.map(({ type, sequence }: Record<string, unknown>) => [type, sequence])).toEqual([
      ['account.stopped', 1],
      ['account.released', 2],
      ['account.reconcile_only', 3],
    ]);
    expect(data[0]).toMatchObject({
      resource: { kind: 'account', id: 'main' },
      data: { slug: 'main', mode: 'stopped', actor: 'Ana', reason: 'incident 42' },
    });
    const { body: summary } = await one.call('GET', '/v1/summary');
    expect(summary.account).toEqual({
      mode: 'reconcile_only',
      since: shown.changes[0].at,
      reason: 'migration',
    });
    expect((await one.application.get(Health).examine()).facts.warnings).toEqual([
      'Bank accounts to which nothing is sent: 1 reconcile-only.',
    ]);
    const { pool } = one.database;
    await expect(pool.query('DELETE FROM account_mode_change')).rejects.toThrow('append-only');
    await expect(pool.query(`UPDATE account_mode_change SET actor = ''`)).rejects.toThrow();
  });

  it('is changed by the operator only, with a name and a reason', async () => {
    const body = { mode: 'stopped', actor: 'Ana', reason: 'x' };
    expect((await one.call('PUT', '/v1/accounts/main/mode', { body })).status).toBe(403);
    for (const wrong of [{ actor: '' }, { reason: ' ' }, { mode: 'paused' }, { actor: undefined }])
      expect(
        (await asOperator('PUT', '/v1/accounts/main/mode', { ...body, ...wrong })).status,
      ).toBe(400);
    expect((await asOperator('PUT', '/v1/accounts/nobody/mode', body)).status).toBe(404);
    expect((await asOperator('GET', '/v1/accounts/main')).body.mode).toBe('live');
  });

  describe('reconcile_only', () => {
    const register = () =>
      one.application.get(WebhookRegistrar, { strict: false }).register({ accountId });
    const registered = async () =>
      (await sandbox.call('GET', '/baas/api/v1/webhooks')).body as { id: string; url: string }[];
    const removeAll = async () => {
      for (const { id } of await registered())
        await sandbox.call('DELETE', `/baas/api/v1/webhooks/${id}`);
    };

    it('registers no webhooks unless the operator says so, and never touches those of others', async () => {
      await removeAll();
      const { body: foreign } = await sandbox.call('POST', '/baas/api/v1/webhooks', {
        body: {
          eventType: 'CHARGE_PAID',
          url: 'https://erp.example/hooks',
          authorizationScheme: 'HEADER',
          authorization: 'x-key: secret',
        },
      });
      await change('reconcile_only');
      await register();
      expect(bank.takeChanges()).toEqual([]);
      expect(await registered()).toEqual([foreign]);

      await change('reconcile_only', { registersWebhooks: true });
      await register();
      const after = await registered();
      expect(after).toContainEqual(foreign);
      expect(after.length).toBeGreaterThan(1);
      expect(bank.takeChanges().every((request) => request === 'POST /baas/api/v1/webhooks')).toBe(
        true,
      );
      await removeAll();
      await change('stopped');
      await register();
      expect([await registered(), bank.takeChanges()]).toEqual([[], []]);
    });

    it('ends what was accepted and not sent: another system sends there', async () => {
      await requestAsync();
      await change('reconcile_only');
      await advance();
      const ended = { state: 'not_executed', reason: 'never_sent' };
      expect(await onlyOperation(one.database, accountId)).toMatchObject(ended);
      await change('live');
      await advance();
      expect(bank.takeChanges()).toEqual([]);
    });

    it('is the first mode of an account that is added in it, also of the settings', async () => {
      const body = { slug: 'second', mode: 'reconcile_only', credentials: { apiKey: 'a-key' } };
      const { body: added } = await asOperator('POST', '/v1/accounts', body);
      expect(added).toMatchObject({ mode: 'reconcile_only', registersWebhooks: false });
      const fresh = await testDatabase('service');
      const started = await serviceProcess(fresh, bank.url, {
        BANK_ACCOUNT_MODE: 'reconcile_only',
      });
      const accounts = started.application.get(AccountsService);
      const { id } = await accounts.getBySlug('main');
      const rules = { mode: 'reconcile_only', registersWebhooks: false };
      expect(await accounts.getSendingRules(id)).toEqual(rules);
      await started.stop();
      await fresh.drop();
    });
  });
});
