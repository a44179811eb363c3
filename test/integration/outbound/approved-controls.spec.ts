// Who may be paid is compared again when an operation is approved: controls, limits and holders of
// Pix keys may have changed while it waited. The whole service in front of a sandbox bank.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import { OperationRecovery } from '../../../src/outbound/operations/operation-recovery.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { newKeyHeader } from '../../contract/samples.js';
import { keyTransfer } from '../../contract/transfer-samples.js';
import { statusAndCode } from '../../support/breaks.js';
import { operatorOf } from '../../support/operator.js';
import { deleteAllRows } from '../../support/parent-rows.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const transferPath = '/baas/api/v2/transfers';
const controlsPath = '/v1/accounts/main/payment-controls';
const beneficiariesPath = '/v1/accounts/main/beneficiaries';
const changedBy = { actor: 'Ana', reason: 'policy 7' };
const inBatch = { 'content-type': 'application/json-patch+json' };
const holder = { name: 'Ana Souza', document: '31840295732' };
const otherHolder = { name: 'Bruno Lima', document: '36562207002' };

describe('a payment that waits for approval', () => {
  let service: ServiceApplication;
  let accountId: number;
  let approver: string;
  const { asOperator, createKey } = operatorOf(() => service);

  beforeAll(async () => {
    service = await serviceApplication({
      RATE_LIMITS_PER_KEY: 'uploads=0,money-out=0,look-ups=0',
      RATE_LIMITS_PER_ACCOUNT: 'uploads=0,money-out=0,look-ups=0',
    });
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
    ({ key: approver } = await createKey('main', { scopes: ['read', 'approve'] }));
  });
  afterEach(async () => {
    await service.sandbox.call('POST', '/sandbox/reset');
    const except = ['bank_account', 'api_key', 'service_secret'];
    await deleteAllRows(service.database.pool, { except });
  });
  afterAll(() => service.stop());

  const requireApproval = async () => {
    const { status } = await service.call('PUT', '/v1/approval-policy', {
      body: { aboveAmount: 0 },
      apiKey: approver,
    });
    expect(status).toBe(200);
  };
  const set = async (controls: object) =>
    expect((await asOperator('PUT', controlsPath, { ...changedBy, ...controls })).status).toBe(200);
  const add = async (payee: object): Promise<string> =>
    (await asOperator('POST', beneficiariesPath, { name: 'Fornecedor', ...changedBy, ...payee }))
      .body.id;
  const remove = async (id: string) =>
    expect((await asOperator('DELETE', `${beneficiariesPath}/${id}`, changedBy)).status).toBe(200);
  const post = (path: string, body: unknown, headers: object = {}, apiKey?: string) =>
    service.call('POST', path, {
      body,
      headers: { ...newKeyHeader(), 'Concilia-Allow-Duplicate': 'true', ...headers },
      ...(apiKey ? { apiKey } : {}),
    });
  const toAccount = (amount: number, apiKey?: string) =>
    post(transferPath, { amount, beneficiaryAccount: '1000002' }, {}, apiKey);
  const waiting = async (response: ReturnType<typeof post>): Promise<string> => {
    const { status, body } = await response;
    // Of a batch it is a list.
    const [{ id, state, operationId = id }] = [body].flat();
    expect([status, state]).toEqual([202, 'awaiting_approval']);
    return operationId;
  };
  const decide = (id: string, decision = 'approve') =>
    service.call('POST', `/v1/operations/${id}/approvals`, {
      body: { decision, reason: 'invoice seen' },
      apiKey: approver,
    });
  const codeOf = async (id: string) => {
    const response = await decide(id);
    return response.status === 200 ? response.body.state : statusAndCode(response).join(' ');
  };
  const advance = (operationId: string) =>
    service.application
      .get(OperationRecovery, { strict: false })
      .advance({ accountId, operationId });
  const stateOf = async (id: string) => (await service.call('GET', `/v1/operations/${id}`)).body;
  const sentAtBank = async () => {
    const { rows } = await service.sandbox.pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM transfer`,
    );
    return rows[0]?.count;
  };
  const setClock = async (now: string) => {
    await service.sandbox.call('POST', '/sandbox/clock', { body: { now, frozen: true } });
    await service.application.get(StatementSync, { strict: false }).sync(accountId);
  };
  const limitExceeded = '409 limit_exceeded';

  describe('is compared with the payment controls again', () => {
    it('and not sent to a beneficiary that was removed meanwhile', async () => {
      await requireApproval();
      await set({ allowList: true, coolingOffHours: 0 });
      const payee = await add({ accountNumber: '1000002' });
      const id = await waiting(toAccount(1));
      await remove(payee);
      expect(await codeOf(id)).toBe('409 beneficiary_not_allowed');
      await advance(id);
      expect(await stateOf(id)).toMatchObject({ state: 'awaiting_approval', attempts: 0 });
      await set({ coolingOffHours: 24 });
      await add({ accountNumber: '1000002' });
      expect(await codeOf(id)).toBe('409 beneficiary_cooling_off');
      expect(await sentAtBank()).toBe(0);
      expect((await decide(id, 'decline')).body.state).toBe('declined');
    });

    it('and each item of a batch, and a bill', async () => {
      await requireApproval();
      const items = ['1000002', '1000003'].map((beneficiaryAccountNumber) => {
        return { amount: 1, beneficiaryAccountNumber };
      });
      const batch = await waiting(post('/baas/v1/transfers/batch', items, inBatch));
      const { body: created } = await service.sandbox.call('POST', '/sandbox/bills', {
        body: { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 80 },
      });
      const { barCode } = created;
      const bill = await waiting(post('/baas/api/v1/bill-payments', { barCode, amount: 80 }));
      await set({ allowList: true, coolingOffHours: 0 });
      await add({ accountNumber: '1000002' });
      expect(await codeOf(batch)).toBe('409 beneficiary_not_allowed');
      expect(await codeOf(bill)).toBe('409 beneficiary_not_allowed');
      await add({ accountNumber: '1000003' });
      expect(await codeOf(batch)).toBe('received');
      await set({ allowListIncludesBills: false });
      expect(await codeOf(bill)).toBe('received');
    });

    it('and with limits that were set or lowered meanwhile', async () => {
      await requireApproval();
      const before = await waiting(toAccount(7));
      await set({ limits: { perDay: 10 } });
      const [id, other] = [await waiting(toAccount(6)), await waiting(toAccount(4))];
      await set({ limits: { perOperation: 5 } });
      expect(await codeOf(id)).toBe(limitExceeded);
      expect(await codeOf(other)).toBe('received');
      await set({ limits: { perOperation: null } });
      // What waited before the limit was set counts once it is approved.
      expect(await codeOf(before)).toBe(limitExceeded);
      expect((await decide(id, 'decline')).status).toBe(200);
      expect(await codeOf(before)).toBe(limitExceeded);
      await set({ limits: { perDay: 11 } });
      expect(await codeOf(before)).toBe('received');
      expect(statusAndCode(await toAccount(0.01))).toEqual([422, 'limit_exceeded']);
    });

    it('and counts on the day on which it is approved', async () => {
      await setClock('2030-03-10T12:00:00-03:00');
      await requireApproval();
      await set({ limits: { perDay: 10, perKeyPerDay: 10, perCounterpartyPerDay: 10 } });
      const ids: string[] = [];
      for (const day of ['10', '11', '12']) {
        await setClock(`2030-03-${day}T12:00:00-03:00`);
        ids.push(await waiting(toAccount(9)));
        expect(statusAndCode(await toAccount(2))).toEqual([422, 'limit_exceeded']);
      }
      const [first = '', second = '', third = ''] = ids;
      expect(await codeOf(first)).toBe(limitExceeded);
      expect((await decide(second, 'decline')).status).toBe(200);
      expect(await codeOf(third)).toBe('received');
      await setClock('2030-03-13T12:00:00-03:00');
      expect(await codeOf(first)).toBe('received');
      for (const id of ids) await advance(id);
      expect(await sentAtBank()).toBe(2);
    });

    it('at once, and sums what is approved at once', async () => {
      await setClock('2030-03-10T12:00:00-03:00');
      await requireApproval();
      const ids: string[] = [];
      for (let count = 0; count < 8; count += 1) ids.push(await waiting(toAccount(1)));
      await set({ limits: { perHour: 3 } });
      const codes = await Promise.all(ids.map(codeOf));
      expect(codes.filter((code) => code === 'received')).toHaveLength(3);
      expect(codes.filter((code) => code === limitExceeded)).toHaveLength(5);
    });

    it('row by row of a file, whose others are sent', async () => {
      await requireApproval();
      const rows = ['1000002', '1000003'].map((beneficiaryAccount, row) =>
        JSON.stringify({ externalId: `row-${row}`, amount: 2, beneficiaryAccount }),
      );
      const headers = { 'content-type': 'application/x-ndjson' };
      const { body: upload } = await post('/v1/transfers/bulk', rows.join('\n'), headers);
      const bulk = service.application.get(BulkService, { strict: false });
      await bulk.issueNextRows({ accountId, uploadId: upload.id });
      await set({ allowList: true, coolingOffHours: 0 });
      await add({ accountNumber: '1000003' });
      const { status, body } = await service.call('POST', `/v1/bulk/${upload.id}/approvals`, {
        body: { decision: 'approve', reason: 'payroll' },
        apiKey: approver,
      });
      expect(status).toBe(200);
      const refused = [{ line: 1, code: 'beneficiary_not_allowed' }];
      expect(body).toMatchObject({ decided: 1, waiting: 1, refused });
    });
  });

  it('is no row for its maker to decide, also in a file of others', async () => {
    await requireApproval();
    const carla = (await createKey('main', { scopes: ['read', 'approve', 'transfer'] })).key;
    const row = { amount: 3, beneficiaryAccount: '1000002', idempotencyKey: 'invoice-3' };
    const { idempotencyKey, ...body } = row;
    const headers = { IdempotencyKey: idempotencyKey };
    const id = await waiting(post(transferPath, body, headers, carla));
    const rows = [row, { ...row, amount: 4, idempotencyKey: 'invoice-4' }];
    const { body: upload } = await post(
      '/v1/transfers/bulk',
      rows.map((one) => JSON.stringify(one)).join('\n'),
      { 'content-type': 'application/x-ndjson' },
    );
    const bulk = service.application.get(BulkService, { strict: false });
    await bulk.issueNextRows({ accountId, uploadId: upload.id });
    const response = await service.call('POST', `/v1/bulk/${upload.id}/approvals`, {
      body: { decision: 'approve', reason: 'payroll' },
      apiKey: carla,
    });
    const refused = [{ line: 1, operationId: id, code: 'own_request' }];
    expect([response.status, response.body]).toMatchObject([200, { decided: 1, refused }]);
    expect((await stateOf(id)).state).toBe('awaiting_approval');
  });

  describe('by Pix key', () => {
    let count = 0;
    const register = async (key: string, of: object, more: object = {}) => {
      const body = { key, holder: of, ...more };
      const { status } = await service.sandbox.call('POST', '/sandbox/dict/keys', { body });
      expect(status).toBeLessThan(300);
    };
    const newPixKey = async () => {
      const key = `approved-${(count += 1)}@fora.example`;
      await register(key, holder);
      return key;
    };
    const lookUp = async (key: string, holderDocument?: string): Promise<string> => {
      const path = '/baas/api/v2/pix/dict/payment-initialization';
      return (await service.call('POST', path, { body: { key, holderDocument } })).body.endToEndId;
    };

    it('shows its account to the approver, who sees no key', async () => {
      await requireApproval();
      const key = await newPixKey();
      const path = '/baas/api/v2/pix/dict/payment-initialization';
      const { body } = await service.call('POST', path, { body: { key } });
      const id = await waiting(post(transferPath, keyTransfer(body.endToEndId as string)));
      const { branch, number, participant } = body.beneficiary;
      const parts = [participant.ispb, branch, number].map((one: string) => one.replace(/^0+/, ''));
      const { approval } = await stateOf(id);
      expect(approval).toMatchObject({ counterparty: parts.join('/'), amount: 1.25, given: 0 });
      const { body: approved } = await decide(id);
      expect(approved.approval).toMatchObject({ counterparty: null, amount: 1.25, given: 1 });
    });

    it('is not sent once a later look-up of its key shows another holder', async () => {
      await requireApproval();
      const key = await newPixKey();
      const id = await waiting(post(transferPath, keyTransfer(await lookUp(key))));
      await service.sandbox.call('POST', '/sandbox/clock', { body: { advance: 'PT5S' } });
      await register(key, otherHolder, { replaces: true });
      await lookUp(key);
      expect(await codeOf(id)).toBe('409 payee_changed');
      await advance(id);
      expect(await sentAtBank()).toBe(0);
      expect((await decide(id, 'decline')).body.state).toBe('declined');
      const again = await waiting(post(transferPath, keyTransfer(await lookUp(key))));
      expect(await codeOf(again)).toBe('received');
    });

    it('is not sent once the payee check is on, where the bank did not confirm it', async () => {
      await requireApproval();
      await set({ checksPayee: false });
      const key = await newPixKey();
      const endToEndId = await lookUp(key, otherHolder.document);
      const id = await waiting(post(transferPath, keyTransfer(endToEndId)));
      await set({ checksPayee: true });
      expect(await codeOf(id)).toBe('409 payee_mismatch');
      await set({ checksPayee: false });
      expect(await codeOf(id)).toBe('received');
    });
  });
});
