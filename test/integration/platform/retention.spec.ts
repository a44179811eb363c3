// What the service deletes once it is old, and what it keeps because something still needs it. The
// rows are aged by SQL.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EventRetention } from '../../../src/events/event-retention.service.js';
import { EventsService } from '../../../src/events/events.service.js';
import { BodyRetention } from '../../../src/outbound/operations/body-retention.service.js';
import { WebhookInbox } from '../../../src/webhooks/inbox/webhook-inbox.service.js';
import { WebhookRetention } from '../../../src/webhooks/inbox/webhook-retention.service.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { until } from '../../support/until.js';

/** The test writes events whose data are made up. */
const madeUp = { mayBeSpoiled: true };

let service: ServiceApplication;
let accountId: number;
beforeAll(async () => {
  service = await serviceApplication();
  ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
});
afterAll(() => service.stop());

const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
const keepForEver = {
  retention: { webhookBodyDays: 0, requestDays: 0, idempotencyDays: 0, eventDays: 0 },
} as never;

describe('the bytes of webhooks', () => {
  beforeEach(() => run('DELETE FROM webhook_event'));

  const receive = (nsu: number) =>
    service.application
      .get(WebhookInbox)
      .store(accountId, 'PIX_RECEIVED', Buffer.from(JSON.stringify({ nsu, payer: 'Maria' })));
  /** The webhook was received and processed this many days ago. */
  const process = (nsu: number, days: number) =>
    run(
      `UPDATE webhook_event SET state = 'processed',
         received_at = clock_timestamp() - $2 * interval '1 day',
         processed_at = clock_timestamp() - $2 * interval '1 day'
       WHERE reference = $1`,
      String(nsu),
      days,
    );
  const sweep = () => service.application.get(WebhookRetention).deleteOldBodies();
  const listWithBody = async () => {
    const { rows } = await run(
      'SELECT reference FROM webhook_event WHERE body IS NOT NULL ORDER BY reference',
    );
    return rows.map(({ reference }) => Number(reference));
  };
  const figures = async () => ({
    rows: (await run(`SELECT to_jsonb(e) - 'body' AS kept FROM webhook_event e ORDER BY body_hash`))
      .rows,
    counters: (await run(`SELECT * FROM account_counter ORDER BY kind, key`)).rows,
    summary: (await service.call('GET', '/v1/summary')).body.webhooks,
    health: (await service.call('GET', '/v1/webhook-health')).body.events,
  });

  it('are deleted 90 days after the processing, and nothing else of the webhook', async () => {
    for (const nsu of [1, 2, 3]) await receive(nsu);
    await process(1, 91);
    await process(2, 89);
    await process(3, 91);
    const before = await figures();
    await Promise.all([sweep(), sweep()]);
    expect(await listWithBody()).toEqual([2]);
    expect(await figures()).toEqual(before);
    expect(before.health).toEqual([expect.objectContaining({ received: 3 })]);
  });

  it('do not make a late copy another webhook', async () => {
    await receive(1);
    await process(1, 400);
    await sweep();
    await receive(1);
    const { rows } = await run('SELECT state, copies, body FROM webhook_event');
    expect(rows).toEqual([{ state: 'processed', copies: 2, body: null }]);
  });

  it('stay while the webhook is pending or quarantined, also against other programs', async () => {
    await receive(1);
    await service.application.get(WebhookInbox).store(accountId, null, Buffer.from('?'));
    await run(`UPDATE webhook_event SET received_at = clock_timestamp() - interval '5 years'`);
    await sweep();
    const { rows } = await run('SELECT state FROM webhook_event WHERE body IS NOT NULL ORDER BY 1');
    expect(rows.map(({ state }) => state)).toEqual(['pending', 'quarantined']);
    await expect(run('UPDATE webhook_event SET body = NULL')).rejects.toThrow('webhook_event_body');
  });

  it('stay for ever with 0 days', async () => {
    await receive(1);
    await process(1, 36_500);
    await new WebhookRetention(service.database, keepForEver).deleteOldBodies();
    expect(await listWithBody()).toEqual([1]);
  });

  it('are deleted in several batches when many are old', async () => {
    await run(
      `INSERT INTO webhook_event
         (account_id, event_type, body_hash, body, state, processed_at)
       SELECT $1, 'PIX_RECEIVED', n::text, 'x', 'processed',
              clock_timestamp() - interval '1 year'
       FROM generate_series(1, 1200) n`,
      accountId,
    );
    await sweep();
    expect((await run('SELECT FROM webhook_event WHERE body IS NOT NULL')).rowCount).toBe(0);
  });
});

describe('events and deliveries', () => {
  beforeEach(async () => {
    await run('TRUNCATE event, delivery, event_position, event_retention, webhook_endpoint');
  });

  /** Records one event for each resource, in this order. */
  const record = (ids: string[], type: 'charge.paid' | 'day_close.certified' = 'charge.paid') => {
    const kind = type === 'charge.paid' ? ('charge' as const) : ('day_close' as const);
    return service.database.transaction(async (tx) =>
      service.application.get(EventsService).record(
        tx,
        accountId,
        ids.map((id) => ({ type, resource: { kind, id }, data: { id } })),
      ),
    );
  };
  const age = (until: number, days: number) =>
    run(
      `UPDATE event SET created_at = created_at - $2 * interval '1 day' WHERE position <= $1`,
      until,
      days,
    );
  const sweep = () => service.application.get(EventRetention).deleteOldEvents();
  const listPositions = async () =>
    (await run('SELECT position FROM event ORDER BY position')).rows.map(({ position }) =>
      Number(position),
    );
  const follow = (after: number) => service.call('GET', `/v1/events?after=${after}`, madeUp);
  const createEndpoint = async () => {
    const body = { url: 'http://127.0.0.1:8080/events' };
    const created = await service.call('POST', '/v1/webhook-endpoints', { body });
    expect(created.status).toBe(201);
    return created.body.id as string;
  };
  const endDeliveries = (state: string, until: number) =>
    run(
      `UPDATE delivery d SET state = $1::delivery_state, next_attempt_at = NULL FROM event e
       WHERE e.id = d.event_id AND e.position <= $2`,
      state,
      until,
    );

  it('are deleted after 400 days, but for the newest event of each resource', async () => {
    await record(['a', 'b', 'a', 'c', 'a', 'b']);
    await age(5, 401);
    await sweep();
    // The old b stays: the newer one is recent.
    expect(await listPositions()).toEqual([2, 4, 5, 6]);
    await age(6, 401);
    await Promise.all([sweep(), sweep()]);
    expect(await listPositions()).toEqual([4, 5, 6]);
  });

  it('continue their sequences and positions', async () => {
    await record(['a', 'a', 'b']);
    await age(3, 401);
    await sweep();
    expect(await listPositions()).toEqual([2, 3]);
    await record(['a', 'b']);
    const { rows } = await run('SELECT resource_id, sequence, position FROM event ORDER BY 3');
    expect(rows.slice(2)).toEqual([
      { resource_id: 'a', sequence: 3, position: '4' },
      { resource_id: 'b', sequence: 2, position: '5' },
    ]);
    await expect(run(`DELETE FROM event WHERE position = 4`)).rejects.toThrow('newest event');
  });

  it('are missed by no caller: the error names the position after which all are stored', async () => {
    await record(['a', 'a', 'b', 'a', 'c']);
    await age(4, 401);
    expect((await follow(0)).status).toBe(200);
    await sweep();
    const refused = await follow(1);
    expect(refused.status).toBe(410);
    expect(refused.body).toMatchObject({ status: 410, title: expect.stringContaining('2') });
    expect(refused.body.code).toBe('events_deleted');
    const next = refused.headers.get('location') ?? '';
    const { status, body } = await service.call('GET', next, madeUp);
    expect(status).toBe(200);
    expect(body.data.map(({ position }: { position: number }) => position)).toEqual([3, 4, 5]);
    const newestFirst = await service.call('GET', '/v1/events', madeUp);
    expect(newestFirst.body.data).toHaveLength(3);
  });

  it('refuse a page that is continued after the events behind it were deleted', async () => {
    await record(['a', 'a', 'a', 'a']);
    const first = await service.call('GET', '/v1/events?after=0&limit=1', madeUp);
    await age(4, 401);
    await sweep();
    const cursor = encodeURIComponent(first.body.next as string);
    const second = await service.call('GET', `/v1/events?after=0&limit=1&cursor=${cursor}`, madeUp);
    expect([second.status, second.body.code]).toEqual([410, 'events_deleted']);
  });

  it('of certificates stay: verification compares them with the chain', async () => {
    await record(['2024-01-01', '2024-01-01', '2024-01-02'], 'day_close.certified');
    await age(3, 1_000);
    await sweep();
    expect(await listPositions()).toEqual([1, 2, 3]);
    expect((await follow(0)).status).toBe(200);
  });

  it('stay while a delivery is pending, and so do all later events', async () => {
    await createEndpoint();
    await record(['a', 'b', 'a', 'b']);
    await endDeliveries('delivered', 1);
    await age(4, 401);
    await sweep();
    expect(await listPositions()).toEqual([1, 2, 3, 4]);
    expect((await run('SELECT FROM delivery')).rowCount).toBe(1 + 2);
    await endDeliveries('dead', 4);
    await sweep();
    expect(await listPositions()).toEqual([3, 4]);
    expect((await run('SELECT FROM delivery')).rowCount).toBe(0);
  });

  it('stay when a delivery is replayed at the same moment', async () => {
    await createEndpoint();
    await record(['a', 'a']);
    await endDeliveries('dead', 2);
    await age(2, 401);
    const { rows } = await run(
      'SELECT d.id FROM delivery d JOIN event e ON e.id = d.event_id ORDER BY e.position LIMIT 1',
    );
    const client = await service.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        `UPDATE delivery SET state = 'pending', next_attempt_at = now() WHERE id = $1`,
        [rows[0].id],
      );
      const swept = sweep();
      await until('the sweep waits for the delivery', async () => {
        const { rowCount } = await run(
          `SELECT FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rowCount === 1;
      });
      await client.query('COMMIT');
      await swept;
    } finally {
      client.release();
    }
    expect(await listPositions()).toEqual([1, 2]);
    expect((await run(`SELECT FROM delivery WHERE state = 'pending'`)).rowCount).toBe(1);
  });

  it('may be replayed after they were swept: they are deleted when that delivery has ended', async () => {
    const endpointId = await createEndpoint();
    await record(['a', 'a']);
    await endDeliveries('delivered', 2);
    await age(1, 401);
    await sweep();
    expect((await run('SELECT FROM delivery')).rowCount).toBe(1);
    await run(
      `INSERT INTO delivery (account_id, id, event_id, endpoint_id, state, next_attempt_at)
       SELECT account_id, gen_random_uuid(), id, $1, 'pending', now() FROM event
       WHERE position = 1`,
      endpointId,
    );
    await age(2, 401);
    await sweep();
    expect(await listPositions()).toEqual([1, 2]);
    await endDeliveries('delivered', 2);
    await sweep();
    expect(await listPositions()).toEqual([2]);
  });

  it('stay for ever with 0 days', async () => {
    await record(['a', 'a']);
    await age(2, 36_500);
    await new EventRetention(service.database, keepForEver).deleteOldEvents();
    expect(await listPositions()).toEqual([1, 2]);
  });
});

describe('requests and responses', () => {
  const charge = (correlationId: string, body: object = {}) => ({
    ...{ type: 'BANKSLIP', correlationId, yourNumber: '1', dueDate: '2030-12-31', Amount: 149.9 },
    payer: { name: 'Maria da Silva', document: '12345678909' },
    ...body,
  });
  const create = (correlationId: string, key: string, body: object = {}) =>
    service.call('POST', '/baas/v1/charges', {
      body: charge(correlationId, body),
      headers: { IdempotencyKey: key },
    });
  const idOf = async (key: string): Promise<string> =>
    (await run('SELECT id FROM operation WHERE idempotency_key = $1', key)).rows[0].id;
  const age = (id: string, days: number) =>
    run(`UPDATE operation SET ended_at = ended_at - $2 * interval '1 day' WHERE id = $1`, id, days);
  const sweep = () => service.application.get(BodyRetention).deleteOldBodies();
  const stored = async (id: string) =>
    (await run(`SELECT to_jsonb(o) AS row FROM operation o WHERE id = $1`, id)).rows[0].row;

  it('are deleted 400 days after the end, with the personal data of the response', async () => {
    await create('old-1', 'key-old-1');
    const id = await idOf('key-old-1');
    const before = await stored(id);
    expect(JSON.stringify(before)).toContain('Maria');
    await age(id, 399);
    await sweep();
    expect((await stored(id)).request_body).toBe(before.request_body);
    await age(id, 2);
    const shownBefore = (await service.call('GET', '/v1/charges/old-1')).body;
    await Promise.all([sweep(), sweep()]);
    const { request_body, response_body, bodies_deleted_at, ended_at, ...after } = await stored(id);
    expect(request_body).toBeNull();
    expect(bodies_deleted_at).not.toBeNull();
    expect(response_body).not.toMatch(/Maria|12345678909/);
    expect(before).toMatchObject(after);
    expect(ended_at).not.toBe(before.ended_at);
    // The charge is shown as before, but for the payer.
    const { payer, ...shown } = (await service.call('GET', '/v1/charges/old-1')).body;
    expect(payer).toMatchObject({ name: '', document: '' });
    expect(shownBefore).toMatchObject(shown);
    expect(shown.digitableLine).toMatch(/^\d+$/);
    const operation = (await service.call('GET', `/v1/operations/${id}`)).body;
    expect(operation).toMatchObject({ state: 'succeeded', request: { body: null } });
    expect(operation.bodiesDeletedAt).not.toBeNull();
  });

  it('are shown with one operation, not in the list of all', async () => {
    await create('listed', 'key-listed');
    const id = await idOf('key-listed');
    const one = (await service.call('GET', `/v1/operations/${id}`)).body;
    expect(one).toMatchObject({ request: { body: {} }, response: { status: 200, body: {} } });
    const list = await service.call('GET', '/v1/operations?idempotencyKey=key-listed');
    expect(list.body.data).toEqual([expect.objectContaining({ id, responseStatus: 200 })]);
    const names = Object.keys(list.body.data[0]);
    expect(names).not.toContain('request');
    expect(names).not.toContain('response');
  });

  it('still identify a repeat: nothing is sent again, and another request is refused', async () => {
    await create('old-2', 'key-old-2');
    await age(await idOf('key-old-2'), 401);
    await sweep();
    const repeat = await create('old-2', 'key-old-2');
    expect([repeat.status, repeat.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(repeat.body).toMatchObject({ correlationId: 'old-2', amount: 149.9 });
    expect((await create('old-2', 'another-key')).headers.get('idempotent-replayed')).toBe('true');
    const other = await create('old-2', 'key-old-2', { Amount: 1 });
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    const { rows } = await run(
      `SELECT sum(attempts)::int AS attempts FROM operation o JOIN charge c ON c.operation_id = o.id
       WHERE c.correlation_id = 'old-2'`,
    );
    expect(rows).toEqual([{ attempts: 1 }]);
  });

  it('of a rejected operation are deleted, and a repeat of its key says so', async () => {
    const issued = await create('old-3', 'key-old-3');
    expect(issued.status).toBe(200);
    const id = await idOf('key-old-3');
    await run(
      `UPDATE operation SET state = 'rejected', response_status = 422,
         response_body = '{"title":"Maria owes","status":422}' WHERE id = $1`,
      id,
    );
    await age(id, 401);
    await sweep();
    expect(await stored(id)).toMatchObject({ response_status: 422, response_body: null });
    const repeat = await create('old-3', 'key-old-3');
    expect([repeat.status, repeat.body.code]).toEqual([409, 'response_deleted']);
    expect((await service.call('GET', `/v1/operations/${id}`)).body).toMatchObject({
      ...{ state: 'rejected', response: { status: 422, body: null } },
    });
  });

  it('stay while the operation is not final or waits for an operator', async () => {
    const states = ['unknown', 'needs_operator'];
    for (const state of states) {
      await create(`open-${state}`, `key-${state}`);
      await run(
        `UPDATE operation SET state = $2::operation_state,
           ended_at = CASE WHEN $2 = 'unknown' THEN NULL ELSE ended_at - interval '5 years' END,
           next_action_at = CASE WHEN $2 = 'unknown' THEN now() END,
           created_at = created_at - interval '5 years'
         WHERE id = $1`,
        await idOf(`key-${state}`),
        state,
      );
    }
    await sweep();
    for (const state of states) {
      const { request_body, response_body } = await stored(await idOf(`key-${state}`));
      expect(request_body).toContain('Maria');
      expect(response_body).toContain('Maria');
    }
  });

  it('cannot be deleted or restored by another program, and the operation cannot be sent', async () => {
    await create('old-4', 'key-old-4');
    const id = await idOf('key-old-4');
    const fixed = `the request of operation ${id} are fixed`;
    await expect(run('UPDATE operation SET request_body = NULL WHERE id = $1', id)).rejects.toThrow(
      fixed,
    );
    await age(id, 401);
    await sweep();
    await expect(run(`UPDATE operation SET request_body = '{}' WHERE id = $1`, id)).rejects.toThrow(
      fixed,
    );
    await expect(
      run(
        `UPDATE operation SET state = 'sending', ended_at = NULL, next_action_at = now()
         WHERE id = $1`,
        id,
      ),
    ).rejects.toThrow('operation_without_request_is_not_sent');
  });

  it('stay for ever with 0 days', async () => {
    await create('old-5', 'key-old-5');
    const id = await idOf('key-old-5');
    await age(id, 36_500);
    await new BodyRetention(service.database, keepForEver).deleteOldBodies();
    expect((await stored(id)).request_body).toContain('Maria');
  });
});
