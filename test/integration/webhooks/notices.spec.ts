// Notices of the bank that no line shows: approvals of customers, infractions and MED requests.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DisputesService } from '../../../src/statement/disputes/disputes.service.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { Notices } from '../../../src/webhooks/processing/notices.service.js';
import { registeredEventTypes } from '../../../src/webhooks/processing/webhook-body.js';
import { WebhookInbox } from '../../../src/webhooks/inbox/webhook-inbox.service.js';
import { WebhookRegistrar } from '../../../src/webhooks/registration/webhook-registrar.service.js';
import { customer, expectError, newKeyHeader } from '../../contract/samples.js';
import { expectDeclaredEvents } from '../../support/declared-events.js';
import { signedInPerson } from '../../support/console-visitor.js';
import { partnerKey } from '../../support/service-application.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

let service: ServiceOnSandbox;
let copies = 0;
beforeAll(async () => {
  service = await serviceOnSandbox();
  await service.bank.call('PATCH', '/sandbox/modes', { body: { customerApproval: 'control' } });
  await service.sync();
});
afterAll(async () => {
  await expectDeclaredEvents(service.pool, [
    'customer.approved',
    'customer.refused',
    'dispute.reported',
    'dispute.accepted',
    'dispute.rejected',
    'break.opened',
  ]);
  await service.stop();
});

const inService = <Service>(token: new (...injected: never[]) => Service): Service =>
  service.application.get(token as never, { strict: false });
const handle = () => inService(Notices).handle({ accountId: service.accountId });
const reconcile = () =>
  inService(ReconciliationService).reconcile({ accountId: service.accountId });
/** Stores a webhook; each has bytes of its own, unless `copy` is given. */
const receive = async (eventType: string, fields: object, copy = (copies += 1)) => {
  const body = Buffer.from(JSON.stringify({ eventType, ...fields, copy }));
  await inService(WebhookInbox).store(service.accountId, eventType, body);
  await handle();
};
const eventsOf = async (id: string): Promise<string[]> => {
  const { body } = await service.call('GET', '/v1/events?limit=200');
  return body.data
    .filter(({ resource }: { resource: { id: string } }) => resource.id === id)
    .map(({ type }: { type: string }) => type)
    .reverse();
};
const statesOf = async (eventType: string) =>
  (
    await service.pool.query('SELECT state FROM webhook_event WHERE event_type = $1', [eventType])
  ).rows.map(({ state }) => state);

it('registers every published event type, and goes on where the bank refuses one', async () => {
  await inService(WebhookRegistrar).register({ accountId: service.accountId });
  const { body } = await service.bank.call('GET', '/baas/api/v1/webhooks');
  const registered = body.map(({ eventType }: { eventType: string }) => eventType);
  expect(registered.sort()).toEqual([...registeredEventTypes].sort());
  expect(registered).toEqual(
    expect.arrayContaining(['WHITELABEL_CUSTOMER_APPROVED', 'MED_ACCEPTED', 'PIX_TRANSFERRED']),
  );
});

describe('a customer', () => {
  const asPartner = { 'x-service-partner-key': partnerKey };
  const onboard = async () => {
    const request = customer();
    const { status, body, headers } = await service.call('POST', '/v1/customers', {
      body: request,
      apiKey: null,
      headers: { ...asPartner, ...newKeyHeader() },
    });
    expect(status).toBe(200);
    return { request, bankId: body.id as string, id: headers.get('concilia-operation')! };
  };
  const read = async (id: string) =>
    (await service.call('GET', `/v1/customers/${id}`, { apiKey: null, headers: asPartner })).body;
  const approved = 'WHITELABEL_CUSTOMER_APPROVED';
  const refused = 'WHITELABEL_CUSTOMER_DOCUMENTATION_REJECTED';

  it('is shown as approved once, whatever comes after', async () => {
    const { id, bankId } = await onboard();
    expect(await read(id)).toMatchObject({ bankCustomerId: bankId, reportedStatus: null });
    await receive(approved, { customerId: bankId });
    const shown = await read(id);
    expect(shown).toMatchObject({
      ...{ reportedStatus: 'approved', reportedAt: expect.any(String) },
      operationState: 'succeeded',
    });
    await receive(approved, { customerId: bankId });
    await receive(refused, { customerId: bankId });
    expect(await read(id)).toEqual(shown);
    expect(await eventsOf(id)).toEqual(['customer.approved']);
    expect(await statesOf(approved)).toEqual(['processed', 'processed']);
  });

  it('is refused, and then approved after all; found by its whole document', async () => {
    const { id, request } = await onboard();
    await receive(refused, { document: request.document });
    expect((await read(id)).reportedStatus).toBe('refused');
    await receive(approved, { document: request.document });
    expect((await read(id)).reportedStatus).toBe('approved');
    expect(await eventsOf(id)).toEqual(['customer.refused', 'customer.approved']);
  });

  it('that is not known yet is waited for, and then its webhook is quarantined', async () => {
    await service.pool.query('DELETE FROM webhook_event');
    await receive(approved, { customerId: 'later' });
    expect(await statesOf(approved)).toEqual(['unhandled']);
    const { id } = await onboard();
    await service.pool.query(`UPDATE customer SET bank_id = 'later' WHERE id = $1`, [id]);
    await handle();
    expect((await read(id)).reportedStatus).toBe('approved');
    expect(await statesOf(approved)).toEqual(['processed']);

    await receive(refused, { customerId: 'never' });
    await service.pool.query(
      `UPDATE webhook_event SET received_at = now() - interval '11 minutes'
       WHERE state = 'unhandled'`,
    );
    await handle();
    expect(await statesOf(refused)).toEqual(['quarantined']);
  });

  it('has no personal data in its events', async () => {
    const { id, bankId, request } = await onboard();
    await receive(approved, { customerId: bankId, name: request.name });
    const { rows } = await service.pool.query('SELECT data FROM event WHERE resource_id = $1', [
      id,
    ]);
    expect(rows).toHaveLength(1);
    for (const text of [request.name, request.document]) expect(rows[0].data).not.toContain(text);
  });
});

describe('a disputed Pix', () => {
  const receivePix = async (amount: number) => {
    const { body } = await service.bank.call('POST', '/sandbox/pix/received', { body: { amount } });
    await service.sync();
    await reconcile();
    return body as { endToEndId: string; nsu: number };
  };
  const breakOf = async (endToEndId: string) => {
    const { rows } = await service.pool.query(
      `SELECT id, state, resolution, nsu::int, amount_cents::int AS cents, evidence FROM break
       WHERE kind = 'disputed' AND evidence->>'endToEndId' = $1`,
      [endToEndId],
    );
    return rows[0];
  };
  const refund = (endToEndId: string, amount: number) =>
    service.call('PUT', `/baas/api/v1/transactions/${endToEndId}/refund?filterBy=END_TO_END_ID`, {
      body: { amount },
      headers: newKeyHeader(),
    });
  const disputeOf = async (endToEndId: string) => {
    const { body } = await service.call('GET', '/v1/disputes');
    return body.data.find((one: { endToEndId: string }) => one.endToEndId === endToEndId);
  };

  it('has a break with its deadline and is not refunded, until the bank has returned it', async () => {
    const { endToEndId, nsu } = await receivePix(50);
    await receive('INFRACTION_NOTIFICATION_CREATED', { id: 'i1', endToEndId });
    await reconcile();
    const opened = await breakOf(endToEndId);
    expect(opened).toMatchObject({ state: 'open', nsu, cents: 5_000 });
    const dispute = await disputeOf(endToEndId);
    expect(dispute).toMatchObject({ kind: 'infraction', status: 'reported', returnedNsu: null });
    const days = (Date.parse(dispute.deadlineAt) - Date.parse(dispute.reportedAt)) / 86_400_000;
    expect(days).toBeCloseTo(7);
    expect(Date.parse(opened.evidence.deadlineAt)).toBe(Date.parse(dispute.deadlineAt));
    const refused = await refund(endToEndId, 1);
    expectError(refused, 422);
    expect(refused.body.code).toBe('disputed');

    const taken = await service.bank.call('POST', '/sandbox/pix/med', { body: { endToEndId } });
    await service.sync();
    await inService(DisputesService).recordReturns();
    await reconcile();
    expect(await breakOf(endToEndId)).toMatchObject({ state: 'resolved', resolution: 'automatic' });
    expect(await disputeOf(endToEndId)).toMatchObject({ returnedNsu: taken.body.nsu });
    expect((await refund(endToEndId, 1)).body.code).toBe('refund_exceeds_original');
    expect(await eventsOf(dispute.id)).toEqual(['dispute.reported']);
  });

  it('has as evidence its Pix, the charge with metadata that it paid, and its outcome', async () => {
    const correlationId = randomUUID();
    const delivered = await service.call('POST', '/baas/api/v2/pix/qrcode/static', {
      body: { type: 'PIX_STATIC', correlationId, metadata: { delivery: 'BR123' } },
      headers: newKeyHeader(),
    });
    expect(delivered.status).toBe(200);
    const { body: pix } = await service.bank.call('POST', '/sandbox/pix/received', {
      body: { amount: 40, correlationId },
    });
    await service.sync();
    await reconcile();
    const { endToEndId, nsu } = pix;
    await receive('MED_REQUESTED', { endToEndId, amount: 40 });
    const { id } = await disputeOf(endToEndId);
    const read = async () => (await service.call('GET', `/v1/disputes/${id}/evidence`)).body;
    expect(await read()).toMatchObject({
      ...{ dispute: { id, status: 'reported' }, transaction: { nsu, amount: 40 }, returned: null },
      charges: [{ correlationId, metadata: { delivery: 'BR123' } }],
    });
    const taken = await service.bank.call('POST', '/sandbox/pix/med', { body: { endToEndId } });
    await service.sync();
    await inService(DisputesService).recordReturns();
    expect(await read()).toMatchObject({ returned: { nsu: taken.body.nsu, amount: 40 } });
    const { accountId } = service;
    const ana = await signedInPerson(service, 'ana@example.com', { accountId, role: 'viewer' });
    const list = await ana.get('/console/accounts/main/disputes');
    expect(list.text).toContain('the bank does not report it');
    expect(list.text).toContain(`/disputes/${id}`);
    const page = await ana.get(`/console/accounts/main/disputes/${id}`);
    for (const shown of ['BR123', correlationId, `statement/${nsu}`, `statement/${taken.body.nsu}`])
      expect(page.text).toContain(shown);
  });

  it('is never released by a webhook, but by a person', async () => {
    const { endToEndId } = await receivePix(30);
    await receive('MED_REQUESTED', { id: 'm1', endToEndId, amount: 10, deadline: '2037-01-02' });
    await receive('MED_REJECTED', { id: 'm1', endToEndId });
    await receive('MED_ACCEPTED', { id: 'm1', endToEndId });
    await receive('MED_REQUESTED', { id: 'm1', endToEndId });
    await reconcile();
    const { id, state, cents, evidence } = await breakOf(endToEndId);
    expect([state, cents, evidence.status]).toEqual(['open', 1_000, 'rejected']);
    expect(evidence.deadlineAt).toContain('2037-01-02T23:59:59');
    expect((await refund(endToEndId, 1)).body.code).toBe('disputed');
    const dispute = await disputeOf(endToEndId);
    expect(await eventsOf(dispute.id)).toEqual(['dispute.reported', 'dispute.rejected']);

    const accepted = await service.call('POST', `/v1/breaks/${id}/actions`, {
      body: { action: 'accept', reason: 'The bank has rejected the request.' },
    });
    expect(accepted.status).toBe(200);
    expect((await refund(endToEndId, 1)).status).toBe(200);
    await reconcile();
    expect((await breakOf(endToEndId)).state).toBe('resolved');
  });

  it('shows a later status in its open break, and waits for the whole disputed amount', async () => {
    const { endToEndId } = await receivePix(20);
    await receive('MED_REQUESTED', { endToEndId, amount: 15 });
    await reconcile();
    await receive('MED_ACCEPTED', { endToEndId });
    await reconcile();
    expect((await breakOf(endToEndId)).evidence.status).toBe('accepted');
    for (const [amount, state] of [
      [5, 'open'],
      [10, 'resolved'],
    ] as const) {
      await service.bank.call('POST', '/sandbox/pix/med', { body: { endToEndId, amount } });
      await service.sync();
      await inService(DisputesService).recordReturns();
      await reconcile();
      expect((await breakOf(endToEndId)).state).toBe(state);
    }
    expect((await refund(endToEndId, 5)).status).toBe(200);
  });

  it('is reported by the webhooks of the sandbox bank', async () => {
    const { endToEndId } = await receivePix(5);
    const body = { eventType: 'MED_REQUESTED', endToEndId, amount: 5 };
    const { status, body: sent } = await service.bank.call('POST', '/sandbox/disputes', { body });
    expect([status, sent.endToEndId]).toEqual([200, endToEndId]);
    const { rows } = await service.bank.pool.query('SELECT body FROM webhook_delivery');
    const webhook = rows
      .map((row: { body: string }) => JSON.parse(row.body))
      .find(({ id }) => id === sent.id);
    await receive('MED_REQUESTED', webhook);
    expect(await disputeOf(endToEndId)).toMatchObject({ kind: 'med', amount: 5 });
    expect(
      (await service.call('GET', `/v1/disputes/${(await disputeOf(endToEndId)).id}`)).status,
    ).toBe(200);
  });
});
