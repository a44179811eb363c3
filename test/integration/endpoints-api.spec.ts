// The routes of webhook endpoints and deliveries, on a service without job workers: the tests send
// the due deliveries themselves.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DeliveryService } from '../../src/events/delivery.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { listenHttp, type HttpListener, type ReceivedRequest } from '../support/http-listener.js';
import { serviceApplication, type ServiceApplication } from '../support/service-application.js';

let service: ServiceApplication;
let listener: HttpListener;
let received: ReceivedRequest[];
let accountId: number;
const unknownId = '01900000-0000-7000-8000-000000000000';

beforeAll(async () => {
  service = await serviceApplication();
  listener = await listenHttp((request, response) => {
    received.push(request);
    response.end();
  });
  ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
});
afterAll(async () => {
  listener.close();
  await service.stop();
});
beforeEach(async () => {
  received = [];
  await service.database.pool.query('TRUNCATE delivery, webhook_endpoint');
});

const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
const path = (id: string) => `/v1/webhook-endpoints/${id}`;

async function createEndpoint(url = listener.url) {
  const { status, body } = await service.call('POST', '/v1/webhook-endpoints', { body: { url } });
  expect(status).toBe(201);
  return body as { id: string; url: string };
}

async function recordEvents() {
  const resource = { kind: 'charge', id: 'order-1' } as const;
  await service.database.transaction(async (tx) =>
    service.application
      .get(EventsService)
      .record(tx, accountId, [{ type: 'charge.paid', resource, data: {} }]),
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

describe('a webhook endpoint', () => {
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
    const newest = await service.call('GET', '/v1/events?limit=1');
    const [event] = newest.body.data;
    expect(event).toMatchObject({ id: eventId, resource: { kind: 'charge', id: 'order-1' } });
    expect([event.position, event.sequence]).toEqual([expect.any(Number), expect.any(Number)]);
    const after = `/v1/events?after=${event.position - 1}`;
    expect((await service.call('GET', after)).body).toEqual({ data: [event], next: null });
    expect((await service.call('GET', '/v1/events?after=-1')).status).toBe(400);
  });

  it('gets 409 for a removed endpoint, and 404 for an unknown delivery', async () => {
    const { id, endpointId } = await createDelivered();
    await service.call('DELETE', path(endpointId));
    expect((await service.call('POST', `/v1/deliveries/${id}/replay`)).status).toBe(409);
    for (const missing of [unknownId, 'no-uuid'])
      expect((await service.call('POST', `/v1/deliveries/${missing}/replay`)).status).toBe(404);
  });
});
