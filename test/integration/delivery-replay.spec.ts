import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DeliveryService } from '../../src/events/delivery.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { listenHttp, type HttpListener } from '../support/http-listener.js';
import { serviceApplication, type ServiceApplication } from '../support/service-application.js';

describe('the replay of a delivery', () => {
  let service: ServiceApplication;
  let listener: HttpListener;
  let received: string[];
  let accountId: number;

  beforeAll(async () => {
    service = await serviceApplication();
    received = [];
    listener = await listenHttp(({ headers }, response) => {
      received.push(String(headers['webhook-id']));
      response.end();
    });
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
  });
  afterAll(async () => {
    listener.close();
    await service.stop();
  });

  async function createDelivered() {
    const body = { url: listener.url };
    const endpoint = await service.call('POST', '/v1/webhook-endpoints', { body });
    const endpointId = endpoint.body.id as string;
    const resource = { kind: 'charge', id: 'order-1' } as const;
    await service.database.transaction(async (tx) =>
      service.application
        .get(EventsService)
        .record(tx, accountId, [{ type: 'charge.paid', resource, data: {} }]),
    );
    await service.application.get(DeliveryService).deliverDue({ accountId, endpointId });
    const row = await service.database.prisma.delivery.findFirstOrThrow({ where: { endpointId } });
    return { id: row.id, eventId: row.eventId, endpointId };
  }

  it('delivers the same event once more, once for each idempotency key', async () => {
    const { id, eventId, endpointId } = await createDelivered();
    received.length = 0;
    const headers = { IdempotencyKey: 'replay-1' };
    const replay = () => service.call('POST', `/v1/deliveries/${id}/replay`, { headers });
    const first = await replay();
    expect([first.status, first.body.state]).toEqual([202, 'pending']);
    await service.application.get(DeliveryService).deliverDue({ accountId, endpointId });
    expect((await replay()).text).toBe(first.text);
    await service.application.get(DeliveryService).deliverDue({ accountId, endpointId });
    expect(received).toEqual([eventId]);
  });

  it('retries a dead delivery with its attempts reset', async () => {
    const { id } = await createDelivered();
    await service.database.pool.query(
      `UPDATE delivery SET state = 'dead', attempts = 10, next_attempt_at = NULL WHERE id = $1`,
      [id],
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
    const path = `/v1/events?after=${event.position - 1}`;
    expect((await service.call('GET', path)).body).toEqual({ data: [event], next: null });
    expect((await service.call('GET', '/v1/events?after=-1')).status).toBe(400);
  });

  it('gets 409 for a removed endpoint, and 404 for an unknown delivery', async () => {
    const { id, endpointId } = await createDelivered();
    await service.call('DELETE', `/v1/webhook-endpoints/${endpointId}`);
    expect((await service.call('POST', `/v1/deliveries/${id}/replay`)).status).toBe(409);
    const unknownId = '01900000-0000-7000-8000-000000000000';
    for (const missing of [unknownId, 'no-uuid'])
      expect((await service.call('POST', `/v1/deliveries/${missing}/replay`)).status).toBe(404);
  });
});
