import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { slip, staticQr } from '../../contract/samples.js';
import { batchItem, internalTransfer, manualTransfer } from '../../contract/transfer-samples.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

describe('a 202', () => {
  let service: ServiceOnSandbox;

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  afterEach(() => service.bank.call('DELETE', '/sandbox/faults'));
  afterAll(() => service.stop());

  const post = (path: string, body: unknown, headers = {}) =>
    service.call('POST', path, { body, headers: { IdempotencyKey: randomUUID(), ...headers } });
  const lose = (endpoint: string, kind = 'reset-after-effect') =>
    service.bank.call('POST', '/sandbox/faults', { body: { endpoint, kind, times: 1 } });

  it.each([
    ['transfers', '/baas/api/v2/transfers', internalTransfer(), 'PIX_PROCESSING'],
    ['transfers', '/baas/api/v2/transfers', manualTransfer(), 'PIX_PROCESSING'],
    ['charges', '/baas/v1/charges', slip(), 'PROCESSING'],
    ['qrcode', '/baas/api/v2/pix/qrcode/static', staticQr(), 'PROCESSING'],
  ])(
    'has the contract’s fields, what was sent and a status that is not final: %s',
    async (endpoint, path, body, status) => {
      await lose(endpoint);
      const response = await post(path, body);
      const { Amount, ...sent } = body as { Amount?: number };
      expect(response.status).toBe(202);
      expect(response.body).toMatchObject({
        ...sent,
        ...(Amount === undefined ? {} : { amount: Amount }),
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        status,
        state: 'unknown',
        createdAt: expect.any(String),
      });
      expect(response.headers.get('location')).toBe(`/v1/operations/${response.body.id}`);
      const operation = await service.call('GET', `/v1/operations/${response.body.id}`);
      const named = [...Object.keys(body), ...Object.keys(operation.body), 'amount', 'status'];
      expect(named).toEqual(expect.arrayContaining(Object.keys(response.body)));
    },
  );

  it('to a batch is a list, as the contract’s response: one element for each item', async () => {
    await lose('batch', 'error-before-effect');
    const items = [batchItem({ amount: 0.4 }), batchItem({ amount: 0.6, externalId: undefined })];
    const { status, body, headers } = await post('/baas/v1/transfers/batch', items);
    expect([status, body]).toEqual([
      202,
      items.map(({ externalId, amount, beneficiaryAccountNumber: number }) =>
        expect.objectContaining({
          ...{ amount, recipient: { number }, externalId: externalId ?? expect.any(String) },
          ...{ status: 'PROCESSING', state: 'unknown', createdAt: expect.any(String) },
        }),
      ),
    ]);
    expect(headers.get('location')).toBe(`/v1/operations/${body[0].operationId}`);
    for (const { id, externalId, amount } of body) {
      const known = await service.call('GET', `/v1/transfers/${id}`);
      expect([known.status, known.body]).toEqual([
        200,
        expect.objectContaining({ id, externalId, amount }),
      ]);
      const read = await service.call('GET', `/baas/api/v2/transfers/${id}`);
      expect([read.status, read.body]).toEqual([200, expect.objectContaining({ id, amount })]);
    }
  });

  it('has an id that the bank’s route shows as under way until the bank knows it', async () => {
    await lose('transfers', 'error-before-effect');
    const sent = manualTransfer({ amount: 3.21 });
    const { body } = await post('/baas/api/v2/transfers', sent);
    const read = await service.call('GET', `/baas/api/v2/transfers/${body.id}`);
    expect([read.status, read.body]).toEqual([
      200,
      expect.objectContaining({ ...sent, id: body.id, status: 'PIX_PROCESSING' }),
    ]);
  });

  it('of a request that moved nothing has the contract’s status of a failure', async () => {
    const key = randomUUID();
    await lose('transfers', 'error-before-effect');
    const sent = manualTransfer({ amount: 3.22 });
    const { body } = await post('/baas/api/v2/transfers', sent, { IdempotencyKey: key });
    await service.pool.query(
      `UPDATE operation SET state = 'not_executed', ended_at = now(), next_action_at = NULL
       WHERE id = $1`,
      [body.id],
    );
    const again = await post('/baas/api/v2/transfers', sent, { IdempotencyKey: key });
    expect(again.body).toMatchObject({ id: body.id, status: 'PIX_ERROR', state: 'not_executed' });
  });
});
