// The forms of answers that the bank's own clients show, beside the contract's, and the service
// that reads them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebhookRegistrar } from '../../../src/webhooks/registration/webhook-registrar.service.js';
import { dayFromToday, newKeyHeader, slip } from '../../contract/samples.js';
import { internalTransfer } from '../../contract/transfer-samples.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';
import { inPublishedForm } from '../../contract/bank-under-test.js';

const charges = '/baas/v1/charges';
const transfers = '/baas/api/v2/transfers';
const registrations = '/baas/api/v1/webhooks';

describe('published answers', () => {
  let service: ServiceOnSandbox;
  let registrar: WebhookRegistrar;
  beforeAll(async () => {
    service = await serviceOnSandbox({ SANDBOX_PRESET: 'published' });
    registrar = service.application.get(WebhookRegistrar, { strict: false });
    await service.sync();
    await registrar.register({ accountId: service.accountId });
  });
  afterAll(() => service.stop());

  const newCharge = async (): Promise<string> => {
    const body = slip();
    expect((await service.call('POST', charges, { body })).status).toBe(200);
    return body.correlationId;
  };
  const registered = async () =>
    (await service.bank.call('GET', registrations)).body as { id: number; eventType: string }[];

  it('of the bank are text after a change and empty after a void', async () => {
    const [{ id } = { id: 0 }] = await registered();
    expect(Number.isSafeInteger(id)).toBe(true);
    const path = `${registrations}/${id}`;
    expect((await service.bank.call('GET', path)).body.id).toBe(id);
    const changed = await service.bank.call('PATCH', path, {
      ...inPublishedForm,
      body: { url: 'https://a.example' },
    });
    expect([changed.status, changed.body]).toEqual([200, undefined]);
    const voided = await service.bank.call(
      'POST',
      `${charges}/${await newCharge()}/void`,
      inPublishedForm,
    );
    expect([voided.status, voided.text]).toEqual([200, '']);
  });

  it('of the bank are errors of two families', async () => {
    const [ofCharge, ofTransfer] = [
      await service.bank.call('POST', charges, {
        ...inPublishedForm,
        body: slip({ dueDate: 'never' }),
      }),
      await service.bank.call('POST', transfers, {
        ...inPublishedForm,
        body: internalTransfer({ amount: 1_000_000 }),
        headers: newKeyHeader(),
      }),
    ];
    expect([ofCharge.status, Object.keys(ofCharge.body)]).toEqual([
      400,
      ['title', 'traceId', 'errors'],
    ]);
    expect([ofTransfer.status, Object.keys(ofTransfer.body)]).toEqual([422, ['title', 'code']]);
  });

  it('are read by the registrar: nothing is registered twice, and changes are made', async () => {
    await service.bank.pool.query('DELETE FROM webhook_registration');
    await registrar.register({ accountId: service.accountId });
    const before = await registered();
    await service.bank.pool.query(`UPDATE webhook_registration SET "authorization" = 'x: y'`);
    await registrar.register({ accountId: service.accountId });
    const after = await registered();
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    const states = (await registrar.list(service.accountId)).map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['registered']));
  });

  it('are read by the changes of a charge', async () => {
    const moved = await newCharge();
    const dueDate = dayFromToday(9);
    const changed = await service.call('PATCH', `${charges}/${moved}`, { body: { dueDate } });
    expect(changed.status).toBe(200);
    const read = await service.call('GET', `${charges}/${moved}`);
    expect(String(read.body.dueDate)).toContain(dueDate);
    const voided = await newCharge();
    expect((await service.call('POST', `${charges}/${voided}/void`)).status).toBe(200);
    const { body } = await service.call('GET', `/v1/charges/${voided}`);
    expect(body.settlement).toBe('cancelled');
  });

  it('are errors with the bank’s words at the service, and its code if any', async () => {
    const response = await service.call('POST', transfers, {
      ...inPublishedForm,
      body: internalTransfer({ amount: 1_000_000 }),
      headers: newKeyHeader(),
    });
    expect([response.status, response.body]).toEqual([
      422,
      { title: expect.stringMatching(/balance/), code: 'insufficient_funds' },
    ]);
    await service.bank.call('PATCH', '/sandbox/modes', {
      body: { accountsWithoutSlips: ['1000001'] },
    });
    const refused = await service.call('POST', charges, { ...inPublishedForm, body: slip() });
    expect([refused.status, refused.body]).toEqual([
      422,
      { title: expect.stringMatching(/slip/), traceId: expect.any(String) },
    ]);
  });
});
