// The routes of webhook endpoints and deliveries, on a service without job workers: the tests send
// the due deliveries themselves.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { DeliveryService } from '../../../src/events/delivery.service.js';
import { EventsService } from '../../../src/events/events.service.js';
import {
  listenHttp,
  type HttpListener,
  type ReceivedRequest,
} from '../../support/http-listener.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { until } from '../../support/until.js';

/** The test writes events whose data are made up. */
const madeUp = { mayBeSpoiled: true };

let service: ServiceApplication;
let listener: HttpListener;
let received: ReceivedRequest[];
let responseStatus: number;
let accountId: number;
const unknownId = '01900000-0000-7000-8000-000000000000';

beforeAll(async () => {
  service = await serviceApplication({ CONCURRENT_CHANGES: 'total=2,account=2,key=2' });
  listener = await listenHttp((request, response) => {
    received.push(request);
    response.writeHead(responseStatus).end('a body that nobody may read');
  });
  ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
});
afterAll(async () => {
  listener.close();
  await service.stop();
});
beforeEach(async () => {
  received = [];
  responseStatus = 200;
  await service.database.pool.query('TRUNCATE delivery, webhook_endpoint');
});

const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
const path = (id: string, action = '') => `/v1/webhook-endpoints/${id}${action}`;
const { addAccount, createKey } = operatorOf(() => service);

async function createEndpoint(url = listener.url) {
  const { status, body } = await service.call('POST', '/v1/webhook-endpoints', { body: { url } });
  expect(status).toBe(201);
  return body as { id: string; url: string; secret: string };
}

async function recordEvents(count = 1) {
  const resource = { kind: 'charge', id: 'order-1' } as const;
  const events = Array.from({ length: count }, () => ({
    type: 'charge.paid' as const,
    ...{ resource, data: {} },
  }));
  await service.database.transaction(async (tx) =>
    service.application.get(EventsService).record(tx, accountId, events),
  );
}

const deliverDue = (endpointId: string) =>
  service.application.get(DeliveryService).deliverDue({ accountId, endpointId });

async function createDelivered() {
  const { id: endpointId } = await createEndpoint();
  await recordEvents();
  await deliverDue(endpointId);
  const row = await service.database.prisma.delivery.findFirstOrThrow({ where: { endpointId } });
  return { id: row.id, eventId: row.eventId, endpointId };
}

/** Whether the receiver accepts the request with this secret. */
function isAccepted(secret: string, request = received.at(-1)): boolean {
  try {
    new Webhook(secret).verify(request?.text ?? '', request?.headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

describe('a webhook endpoint', () => {
  it('needs a key with the scope webhooks', async () => {
    const { id } = await createEndpoint();
    const statusesOf = async (scopes: string[]) => {
      const { key: apiKey } = await createKey('main', { scopes });
      const call = async (method: string, url: string, body?: unknown) =>
        (await service.call(method, url, { apiKey, ...(body ? { body } : {}) })).status;
      return [
        await call('POST', '/v1/webhook-endpoints', { url: listener.url }),
        await call('GET', '/v1/webhook-endpoints'),
        await call('GET', path(id)),
        await call('PATCH', path(id), { description: 'x' }),
        await call('POST', path(id, '/test')),
        await call('POST', path(id, '/rotate-secret'), {}),
        await call('POST', `/v1/deliveries/${unknownId}/replay`),
        await call('DELETE', path(id)),
      ];
    };
    const others = ['read', 'charge', 'transfer', 'pay', 'refund', 'onboard', 'reconcile'];
    expect(await statusesOf(others)).toEqual(Array(8).fill(403));
    expect(await statusesOf(['webhooks'])).toEqual([201, 200, 200, 200, 200, 200, 404, 200]);
  });

  it('has a normalized URL, also after a change', async () => {
    const { id, url } = await createEndpoint('HTTPS://Hooks.EXAMPLE.:443/a/../Events?x=%C3%A7');
    expect(url).toBe('https://hooks.example/Events?x=%C3%A7');
    const changed = await service.call('PATCH', path(id), { body: { url: 'https://ÇÃO.example' } });
    expect(changed.body.url).toBe('https://xn--o-xfal.example/');
    expect((await service.call('GET', path(id))).body.url).toBe(changed.body.url);
  });

  it('is refused at a port of the service, with a fragment or with a password', async () => {
    const { id } = await createEndpoint();
    for (const url of [
      `${service.url}/v1/webhook-endpoints`,
      service.url.replace('127.0.0.1', 'localhost'),
      'http://127.0.0.1:80/',
      'https://hooks.example/#a',
      'https://user:password@hooks.example/',
    ])
      for (const [method, target] of [
        ['POST', '/v1/webhook-endpoints'],
        ['PATCH', path(id)],
      ] as const) {
        const { status, body } = await service.call(method, target, { body: { url } });
        expect([url, status, Object.keys(body.errors)]).toEqual([url, 400, ['$.url']]);
      }
  });

  it('is one of at most as many as the settings allow', async () => {
    const create = () =>
      service.call('POST', '/v1/webhook-endpoints', { body: { url: listener.url } });
    const responses = await Promise.all(Array.from({ length: 24 }, create));
    const created = responses.filter(({ status }) => status === 201);
    expect(created).toHaveLength(20);
    for (const { status, body } of responses.filter((one) => !created.includes(one)))
      expect([status, body.code]).toEqual([409, 'endpoint_limit']);
    await service.call('DELETE', path(created[0]?.body.id as string));
    expect([(await create()).status, (await create()).status]).toEqual([201, 409]);
  });

  it('reports on its removal how many deliveries were pending, which are dead then', async () => {
    const [removed, other] = [await createEndpoint(), await createEndpoint()];
    await recordEvents(3);
    await deliverDue(other.id);
    await service.database.prisma.delivery.updateMany({
      where: { endpointId: removed.id, event: { sequence: 1 } },
      data: { state: 'delivered', nextAttemptAt: null },
    });
    const waiting = await service.call('GET', '/v1/deliveries?state=pending');
    const response = await service.call('DELETE', path(removed.id));
    const count = waiting.body.data.length as number;
    expect([response.status, response.body]).toEqual([
      200,
      { id: removed.id, deadDeliveries: count },
    ]);
    expect(count).toBeGreaterThan(1);
    const dead = await service.call('GET', '/v1/deliveries?state=dead');
    expect(dead.body.data.map(({ id }: { id: string }) => id).sort()).toEqual(
      waiting.body.data.map(({ id }: { id: string }) => id).sort(),
    );
    for (const { endpointId, lastError } of dead.body.data)
      expect([endpointId, lastError]).toEqual([removed.id, 'endpoint_removed']);
  });
});

describe('a test event', () => {
  const sendTest = (id: string, headers: Record<string, string> = {}) =>
    service.call('POST', path(id, '/test'), { headers });
  const allowTest = () => run(`UPDATE webhook_endpoint SET tested_at = NULL`);

  it('is sent at once, signed, and is stored nowhere', async () => {
    const { id, secret } = await createEndpoint();
    const newest = await service.call('GET', '/v1/events?limit=1', madeUp);
    const { status, body, text } = await sendTest(id);
    expect([status, body]).toEqual([
      200,
      { eventId: expect.any(String), status: 200, error: null, durationMs: expect.any(Number) },
    ]);
    expect(text).not.toContain('a body that nobody may read');
    expect(isAccepted(secret)).toBe(true);
    expect(received[0]?.headers['webhook-id']).toBe(body.eventId);
    expect(JSON.parse(received[0]?.text ?? '')).toEqual({
      type: 'endpoint.test',
      timestamp: expect.any(String),
      resource: { kind: 'webhook_endpoint', id },
      apiVersion: '1',
      sequence: 0,
      data: { endpointId: id },
    });
    expect((await service.call('GET', '/v1/events?limit=1', madeUp)).body).toEqual(newest.body);
    expect((await service.call('GET', '/v1/deliveries')).body.data).toEqual([]);
  });

  it('reports how the endpoint responded, also while it is disabled', async () => {
    const { id } = await createEndpoint();
    await service.call('PATCH', path(id), { body: { isEnabled: false } });
    responseStatus = 503;
    expect((await sendTest(id)).body).toMatchObject({ status: 503, error: 'status_503' });
    await allowTest();
    responseStatus = 410;
    expect((await sendTest(id)).body).toMatchObject({ status: 410, error: 'status_410' });
    await run(`UPDATE webhook_endpoint SET url = 'http://127.0.0.1:5432/', tested_at = NULL`);
    expect((await sendTest(id)).body).toMatchObject({ status: null, error: 'address_refused' });
  });

  it('is sent once in ten seconds to an endpoint, and once for an idempotency key', async () => {
    const [{ id }, other] = [await createEndpoint(), await createEndpoint()];
    const key = { IdempotencyKey: `test-${id}` };
    const responses = await Promise.all([sendTest(id), sendTest(id), sendTest(id)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
    const refused = responses.find(({ status }) => status === 429);
    expect(refused?.headers.get('retry-after')).toBe('10');
    expect((await sendTest(other.id)).status).toBe(200);
    await run(`UPDATE webhook_endpoint SET tested_at = tested_at - interval '9 seconds'`);
    expect((await sendTest(id)).status).toBe(429);
    await run(`UPDATE webhook_endpoint SET tested_at = tested_at - interval '1 second'`);
    const first = await sendTest(id, key);
    expect((await sendTest(id, key)).text).toBe(first.text);
    expect(received).toHaveLength(3);
  });

  it('to an endpoint that does not respond takes no slot of a change', async () => {
    const waiting: ServerResponse[] = [];
    const silent = await listenHttp((_, response) => void waiting.push(response));
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) ids.push((await createEndpoint(silent.url)).id);
    const [{ slug: otherSlug }, { slug: thirdSlug }] = [await addAccount(), await addAccount()];
    const { key: other } = await createKey(otherSlug, { scopes: ['webhooks'] });
    const { key: third } = await createKey(thirdSlug, { scopes: ['reconcile'] });
    const post = (apiKey: string, target: string, body?: unknown) =>
      service.call('POST', target, { apiKey, body });
    const { body: endpoint } = await post(other, '/v1/webhook-endpoints', { url: silent.url });
    let ended = 0;
    const tests = [
      ...ids.slice(0, 2).map((id) => sendTest(id)),
      post(other, path(endpoint.id, '/test')),
    ].map((sent) => sent.finally(() => (ended += 1)));
    await until('more of them wait than there are slots', () => waiting.length === 3);
    expect((await post(third, '/v1/reconciliations', {})).status).toBe(202);
    const refused = await sendTest(ids[2] as string);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(ended).toBe(0);
    for (const response of waiting) response.end();
    expect((await Promise.all(tests)).map(({ body }) => body.status)).toEqual([200, 200, 200]);
    // What was refused did not count as sent.
    const next = sendTest(ids[2] as string);
    await until('it is sent', () => waiting.length === 4);
    silent.close();
    expect((await next).status).toBe(200);
  });

  it('is not sent to a removed or an unknown endpoint', async () => {
    const { id } = await createEndpoint();
    await service.call('DELETE', path(id));
    for (const missing of [id, unknownId, 'no-uuid'])
      expect((await sendTest(missing)).status).toBe(404);
    expect(received).toEqual([]);
  });
});

describe('a rotated secret', () => {
  const rotate = (id: string, body?: unknown) =>
    service.call('POST', path(id, '/rotate-secret'), body === undefined ? {} : { body });
  const sendEvent = async (id: string) => {
    await recordEvents();
    await deliverDue(id);
  };
  const signatureCount = () =>
    String(received.at(-1)?.headers['webhook-signature']).split(' ').length;
  const endOverlap = () =>
    run(
      `UPDATE webhook_endpoint
       SET previous_secret_until = clock_timestamp() - interval '1 millisecond'`,
    );

  it('signs together with the old one until the overlap of a day ends', async () => {
    const { id, secret: old } = await createEndpoint();
    const { status, body } = await rotate(id);
    expect([status, body.secret]).toEqual([200, expect.stringMatching(/^whsec_/)]);
    const { rows } = await run(
      `SELECT previous_secret_until - clock_timestamp() BETWEEN '23 h 59 min' AND '24 h' AS "isDay"
       FROM webhook_endpoint`,
    );
    expect(rows).toEqual([{ isDay: true }]);
    await sendEvent(id);
    expect([isAccepted(old), isAccepted(body.secret), signatureCount()]).toEqual([true, true, 2]);
    await endOverlap();
    await sendEvent(id);
    expect([isAccepted(old), isAccepted(body.secret), signatureCount()]).toEqual([false, true, 1]);
  });

  it('is shown once, and stored encrypted', async () => {
    const { id, secret } = await createEndpoint();
    const { body } = await rotate(id);
    const shown = await service.call('GET', path(id));
    expect(shown.body).toEqual({ ...body, secret: undefined });
    const { rows } = await run('SELECT * FROM webhook_endpoint');
    for (const text of [shown.text, JSON.stringify(rows)])
      for (const plain of [secret, body.secret]) expect(text).not.toContain(plain);
  });

  it('replaces the old one at once without an overlap', async () => {
    const { id, secret: first } = await createEndpoint();
    const second = await rotate(id, { overlapSeconds: 3_600 });
    const third = await rotate(id, { overlapSeconds: 0 });
    await sendEvent(id);
    const secrets = [first, second.body.secret, third.body.secret];
    expect(secrets.map((secret) => isAccepted(secret))).toEqual([false, false, true]);
    expect(third.body.previousSecretUntil).toBeNull();
  });

  it('is not rotated again while the overlap lasts', async () => {
    const { id, secret: first } = await createEndpoint();
    const second = await rotate(id, { overlapSeconds: 604_800 });
    const again = await rotate(id, { overlapSeconds: 60 });
    expect([again.status, again.body.code]).toEqual([409, 'secret_overlap']);
    await sendEvent(id);
    expect([isAccepted(first), isAccepted(second.body.secret)]).toEqual([true, true]);
    await endOverlap();
    expect((await rotate(id, { overlapSeconds: 60 })).status).toBe(200);
  });

  it('has an overlap of at most seven days, and an endpoint that exists', async () => {
    const { id } = await createEndpoint();
    for (const overlapSeconds of [604_801, -1, 1.5, '60'])
      expect((await rotate(id, { overlapSeconds })).status).toBe(400);
    await service.call('DELETE', path(id));
    for (const missing of [id, unknownId]) expect((await rotate(missing)).status).toBe(404);
  });
});

describe('the replay of a delivery', () => {
  it('delivers the same event once more, once for each idempotency key', async () => {
    const { id, eventId, endpointId } = await createDelivered();
    received = [];
    const headers = { IdempotencyKey: `replay-${id}` };
    const replay = () => service.call('POST', `/v1/deliveries/${id}/replay`, { headers });
    const first = await replay();
    expect([first.status, first.body.state]).toEqual([202, 'pending']);
    await deliverDue(endpointId);
    expect((await replay()).text).toBe(first.text);
    await deliverDue(endpointId);
    expect(received.map((request) => request.headers['webhook-id'])).toEqual([eventId]);
  });

  it('retries a dead delivery with its attempts reset', async () => {
    const { id } = await createDelivered();
    await run(
      `UPDATE delivery SET state = 'dead', attempts = 10, next_attempt_at = NULL WHERE id = $1`,
      id,
    );
    const { body } = await service.call('POST', `/v1/deliveries/${id}/replay`);
    expect(body).toMatchObject({ state: 'pending', attempts: 0 });
  });

  it('is of an event that the list shows with its position, resource and sequence', async () => {
    const { eventId } = await createDelivered();
    const newest = await service.call('GET', '/v1/events?limit=1', madeUp);
    const [event] = newest.body.data;
    expect(event).toMatchObject({ id: eventId, resource: { kind: 'charge', id: 'order-1' } });
    expect([event.position, event.sequence]).toEqual([expect.any(Number), expect.any(Number)]);
    const after = `/v1/events?after=${event.position - 1}`;
    expect((await service.call('GET', after, madeUp)).body).toEqual({ data: [event], next: null });
    expect((await service.call('GET', '/v1/events?after=-1')).status).toBe(400);
  });

  it('delivers the event of a removed endpoint to another one that the request names', async () => {
    const { id, eventId, endpointId } = await createDelivered();
    await service.call('DELETE', path(endpointId));
    const replay = (body?: unknown) =>
      service.call('POST', `/v1/deliveries/${id}/replay`, body === undefined ? {} : { body });
    for (const without of [await replay(), await replay({})])
      expect([without.status, without.body.code]).toEqual([409, 'endpoint_removed']);
    const other = await createEndpoint();
    received = [];
    const { status, body } = await replay({ endpointId: other.id });
    expect([status, body]).toMatchObject([202, { eventId, endpointId: other.id, attempts: 0 }]);
    await deliverDue(other.id);
    // The same delivery once more: the event has one delivery to each endpoint.
    expect((await replay({ endpointId: other.id })).body).toMatchObject({
      id: body.id,
      state: 'pending',
    });
    await deliverDue(other.id);
    expect(received.map((request) => request.headers['webhook-id'])).toEqual([eventId, eventId]);
    expect(isAccepted(other.secret)).toBe(true);
  });

  it('gets 404 for an unknown delivery, and for an unknown or removed other endpoint', async () => {
    const { id } = await createDelivered();
    for (const missing of [unknownId, 'no-uuid'])
      expect((await service.call('POST', `/v1/deliveries/${missing}/replay`)).status).toBe(404);
    const removed = await createEndpoint();
    await service.call('DELETE', path(removed.id));
    const replay = (endpointId: string) =>
      service.call('POST', `/v1/deliveries/${id}/replay`, { body: { endpointId } });
    for (const missing of [unknownId, removed.id]) expect((await replay(missing)).status).toBe(404);
    expect((await replay('no-uuid')).status).toBe(400);
  });
});
