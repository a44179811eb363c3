// Many deliveries made once more: the dead ones of an endpoint, and all events after a position.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Deliveries } from '../../../src/events/delivery-lists.service.js';
import { EventsService } from '../../../src/events/events.service.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

let service: ServiceApplication;
let accountId: number;
beforeAll(async () => {
  service = await serviceApplication();
  ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
});
afterAll(() => service.stop());
beforeEach(() => run('TRUNCATE delivery, webhook_endpoint, event, event_position'));

const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
const createEndpoint = async (fields: object = {}): Promise<string> => {
  const body = { url: 'https://erp.example/events', ...fields };
  return (await service.call('POST', '/v1/webhook-endpoints', { body })).body.id;
};
const record = (type: 'charge.paid' | 'break.opened', count: number) =>
  service.database.transaction(async (tx) =>
    service.application.get(EventsService).record(
      tx,
      accountId,
      Array.from({ length: count }, () => ({
        ...{ type, resource: { kind: 'charge', id: 'c1' } as const, data: {} },
      })),
    ),
  );
const endAll = (state: 'dead' | 'delivered') =>
  run(
    `UPDATE delivery SET state = $1::delivery_state, attempts = 10, next_attempt_at = NULL`,
    state,
  );
const replay = (id: string, body?: object) =>
  service.call('POST', `/v1/webhook-endpoints/${id}/replay`, { body });
const counts = async () =>
  Object.fromEntries(
    (
      await run(
        `SELECT concat_ws(' ', e.type, d.state, d.attempts) AS key, count(*)::int AS count
         FROM delivery d JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
         GROUP BY 1`,
      )
    ).rows.map(({ key, count }) => [key, count]),
  );

describe('a replay of dead deliveries', () => {
  it('makes those of the endpoint and of the type due, and no others', async () => {
    const [first, other] = [await createEndpoint(), await createEndpoint()];
    await record('charge.paid', 3);
    await record('break.opened', 2);
    await endAll('dead');
    await run(`UPDATE delivery SET state = 'delivered' WHERE endpoint_id = $1`, other);
    const { status, body } = await replay(first, { type: 'charge.paid' });
    expect([status, body]).toEqual([202, { replayed: 3, lastPosition: null, isComplete: true }]);
    expect(await counts()).toEqual({
      'charge.paid pending 0': 3,
      'charge.paid delivered 10': 3,
      'break.opened dead 10': 2,
      'break.opened delivered 10': 2,
    });
    expect((await replay(first)).body.replayed).toBe(2);
    expect((await replay(first)).body.replayed).toBe(0);
  });

  it('is refused for an endpoint that was removed, and without the scope', async () => {
    const id = await createEndpoint();
    await service.call('DELETE', `/v1/webhook-endpoints/${id}`);
    expect((await replay(id)).status).toBe(404);
    expect((await replay(id, { after: -1 })).status).toBe(400);
  });
});

describe('a replay of events after a position', () => {
  it('has every event that the endpoint subscribes to, also those before it', async () => {
    await record('charge.paid', 4);
    const id = await createEndpoint({ eventTypes: ['charge.paid'] });
    await record('break.opened', 1);
    await record('charge.paid', 2);
    await endAll('delivered');
    const ids = async () =>
      (await run('SELECT id FROM event ORDER BY position')).rows.map((row) => row.id);
    const before = await ids();
    const { body } = await replay(id, { after: 2 });
    expect(body).toEqual({ replayed: 4, lastPosition: 7, isComplete: true });
    expect(await counts()).toEqual({ 'charge.paid pending 0': 4 });
    expect(await ids()).toEqual(before);
    const sent = await run(
      `SELECT e.position::int AS at FROM delivery d JOIN event e ON e.id = d.event_id ORDER BY 1`,
    );
    expect(sent.rows.map(({ at }) => at)).toEqual([3, 4, 6, 7]);
  });

  it('leaves a delivery alone that is pending', async () => {
    const id = await createEndpoint();
    await record('charge.paid', 1);
    await run('UPDATE delivery SET attempts = 4');
    expect((await replay(id, { after: 0 })).body.replayed).toBe(1);
    expect(await counts()).toEqual({ 'charge.paid pending 4': 1 });
  });

  it('begins where a time begins, whatever positions were left out', async () => {
    const deliveries = service.application.get(Deliveries, { strict: false });
    const positionBefore = async (time: string) =>
      Number(await deliveries.positionBefore(accountId, new Date(time)));
    expect(await positionBefore('2026-01-01T00:00:00Z')).toBe(0);
    await record('charge.paid', 9);
    await run(
      `UPDATE event
       SET created_at = '2026-01-01T00:00:00Z'::timestamptz + position * interval '1 hour',
         position = CASE WHEN position > 5 THEN position + 1000000 ELSE position END`,
    );
    expect(await positionBefore('2025-12-31T00:00:00Z')).toBe(0);
    expect(await positionBefore('2026-01-01T01:00:00Z')).toBe(0);
    expect(await positionBefore('2026-01-01T01:00:01Z')).toBe(1);
    expect(await positionBefore('2026-01-01T05:30:00Z')).toBeGreaterThanOrEqual(5);
    expect(await positionBefore('2026-01-01T05:30:00Z')).toBeLessThan(1_000_006);
    expect(await positionBefore('2026-01-01T08:00:00Z')).toBe(1_000_007);
    expect(await positionBefore('2026-02-01T00:00:00Z')).toBe(1_000_009);
  });
});

describe('the list of deliveries', () => {
  it('is paged newest first by each filter', async () => {
    const [first, other] = [await createEndpoint(), await createEndpoint()];
    await record('charge.paid', 3);
    await record('break.opened', 2);
    await run(
      `UPDATE delivery SET state = 'dead', next_attempt_at = NULL WHERE endpoint_id = $1`,
      first,
    );
    const listed = async (query: string) => {
      const found: { eventId: string; endpointId: string; state: string }[] = [];
      let cursor = '';
      do {
        const { body } = await service.call('GET', `/v1/deliveries?limit=2&${query}${cursor}`);
        found.push(...body.data);
        cursor = body.next === null ? '' : `&cursor=${body.next}`;
      } while (cursor !== '');
      const keys = found.map(({ eventId, endpointId }) => `${eventId} ${endpointId}`);
      expect(keys).toEqual([...new Set(keys)].sort().reverse());
      return found;
    };
    expect(await listed('')).toHaveLength(10);
    const dead = await listed('state=dead');
    expect(dead.map(({ endpointId, state }) => [endpointId, state])).toEqual(
      Array.from({ length: 5 }, () => [first, 'dead']),
    );
    expect(await listed(`state=dead&endpointId=${other}`)).toEqual([]);
    expect(await listed(`endpointId=${other}`)).toHaveLength(5);
    expect(await listed('eventType=break.opened')).toHaveLength(4);
    expect(await listed('eventType=break.opened&state=pending')).toHaveLength(2);
    expect(await listed(`eventId=${dead[0]?.eventId}`)).toHaveLength(2);
  });
});
