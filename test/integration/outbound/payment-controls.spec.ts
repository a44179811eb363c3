// Beneficiaries and limits through HTTP: what is refused moves nothing and is not stored, also
// under concurrent requests, and each change has who made it and why.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { TransferStatusChecks } from '../../../src/outbound/transfers/transfer-status-checks.service.js';
import { newKeyHeader } from '../../contract/samples.js';
import {
  keyTransfer,
  knownBeneficiaries,
  manualTransfer,
} from '../../contract/transfer-samples.js';
import { operatorOf } from '../../support/operator.js';
import { deleteAllRows } from '../../support/parent-rows.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const transferPath = '/baas/api/v2/transfers';
const controlsPath = '/v1/accounts/main/payment-controls';
const beneficiariesPath = '/v1/accounts/main/beneficiaries';
const changedBy = { actor: 'Ana', reason: 'policy 7' };
const inBatch = { 'content-type': 'application/json-patch+json' };

describe('payment controls', () => {
  let service: ServiceApplication;
  let accountId: number;
  const { asOperator, createKey } = operatorOf(() => service);

  beforeAll(async () => {
    service = await serviceApplication({
      RATE_LIMITS_PER_KEY: 'uploads=0,money-out=0,look-ups=0',
      RATE_LIMITS_PER_ACCOUNT: 'uploads=0,money-out=0,look-ups=0',
    });
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
  });
  afterEach(async () => {
    await service.sandbox.call('POST', '/sandbox/reset');
    await deleteAllRows(service.database.pool, {
      except: ['bank_account', 'api_key', 'service_secret'],
    });
  });
  afterAll(() => service.stop());

  const set = async (controls: object) => {
    const response = await asOperator('PUT', controlsPath, { ...changedBy, ...controls });
    expect([response.status, response.body.code]).toEqual([200, undefined]);
    return response.body;
  };
  const add = (payee: object) =>
    asOperator('POST', beneficiariesPath, { name: 'Fornecedor', ...changedBy, ...payee });
  const post = (path: string, body: unknown, headers: object = {}, apiKey?: string) =>
    service.call('POST', path, {
      body,
      headers: { ...newKeyHeader(), 'Concilia-Allow-Duplicate': 'true', ...headers },
      ...(apiKey ? { apiKey } : {}),
    });
  const toAccount = (amount: number, headers: object = {}, apiKey?: string) =>
    post(transferPath, { amount, beneficiaryAccount: '1000002' }, headers, apiKey);
  const byKey = async (amount: number) => {
    const { body } = await service.call('POST', '/baas/api/v2/pix/dict/payment-initialization', {
      body: { key: 'ana@pagadores.example' },
    });
    return post(transferPath, keyTransfer(body.endToEndId as string, { amount }));
  };
  const codesOf = (responses: { status: number; body: { code?: string } }[]) =>
    responses.map(({ status, body }) => (status === 200 ? 'sent' : `${status} ${body.code}`));
  const codeOf = async (response: ReturnType<typeof post>) => codesOf([await response])[0];
  const newBill = async (): Promise<{ barCode: string; digitableLine: string }> => {
    const body = { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 80 };
    return (await service.sandbox.call('POST', '/sandbox/bills', { body })).body;
  };
  const sentAtBank = async () => {
    const { rows } = await service.sandbox.pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM transfer`,
    );
    return rows[0]?.count;
  };
  const storedOperations = () => service.database.prisma.operation.count();
  const sync = () => service.application.get(StatementSync, { strict: false }).sync(accountId);
  const decide = async () => {
    await sync();
    await service.database.pool.query('UPDATE transfer SET next_check_at = now()');
    await service.application.get(TransferStatusChecks, { strict: false }).check({ accountId });
    await sync();
    await service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId });
  };
  const limitExceeded = '422 limit_exceeded';

  it('are off until they are set: nothing is compared and nothing is counted', async () => {
    expect(await codeOf(toAccount(90_000))).toBe('sent');
    expect((await service.call('GET', '/v1/payment-controls')).body).toEqual({
      ...{ checksPayee: true, allowList: false, allowListIncludesBills: true },
      ...{ coolingOffHours: 24, nightFromHour: 20, nightUntilHour: 6 },
      limits: {
        ...{ perOperation: null, perHour: null, perNight: null, perDay: null },
        ...{ perKeyPerDay: null, perCounterpartyPerDay: null },
      },
    });
    expect(await service.database.prisma.countedPayment.count()).toBe(0);
  });

  it('are changed by the operator only, and read by a business system', async () => {
    const { key } = await createKey('main', { scopes: ['read', 'transfer', 'pay', 'refund'] });
    const asBusiness = (method: string, path: string, body?: object) =>
      service.call(method, path, { body, apiKey: key });
    const beneficiary = { name: 'x', accountNumber: '1', ...changedBy };
    const { id } = (await add({ accountNumber: '1000002' })).body;
    for (const response of [
      await asBusiness('PUT', controlsPath, { ...changedBy, limits: { perDay: null } }),
      await asBusiness('GET', controlsPath),
      await asBusiness('POST', beneficiariesPath, beneficiary),
      await asBusiness('DELETE', `${beneficiariesPath}/${id as string}`, changedBy),
    ])
      expect(response.status).toBe(403);
    const { body } = await asBusiness('GET', '/v1/beneficiaries');
    expect(body.data).toMatchObject([{ id, counterparty: '***02', name: 'F***' }]);
    const { body: whole } = await service.call('GET', '/v1/beneficiaries');
    expect(whole.data).toMatchObject([{ id, counterparty: '1000002', name: 'Fornecedor' }]);
    expect((await asBusiness('GET', '/v1/payment-controls')).body.limits.perDay).toBeNull();
  });

  it('have a history of who changed what and why, which nobody can change', async () => {
    await set({ limits: { perDay: 100.5 }, coolingOffHours: 0 });
    const { body: added } = await add({ accountNumber: '1000002' });
    expect((await add({ accountNumber: '01000002' })).body).toEqual(added);
    const path = `${beneficiariesPath}/${added.id as string}`;
    expect((await asOperator('DELETE', path, changedBy)).status).toBe(200);
    expect((await asOperator('DELETE', path, changedBy)).status).toBe(404);
    // What is not sent stays.
    const { changes, limits } = await set({ actor: 'Bia', limits: { perHour: 3 } });
    expect(limits).toMatchObject({ perDay: 100.5, perHour: 3 });
    expect(changes).toMatchObject([
      { action: 'controls_set', actor: 'Bia', details: { limitsInCents: { perHour: '300' } } },
      { action: 'beneficiary_removed', ...changedBy, details: { beneficiaryId: added.id } },
      { action: 'beneficiary_added', details: { counterparty: '1000002', coolingOffHours: 0 } },
      { action: 'controls_set', details: { limitsInCents: { perDay: '10050', perHour: null } } },
    ]);
    for (const sql of [
      `UPDATE payment_control_change SET actor = 'x'`,
      'DELETE FROM payment_control_change',
      'TRUNCATE payment_control_change',
    ])
      await expect(service.database.pool.query(sql)).rejects.toThrow('append-only');
  });

  it.each<[string, object]>([
    ['no reason', { reason: undefined }],
    ['a negative limit', { limits: { perDay: -1 } }],
    ['an unknown limit', { limits: { perWeek: 1 } }],
    ['a night without hours', { nightFromHour: 6 }],
  ])('refuse a change with %s', async (_, body) => {
    const { status } = await asOperator('PUT', controlsPath, { ...changedBy, ...body });
    expect(status).toBe(400);
  });

  describe('the allow-list', () => {
    it('refuses each kind of payment to others, and stores nothing of it', async () => {
      await set({ allowList: true });
      const bill = await newBill();
      const batch = [{ amount: 1, beneficiaryAccountNumber: '1000002' }];
      const header = newKeyHeader();
      const responses = [
        await toAccount(1, header),
        await toAccount(1, { Prefer: 'respond-async' }),
        await byKey(1),
        await post(transferPath, manualTransfer()),
        await post('/baas/v1/transfers/batch', batch, inBatch),
        await post('/baas/api/v1/bill-payments', { barCode: bill.barCode, amount: 80 }),
      ];
      const refused = '422 beneficiary_not_allowed';
      expect(codesOf(responses)).toEqual(Array.from({ length: 6 }, () => refused));
      expect([await sentAtBank(), await storedOperations()]).toEqual([0, 0]);
      await set({ allowList: false });
      expect(await codeOf(toAccount(1, header))).toBe('sent');
    });

    it('pays beneficiaries, by their account, their key or their bill', async () => {
      await set({ allowList: true, coolingOffHours: 0 });
      const bill = await newBill();
      const { body } = await service.call('POST', '/baas/api/v2/pix/dict/payment-initialization', {
        body: { key: 'ana@pagadores.example' },
      });
      const { branch, number, participant } = body.beneficiary;
      for (const payee of [
        { accountNumber: '01000002' },
        { account: { ispb: participant.ispb, branch, number } },
        { account: { ispb: '88888888', branch: '1', number: '7654321' } },
        { bill: bill.digitableLine },
      ])
        expect((await add(payee)).status).toBe(201);
      const responses = [
        await toAccount(1),
        await byKey(1),
        await post(transferPath, manualTransfer()),
        await post('/baas/api/v1/bill-payments', { barCode: bill.barCode, amount: 80 }),
      ];
      expect(codesOf(responses)).toEqual(['sent', 'sent', 'sent', 'sent']);
    });

    it('refuses a batch with one other payee as a whole', async () => {
      await set({ allowList: true, coolingOffHours: 0 });
      await add({ accountNumber: '1000002' });
      const items = ['1000002', '1000003'].map((beneficiaryAccountNumber) => {
        return { amount: 1, beneficiaryAccountNumber };
      });
      const send = (body: object[]) => post('/baas/v1/transfers/batch', body, inBatch);
      expect(await codeOf(send(items))).toBe('422 beneficiary_not_allowed');
      expect(await sentAtBank()).toBe(0);
      expect(await codeOf(send(items.slice(0, 1)))).toBe('sent');
    });

    it('does not pay a new beneficiary before the cooling-off time is over', async () => {
      await set({ allowList: true });
      const { body: added } = await add({ accountNumber: '1000002' });
      const refused = await toAccount(1);
      expect([refused.status, refused.body.code]).toEqual([422, 'beneficiary_cooling_off']);
      expect(refused.body.title).toContain(added.usableFrom);
      // A shorter time is for the beneficiaries that are added later.
      await set({ coolingOffHours: 0 });
      expect(await codeOf(toAccount(1))).toBe('422 beneficiary_cooling_off');
      await service.database.pool.query(
        `UPDATE beneficiary SET usable_from = usable_from - interval '24 hours'`,
      );
      expect(await codeOf(toAccount(1))).toBe('sent');
    });

    it('refuses a removed beneficiary at once, and answers a repeat of what was sent', async () => {
      await set({ allowList: true, coolingOffHours: 0 });
      const { body: added } = await add({ accountNumber: '1000002' });
      const header = newKeyHeader();
      const sent = await toAccount(1, header);
      await asOperator('DELETE', `${beneficiariesPath}/${added.id as string}`, changedBy);
      expect(await codeOf(toAccount(1))).toBe('422 beneficiary_not_allowed');
      const repeat = await toAccount(1, header);
      expect([repeat.status, repeat.body.id]).toEqual([200, sent.body.id]);
    });

    it('leaves bills out where the operator says so, and refunds always', async () => {
      await set({ allowList: true, allowListIncludesBills: false, limits: { perDay: 5_000 } });
      const bill = await newBill();
      const pay = { barCode: bill.barCode, amount: 80 };
      expect(await codeOf(post('/baas/api/v1/bill-payments', pay))).toBe('sent');
      const received = await service.sandbox.call('POST', '/sandbox/pix/received', {
        body: { amount: 12.34, payer: { name: 'Ana' } },
      });
      await sync();
      const { rows } = await service.database.pool.query<{ nsu: string }>(
        `SELECT nsu FROM statement_line WHERE is_credit ORDER BY nsu DESC LIMIT 1`,
      );
      expect(received.status).toBeLessThan(300);
      const refund = () =>
        service.call('PUT', `/baas/api/v1/transactions/${rows[0]?.nsu}/refund?filterBy=NSU`, {
          body: { amount: 1 },
          headers: newKeyHeader(),
        });
      expect((await refund()).status).toBe(200);
      await set({ limits: { perOperation: 0.5 } });
      const refused = await refund();
      expect([refused.status, refused.body.code]).toEqual([422, 'limit_exceeded']);
    });
  });

  describe('limits', () => {
    it('hold together for 64 requests at once', async () => {
      await set({ limits: { perDay: 10 } });
      const responses = await Promise.all(Array.from({ length: 64 }, () => toAccount(1)));
      const codes = codesOf(responses);
      expect(codes.filter((code) => code === 'sent')).toHaveLength(10);
      expect(codes.filter((code) => code === limitExceeded)).toHaveLength(54);
      expect([await sentAtBank(), await storedOperations()]).toEqual([10, 10]);
      const { body } = await toAccount(0.01);
      expect(body.title).toContain('limit per day of R$ 10.00: R$ 0.00 is left');
    }, 60_000);

    it('hold together for single transfers, batches, bulk rows and bills', async () => {
      await set({ limits: { perDay: 10 } });
      const batch = [3, 3].map((amount) => ({ amount, beneficiaryAccountNumber: '1000002' }));
      expect(await codeOf(post('/baas/v1/transfers/batch', batch, inBatch))).toBe('sent');
      expect(await codeOf(post('/baas/v1/transfers/batch', batch, inBatch))).toBe(limitExceeded);
      const rows = [1, 2].map((id) =>
        JSON.stringify({ externalId: `row-${id}`, amount: 2.5, beneficiaryAccount: '1000002' }),
      );
      const upload = await service.call('POST', '/v1/transfers/bulk', {
        body: rows.join('\n'),
        headers: { 'content-type': 'application/x-ndjson' },
      });
      const uploadId = upload.body.id as string;
      const bulk = service.application.get(BulkService, { strict: false });
      await bulk.issueNextRows({ accountId, uploadId });
      const { body } = await service.call('GET', `/v1/bulk/${uploadId}/rows`);
      const codes = (body.data as { code: string | null }[]).map(({ code }) => code);
      expect(codes.sort()).toEqual(['limit_exceeded', null]);
      expect(await codeOf(toAccount(1.51))).toBe(limitExceeded);
      expect(await codeOf(toAccount(1.5))).toBe('sent');
    });

    it('compare the whole amount of a request, also of a batch', async () => {
      await set({ limits: { perOperation: 5 } });
      const batch = [3, 3].map((amount) => ({ amount, beneficiaryAccountNumber: '1000002' }));
      expect(await codeOf(post('/baas/v1/transfers/batch', batch, inBatch))).toBe(limitExceeded);
      expect(await codeOf(toAccount(5.01))).toBe(limitExceeded);
      expect(await codeOf(toAccount(5))).toBe('sent');
    });

    it('do not count what the bank rejected, and count what is under way', async () => {
      await set({ limits: { perDay: 200_000 } });
      const rejected = await toAccount(150_000);
      expect(rejected.status).toBeGreaterThanOrEqual(400);
      expect(rejected.body.code).not.toBe('limit_exceeded');
      const async = await toAccount(60_000, { Prefer: 'respond-async' });
      expect(async.status).toBe(202);
      expect(await codeOf(toAccount(140_000.01))).toBe(limitExceeded);
    });

    it('count each API key by itself, and its uploads too', async () => {
      await set({ limits: { perKeyPerDay: 10 } });
      const { key } = await createKey('main', { scopes: ['read', 'transfer'] });
      expect(await codeOf(toAccount(9, {}, key))).toBe('sent');
      expect(await codeOf(toAccount(2, {}, key))).toBe(limitExceeded);
      const upload = await service.call('POST', '/v1/transfers/bulk', {
        body: JSON.stringify({ externalId: 'k', amount: 2, beneficiaryAccount: '1000002' }),
        headers: { 'content-type': 'application/x-ndjson' },
        apiKey: key,
      });
      const uploadId = upload.body.id as string;
      const bulk = service.application.get(BulkService, { strict: false });
      await bulk.issueNextRows({ accountId, uploadId });
      const { body } = await service.call('GET', `/v1/bulk/${uploadId}/rows`);
      expect(body.data).toMatchObject([{ state: 'rejected', code: 'limit_exceeded' }]);
      expect(await codeOf(toAccount(9))).toBe('sent');
    });

    it('go on for a key that was rotated', async () => {
      await set({ limits: { perKeyPerDay: 10 } });
      const made = await createKey('main', { scopes: ['read', 'transfer'] });
      expect(await codeOf(toAccount(9, {}, made.key))).toBe('sent');
      const path = `/v1/accounts/main/keys/${made.id}/rotate`;
      const { key } = (await asOperator('POST', path, {})).body;
      expect(await codeOf(toAccount(2, {}, key))).toBe(limitExceeded);
      expect(await codeOf(toAccount(1, {}, key))).toBe('sent');
      expect(await codeOf(toAccount(1, {}, made.key))).toBe(limitExceeded);
    });

    it('count a counterparty as one, whether its account is written in full or not', async () => {
      await set({ limits: { perCounterpartyPerDay: 10 } });
      expect(await codeOf(toAccount(8))).toBe('sent');
      const beneficiary = { ...manualTransfer().beneficiary, number: '1000002' };
      const manual = (amount: number) => post(transferPath, { amount, beneficiary });
      expect(await codeOf(manual(3))).toBe(limitExceeded);
      const batch = [1, 1.5].map((amount) => ({ amount, beneficiaryAccountNumber: '1000002' }));
      expect(await codeOf(post('/baas/v1/transfers/batch', batch, inBatch))).toBe(limitExceeded);
      expect(await codeOf(byKey(8))).toBe('sent');
      expect(await codeOf(manual(2))).toBe('sent');
    });

    it('take effect at once when they are lowered, and repeats get their response', async () => {
      await set({ limits: { perDay: 100 } });
      const header = newKeyHeader();
      const sent = await toAccount(50, header);
      await set({ limits: { perDay: 10 } });
      expect(await codeOf(toAccount(1))).toBe(limitExceeded);
      const repeat = await toAccount(50, header);
      expect([repeat.status, repeat.body.id]).toEqual([200, sent.body.id]);
      await set({ limits: { perDay: null } });
      expect(await codeOf(toAccount(1))).toBe('sent');
    });

    it('count what was sent before they were set', async () => {
      expect(await codeOf(toAccount(60))).toBe('sent');
      const items = [
        { amount: 10, beneficiaryAccountNumber: '1000002' },
        { amount: 20, beneficiaryAccountNumber: '1000002' },
      ];
      expect(await codeOf(post('/baas/v1/transfers/batch', items, inBatch))).toBe('sent');
      await set({ limits: { perDay: 100, perCounterpartyPerDay: 95 } });
      expect(await codeOf(toAccount(11))).toBe(limitExceeded);
      expect(await codeOf(toAccount(6))).toBe(limitExceeded);
      expect(await codeOf(toAccount(5))).toBe('sent');
    });

    it('return a share when the statement shows the reversal of a failure, never for a return', async () => {
      await set({ limits: { perDay: 100 } });
      await service.sandbox.call('POST', '/sandbox/faults', {
        body: { endpoint: 'transfers', kind: 'async-error', times: 1 },
      });
      expect(await codeOf(post(transferPath, manualTransfer({ amount: 70 })))).toBe('sent');
      expect(await codeOf(toAccount(40))).toBe(limitExceeded);
      await service.sandbox.call('POST', '/sandbox/clock', { body: { advance: 'PT1M' } });
      await decide();
      const { body: returned } = await post(transferPath, manualTransfer({ amount: 80 }));
      expect(returned.status).toBe('PIX_PROCESSING');
      await service.sandbox.call('POST', '/sandbox/clock', { body: { advance: 'PT1M' } });
      const body = { endToEndId: returned.endToEndId };
      expect((await service.sandbox.call('POST', '/sandbox/pix/returned', { body })).status).toBe(
        200,
      );
      await decide();
      expect(await codeOf(toAccount(40))).toBe(limitExceeded);
      expect(await codeOf(toAccount(20))).toBe('sent');
    });

    it('return the share of a refund when the statement shows its reversal', async () => {
      await set({ limits: { perDay: 100 } });
      const pix = await service.sandbox.call('POST', '/sandbox/pix/received', {
        body: { amount: 70 },
      });
      await decide();
      await service.sandbox.call('POST', '/sandbox/faults', {
        body: { endpoint: 'refunds', kind: 'async-error', times: 1 },
      });
      const path = `/baas/api/v1/transactions/${pix.body.nsu as number}/refund?filterBy=NSU`;
      const refund = () => service.call('PUT', path, { body: { amount: 70 } });
      expect(await codeOf(refund())).toBe('sent');
      expect(await codeOf(toAccount(40))).toBe(limitExceeded);
      await service.sandbox.call('POST', '/sandbox/clock', { body: { advance: 'PT1M' } });
      await decide();
      expect(await codeOf(toAccount(40))).toBe('sent');
      expect(await codeOf(toAccount(61))).toBe(limitExceeded);
    });

    it('hold per night and per day of São Paulo, by the bank’s clock', async () => {
      const setClock = async (now: string) => {
        await service.sandbox.call('POST', '/sandbox/clock', { body: { now, frozen: true } });
        await sync();
      };
      await setClock('2030-03-10T15:00:00-03:00');
      await set({ limits: { perNight: 10, perDay: 100 } });
      expect(await codeOf(toAccount(40))).toBe('sent');
      await setClock('2030-03-10T21:00:00-03:00');
      expect(await codeOf(toAccount(11))).toBe(limitExceeded);
      expect(await codeOf(toAccount(6))).toBe('sent');
      // The next day begins, and the night goes on.
      await setClock('2030-03-11T01:00:00-03:00');
      expect(await codeOf(toAccount(6))).toBe(limitExceeded);
      expect(await codeOf(toAccount(4))).toBe('sent');
      await setClock('2030-03-11T07:00:00-03:00');
      expect(await codeOf(toAccount(96.01))).toBe(limitExceeded);
      expect(await codeOf(toAccount(96))).toBe('sent');
    });
  });

  it('refuse two names that differ by letter case, and compare one in any case', async () => {
    await set({ allowList: true, coolingOffHours: 0, limits: { perOperation: 5 } });
    await add({ accountNumber: '1000002' });
    const item = { amount: 1, beneficiaryAccountNumber: '1000002' };
    const manual = manualTransfer();
    const { barCode } = await newBill();
    const lookUpPath = '/baas/api/v2/pix/dict/payment-initialization';
    const requests: [string, object][] = [
      [transferPath, { amount: 1, Amount: 9_000, beneficiaryAccount: '1000002' }],
      [transferPath, { amount: 1, beneficiaryAccount: '1000002', beneficiaryaccount: '1000003' }],
      [transferPath, { ...manual, beneficiary: { ...manual.beneficiary, NUMBER: '1' } }],
      ['/baas/v1/transfers/batch', [{ ...item, AMOUNT: 9_000 }]],
      [
        '/baas/api/v1/bill-payments',
        { barCode, amount: 80, payAt: '2099-01-01', payat: '2099-01-02' },
      ],
      [
        lookUpPath,
        { key: 'a@b.example', holderDocument: '36562207002', HolderDocument: '36562207002' },
      ],
      [
        transferPath,
        { amount: 1, beneficiaryAccount: '1000002', description: 'a', deſcription: 'b' },
      ],
    ];
    for (const [path, body] of requests) {
      const headers = path.endsWith('batch') ? inBatch : {};
      const response = await post(path, body, headers);
      expect([response.status, Object.keys(response.body.errors ?? {})]).toEqual([400, ['$']]);
    }
    const misspelt = { Amount: 9_000, BeneficiaryAccount: '1000002' };
    expect(await codeOf(post(transferPath, misspelt))).toBe(limitExceeded);
    const toOther = { Amount: 1, BENEFICIARYACCOUNT: '1000003' };
    expect(await codeOf(post(transferPath, toOther))).toBe('422 beneficiary_not_allowed');
    expect([await sentAtBank(), await storedOperations()]).toEqual([0, 0]);
  });

  it('turn the payee check off where the operator says so', async () => {
    const lookUp = async () =>
      (
        await service.call('POST', '/baas/api/v2/pix/dict/payment-initialization', {
          body: { key: knownBeneficiaries.dictKey, holderDocument: '36562207002' },
        })
      ).body.endToEndId as string;
    const pay = async (id: string) => codeOf(post(transferPath, keyTransfer(id)));
    const endToEndId = await lookUp();
    expect(await pay(endToEndId)).toBe('422 payee_mismatch');
    await set({ checksPayee: false });
    expect(await pay(endToEndId)).toBe('sent');
    await set({ checksPayee: true });
    expect(await pay(await lookUp())).toBe('422 payee_mismatch');
  });
});
