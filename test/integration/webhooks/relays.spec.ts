// Relayed webhooks: a client of the bank registers at the service as it did at the bank, and gets
// the bank's webhooks as the bank sent them.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { RelayDeliveries } from '../../../src/webhooks/relays/relay-deliveries.service.js';
import { WebhookInbox } from '../../../src/webhooks/inbox/webhook-inbox.service.js';
import { Notices } from '../../../src/webhooks/processing/notices.service.js';
import { expectError } from '../../contract/samples.js';
import {
  listenHttp,
  type HttpListener,
  type ReceivedRequest,
} from '../../support/http-listener.js';
import { adminKey } from '../../support/service-application.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

const path = '/baas/api/v1/webhooks';
let service: ServiceOnSandbox;
let client: HttpListener;
let received: ReceivedRequest[] = [];
let responses: number[] = [];
/** No response is sent before it resolves. */
let holding = Promise.resolve();
beforeAll(async () => {
  service = await serviceOnSandbox();
  await service.sync();
  client = await listenHttp((request, response) => {
    received.push(request);
    response.statusCode = responses.shift() ?? 200;
    void holding.then(() => response.end());
  });
});
afterAll(async () => {
  client.close();
  await service.stop();
});
afterEach(async () => {
  for (const { id } of (await service.call('GET', path)).body)
    await service.call('DELETE', `${path}/${id}`);
  received = [];
  responses = [];
});

const register = (eventType: string, more: object = {}) =>
  service.call('POST', path, {
    body: { eventType, url: `${client.url}/hook`, authorizationScheme: 'NONE', ...more },
  });
const inService = <Service>(token: new (...injected: never[]) => Service): Service =>
  service.application.get(token as never, { strict: false });
const store = (eventType: string, body: string) =>
  inService(WebhookInbox).store(service.accountId, eventType, Buffer.from(body));
const deliver = async () => {
  const { rows } = await service.pool.query('SELECT id FROM relay_registration');
  for (const { id: registrationId } of rows)
    await inService(RelayDeliveries).deliverDue({ accountId: service.accountId, registrationId });
};
const deliveries = async () =>
  (
    await service.pool.query(
      `SELECT state, attempts, last_status AS status, last_error AS error FROM relay_delivery`,
    )
  ).rows;

describe('a relayed webhook', () => {
  it('of a payment is sent after its line is there, with the bytes of the bank', async () => {
    const authorization = 'X-Client-Key: s3cret value';
    const { status } = await register('PIX_RECEIVED', {
      ...{ authorizationScheme: 'HEADER', authorization },
    });
    expect(status).toBe(200);
    const pix = await service.bank.call('POST', '/sandbox/pix/received', { body: { amount: 7 } });
    const body = `{ "eventType":"PIX_RECEIVED", "endToEndId": "${pix.body.endToEndId}", "ç":1.0 }`;
    await store('PIX_RECEIVED', body);
    await inService(WebhookInbox).process({ accountId: service.accountId });
    await deliver();
    expect(received).toEqual([]);

    await service.sync();
    await inService(WebhookInbox).process({ accountId: service.accountId });
    await deliver();
    await deliver();
    expect(received.map(({ path: to, text }) => [to, text])).toEqual([['/hook', body]]);
    expect(received[0]!.headers).toMatchObject({
      'x-client-key': 's3cret value',
      'content-type': 'application/json',
    });
    expect(received[0]!.headers).not.toHaveProperty('webhook-signature');
    expect(await deliveries()).toEqual([
      { state: 'delivered', attempts: 1, status: 200, error: null },
    ]);
  });

  it.each([
    ['CHARGE_OVERDUE', { correlationId: 'a' }],
    ['MED_REQUESTED', { endToEndId: 'E99999999202603021200abcdefghijk' }],
  ])('of the kind %s, which has no line, is sent at once and once', async (eventType, fields) => {
    await register(eventType, { authorizationScheme: 'BEARER', authorization: 'a-token' });
    await store(eventType, JSON.stringify(fields));
    await store(eventType, JSON.stringify(fields));
    await deliver();
    await service.sync();
    await inService(WebhookInbox).process({ accountId: service.accountId });
    await inService(Notices).handle({ accountId: service.accountId });
    await deliver();
    expect(received.map(({ text }) => text)).toEqual([JSON.stringify(fields)]);
    expect(received[0]!.headers.authorization).toBe('Bearer a-token');
  });

  it('is repeated until the receiver responds with 2xx', async () => {
    await register('CHARGE_VOIDED', { authorizationScheme: 'BASIC', authorization: 'dTpw' });
    responses = [500, 302];
    await store('CHARGE_VOIDED', '{"correlationId":"b"}');
    for (const status of [500, 302, 200]) {
      await deliver();
      expect((await deliveries())[0]).toMatchObject({ status });
      await service.pool.query(
        `UPDATE relay_delivery SET next_attempt_at = now() WHERE state = 'pending'`,
      );
    }
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ text }) => text)).size).toBe(1);
    expect(received[0]!.headers.authorization).toBe('Basic dTpw');
    expect(await deliveries()).toEqual([
      { state: 'delivered', attempts: 3, status: 200, error: null },
    ]);
  });

  it('loses no attempt while other requests occupy its host', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const kinds = ['CHARGE_OVERDUE', 'CHARGE_VOIDED', 'CHARGE_CANCELLED', 'MED_REQUESTED'];
    kinds.push('MED_ACCEPTED', 'MED_REJECTED');
    holding = held;
    for (const eventType of kinds) {
      await register(eventType);
      for (let index = 0; index < 10; index += 1)
        await store(eventType, JSON.stringify({ correlationId: `held ${index}` }));
    }
    const { rows } = await service.pool.query('SELECT id FROM relay_registration');
    const runs = rows.map(({ id: registrationId }) =>
      inService(RelayDeliveries).deliverDue({ accountId: service.accountId, registrationId }),
    );
    while (received.length < 50) await new Promise((resolve) => setTimeout(resolve, 10));
    const waiting = (await deliveries()).filter(({ attempts }) => attempts === 0);
    expect(waiting).toHaveLength(10);
    release();
    holding = Promise.resolve();
    await Promise.all(runs);
    await deliver();
    expect(
      new Set((await deliveries()).map(({ state, attempts }) => `${state} ${attempts}`)),
    ).toEqual(new Set(['delivered 1']));
  });

  it('is sent for no other kind, no earlier webhook and no other account', async () => {
    await store('CHARGE_OVERDUE', '{"correlationId":"before"}');
    await register('CHARGE_OVERDUE');
    await store('CHARGE_VOIDED', '{"correlationId":"c"}');
    await inService(WebhookInbox).process({ accountId: service.accountId });
    const body = { slug: 'other', credentials: { apiKey: 'sandbox-dev-key-2' } };
    await service.call('POST', '/v1/accounts', { body, apiKey: adminKey });
    const other = await service.database.prisma.bankAccount.findFirstOrThrow({
      where: { slug: 'other' },
    });
    const bytes = Buffer.from('{"correlationId":"d"}');
    await inService(WebhookInbox).store(other.id, 'CHARGE_OVERDUE', bytes);
    await deliver();
    expect(received).toEqual([]);
  });
});

describe('a registration', () => {
  it('has the bank’s shape, and shows its secret in the response to its creation alone', async () => {
    const authorization = 'x-secret: canary-4711';
    const { body } = await register('CHARGE_PAID', {
      ...{ authorizationScheme: 'HEADER', authorization },
    });
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      eventType: 'CHARGE_PAID',
      url: `${client.url}/hook`,
      authorizationScheme: 'HEADER',
      authorization,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    const shown = { ...body, authorization: null };
    expect((await service.call('GET', path)).body).toEqual([shown]);
    expect((await service.call('GET', `${path}/${body.id}`)).body).toEqual(shown);
    const { rows } = await service.pool.query('SELECT r::text AS text FROM relay_registration r');
    expect(rows[0].text).not.toContain('canary');
  });

  it('is changed field by field, and keeps its secret', async () => {
    const { body } = await register('CHARGE_VOIDED', {
      ...{ authorizationScheme: 'BEARER', authorization: 'kept' },
    });
    const changed = await service.call('PATCH', `${path}/${body.id}`, {
      body: { url: `${client.url}/other` },
    });
    expect(changed.body).toMatchObject({ url: `${client.url}/other`, eventType: 'CHARGE_VOIDED' });
    await store('CHARGE_VOIDED', '{"correlationId":"e"}');
    await deliver();
    expect(received.map(({ path: to, headers }) => [to, headers.authorization])).toEqual([
      ['/other', 'Bearer kept'],
    ]);
  });

  it('keeps every one of concurrent changes', async () => {
    const { body } = await register('CHARGE_VOIDED', {
      ...{ authorizationScheme: 'BEARER', authorization: 'old' },
    });
    const changes = [
      { url: `${client.url}/concurrent` },
      { authorization: 'new' },
      { eventType: 'CHARGE_OVERDUE' },
    ];
    await Promise.all(
      changes.map((change) => service.call('PATCH', `${path}/${body.id}`, { body: change })),
    );
    await store('CHARGE_OVERDUE', '{"correlationId":"concurrent"}');
    await deliver();
    expect(received.map(({ path: to, headers }) => [to, headers.authorization])).toEqual([
      ['/concurrent', 'Bearer new'],
    ]);
  });

  it('of an event type that has one is 409, and of an unknown one is 400', async () => {
    await register('CHARGE_PAID');
    const again = await register('CHARGE_PAID');
    expectError(again, 409);
    expect(again.body.code).toBe('event_type_registered');
    expectError(await register('NOTHING_KNOWN'), 400, '$.eventType');
    expectError(await register('PIX_RECEIVED', { authorizationScheme: 'BEARER' }), 400);
  });

  it.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/',
    'http://127.0.0.1:22/',
    'ftp://a.example/',
  ])('at the address %s is refused', async (url) =>
    expectError(await register('CHARGE_PAID', { url }), 400, '$.url'),
  );

  it('that is removed gets nothing more', async () => {
    const { body } = await register('CHARGE_VOIDED');
    await store('CHARGE_VOIDED', '{"correlationId":"f"}');
    expect((await service.call('DELETE', `${path}/${body.id}`)).status).toBe(200);
    expect(await deliveries()).toEqual([]);
    await deliver();
    expect(received).toEqual([]);
    expectError(await service.call('GET', `${path}/${body.id}`), 404);
    expectError(await service.call('DELETE', `${path}/not-an-id`), 404);
  });
});
