import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { Webhook } from 'standardwebhooks';
import { beforeCommit } from '../../../src/platform/postgres/database.service.js';
import type { EndpointsService } from '../../../src/events/endpoints.service.js';
import { endpointServices } from '../../support/endpoint-services.js';
import { withClockOffBy } from '../../support/process-clock.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { until } from '../../support/until.js';

interface ReceivedRequest {
  headers: Record<string, string>;
  body: string;
}

/** An endpoint that records the requests that it receives, and responds as the test sets. */
class TestEndpoint {
  readonly received: ReceivedRequest[] = [];
  respond: (response: ServerResponse, request: IncomingMessage) => void | Promise<void> = (
    response,
  ) => void response.end();

  connections = 0;

  private constructor(private readonly server: Server) {
    server.on('connection', () => (this.connections += 1));
  }

  static async listen(): Promise<TestEndpoint> {
    const server = createServer();
    const endpoint = new TestEndpoint(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const headers = request.headers as Record<string, string>;
        endpoint.received.push({ headers, body: Buffer.concat(chunks).toString('utf8') });
        void endpoint.respond(response, request);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return endpoint;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('the delivery of events', () => {
  let service: ServiceDatabase;
  let endpoint: TestEndpoint;
  let other: TestEndpoint;
  let services: ReturnType<typeof endpointServices>[];

  beforeEach(async () => {
    [service, endpoint, other] = [
      await serviceDatabase(),
      await TestEndpoint.listen(),
      await TestEndpoint.listen(),
    ];
    services = [];
  });
  afterEach(async () => {
    for (const one of services) one.close();
    await Promise.all([endpoint.close(), other.close()]);
    await service.drop();
  });

  const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const createServices = (options: Parameters<typeof endpointServices>[1] = {}) => {
    const created = endpointServices(service, options);
    services.push(created);
    return created;
  };
  const worker = (options: Parameters<typeof endpointServices>[1] = {}) =>
    createServices(options).delivery;
  const events = () => createServices().events;
  const register = async (url = `http://127.0.0.1:${endpoint.port}/events`) => {
    const { endpoints } = createServices();
    const options = { description: null, isEnabled: true, includesPersonalData: false };
    const fields = { url, eventTypes: [], ...options };
    const created = await endpoints.create(service.accountId, fields);
    return { id: created.endpoint.id, secret: created.secret, endpoints };
  };
  const record = (count = 1) =>
    service.database.transaction(async (tx) =>
      events().record(
        tx,
        service.accountId,
        Array.from({ length: count }, (_, index) => ({
          type: 'charge.paid' as const,
          resource: { kind: 'charge' as const, id: `order-${index}` },
          data: {
            correlationId: `order-${index}`,
            amount: new LosslessNumber('10.50'),
            name: 'maçã',
          },
        })),
      ),
    );
  const deliver = (id: string, delivery = worker()) =>
    delivery.deliverDue({ accountId: service.accountId, endpointId: id });
  /** Makes pending deliveries due now. */
  const makeDue = () =>
    run(
      `UPDATE delivery SET next_attempt_at = now() - interval '1 second' WHERE state = 'pending'`,
    );
  const deliveries = () => service.database.prisma.delivery.findMany();
  const findOnly = async () => {
    const [delivery, ...others] = await deliveries();
    expect(others).toEqual([]);
    if (!delivery) throw new Error('no delivery found');
    return delivery;
  };
  /** Seconds from `before` to the next attempt. */
  const secondsToNextAttempt = async (before: number) =>
    ((await findOnly()).nextAttemptAt?.getTime() ?? Number.NaN) / 1_000 - before / 1_000;

  it('has a signature that the standardwebhooks package verifies, and exact amounts', async () => {
    const { id, secret } = await register();
    await record();
    await deliver(id);
    const [request] = endpoint.received;
    const payload = new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {});
    expect(payload).toMatchObject({
      type: 'charge.paid',
      resource: { kind: 'charge', id: 'order-0' },
      sequence: 1,
      data: { correlationId: 'order-0', name: 'maçã' },
    });
    expect(request?.body).toContain('"amount":10.50');
    expect(request?.headers['webhook-id']).toBe((await findOnly()).eventId);
    expect(await findOnly()).toMatchObject({ state: 'delivered', attempts: 1, lastStatus: 200 });
    expect(() => new Webhook(secret).verify(`${request?.body} `, request?.headers ?? {})).toThrow();
  });

  it('has the version of the API by which its event was stored', async () => {
    const { id } = await register();
    await record(2);
    await run(`UPDATE event SET api_version = '0' WHERE position = 1`);
    await deliver(id);
    const sent = endpoint.received.map(({ body }) => JSON.parse(body).apiVersion as string);
    expect(sent.sort()).toEqual(['0', '1']);
  });

  it('is retried after a 500 with the same id and bytes', async () => {
    const { id, secret } = await register();
    await record();
    endpoint.respond = (response) => void response.writeHead(500).end();
    const before = Date.now();
    await deliver(id);
    expect(await findOnly()).toMatchObject({
      state: 'pending',
      attempts: 1,
      lastError: 'status_500',
    });
    expect(await secondsToNextAttempt(before)).toBeGreaterThan(4.9);
    await deliver(id);
    expect(endpoint.received).toHaveLength(1);
    endpoint.respond = (response) => void response.end();
    await makeDue();
    await deliver(id);
    const [first, second] = endpoint.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    new Webhook(secret).verify(second?.body ?? '', second?.headers ?? {});
    expect(await findOnly()).toMatchObject({ state: 'delivered', attempts: 2 });
  });

  it('is dead after its tenth attempt, with the last error', async () => {
    const { id } = await register();
    await record();
    endpoint.respond = (response) => void response.writeHead(503).end();
    await run('UPDATE delivery SET attempts = 9');
    await deliver(id);
    expect(await findOnly()).toMatchObject({
      state: 'dead',
      attempts: 10,
      lastError: 'status_503',
    });
    expect((await findOnly()).nextAttemptAt).toBeNull();
  });

  it('respects the Retry-After of a 429', async () => {
    const { id } = await register();
    await record();
    endpoint.respond = (response) => void response.writeHead(429, { 'retry-after': '600' }).end();
    const before = Date.now();
    await deliver(id);
    expect(await secondsToNextAttempt(before)).toBeGreaterThan(599);
    expect(await secondsToNextAttempt(Date.now())).toBeLessThan(601);
  });

  it('disables an endpoint that responds 410, and does not lose its pending deliveries', async () => {
    const { id } = await register();
    await record(3);
    endpoint.respond = (response) => void response.writeHead(410).end();
    await deliver(id);
    const stored = await service.database.prisma.webhookEndpoint.findFirstOrThrow();
    expect(stored.isEnabled).toBe(false);
    await makeDue();
    await deliver(id);
    expect(endpoint.received).toHaveLength(3);
    expect((await deliveries()).map(({ state }) => state)).toEqual([
      'pending',
      'pending',
      'pending',
    ]);
  });

  it.each([-1, 1])(
    'is signed with PostgreSQL’s time, %i day(s) from the process’s',
    async (days) => {
      const { id, secret } = await register();
      await record();
      const until = new Date(Date.now() + 600_000).toUTCString();
      endpoint.respond = (response) => void response.writeHead(503, { 'retry-after': until }).end();
      await withClockOffBy(days, () => deliver(id));
      const [request] = endpoint.received;
      new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {});
      expect(await secondsToNextAttempt(Date.now())).toBeGreaterThan(500);
      expect(await secondsToNextAttempt(Date.now())).toBeLessThan(601);
    },
  );

  it('is to an endpoint whose changes have PostgreSQL’s times', async () => {
    const { id, endpoints } = await register();
    await record();
    endpoint.respond = (response) => void response.writeHead(410).end();
    const read = async () => {
      const stored = await service.database.prisma.webhookEndpoint.findFirstOrThrow();
      const { rows } = await run(
        `SELECT clock_timestamp() - updated_at < '1 minute' AND updated_at <= clock_timestamp()
           AS "isNow",
           clock_timestamp() - deleted_at < '1 minute' AND deleted_at <= clock_timestamp()
           AS "isRemovedNow"
         FROM webhook_endpoint`,
      );
      return { isEnabled: stored.isEnabled, ...(rows[0] as object) };
    };
    await withClockOffBy(1, () => deliver(id));
    expect(await read()).toEqual({ isEnabled: false, isNow: true, isRemovedNow: null });
    await withClockOffBy(-1, () => endpoints.update(service.accountId, id, { isEnabled: true }));
    expect(await read()).toEqual({ isEnabled: true, isNow: true, isRemovedNow: null });
    await withClockOffBy(-1, () => endpoints.remove(service.accountId, id));
    expect(await read()).toEqual({ isEnabled: false, isNow: true, isRemovedNow: true });
  });

  it.each([301, 302, 307, 308])('does not follow a redirect with status %i', async (status) => {
    const { id } = await register();
    await record();
    const location = `http://127.0.0.1:${other.port}/`;
    endpoint.respond = (response) => void response.writeHead(status, { location }).end();
    await deliver(id);
    expect(other.received).toEqual([]);
    expect(await findOnly()).toMatchObject({ state: 'pending', lastError: `status_${status}` });
  });

  it('is not sent after the batch during which its endpoint was disabled', async () => {
    const { id, endpoints } = await register();
    await record(20);
    endpoint.respond = async (response) => {
      await endpoints.update(service.accountId, id, { isEnabled: false });
      response.end();
    };
    await deliver(id);
    expect(endpoint.received).toHaveLength(10);
  });

  it('is not delayed by another endpoint that is slow', async () => {
    const [slow, fast] = [await register(), await register(`http://127.0.0.1:${other.port}/`)];
    await record(20);
    let release = () => undefined as void;
    const released = new Promise<void>((resolve) => (release = resolve));
    endpoint.respond = async (response) => {
      await released;
      response.end();
    };
    const sharedWorker = worker();
    const slowDelivery = deliver(slow.id, sharedWorker);
    await until('the slow endpoint has a request', () => endpoint.received.length > 0);
    await deliver(fast.id, sharedWorker);
    expect(other.received).toHaveLength(20);
    release();
    await slowDelivery;
    expect((await deliveries()).every(({ state }) => state === 'delivered')).toBe(true);
  });

  it('is attempted by only one of several workers', async () => {
    const { id } = await register();
    await record(50);
    await Promise.all([deliver(id, worker()), deliver(id, worker()), deliver(id, worker())]);
    const ids = endpoint.received.map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([50, 50]);
  });

  it('is attempted again when a worker was killed before it recorded the result', async () => {
    const { id } = await register();
    await record();
    await run(`UPDATE delivery SET attempts = 1, next_attempt_at = now() + interval '20 seconds'`);
    await deliver(id);
    expect(endpoint.received).toHaveLength(0);
    await makeDue();
    await deliver(id);
    expect(await findOnly()).toMatchObject({ state: 'delivered', attempts: 2 });
  });

  it.each<[string, TestEndpoint['respond']]>([
    ['a body of one megabyte', (response) => void response.end('x'.repeat(1_048_576))],
    ['a body that never ends', (response) => void response.writeHead(200).write('x')],
  ])('succeeds when the endpoint responds 200 with %s', async (_, respond) => {
    const { id } = await register();
    await record();
    endpoint.respond = respond;
    await deliver(id);
    expect(await findOnly()).toMatchObject({ state: 'delivered', lastStatus: 200 });
  });

  it.each([
    ['of deliveries one after the other', 'ok', 1],
    ['of each delivery whose response is long', 'x'.repeat(1_000_000), 2],
  ])('uses the connection %s', async (_, responseBody, connections) => {
    const { id } = await register();
    const delivery = worker();
    endpoint.respond = (response) => void response.end(responseBody);
    await record();
    await deliver(id, delivery);
    await record();
    await deliver(id, delivery);
    expect(endpoint.received).toHaveLength(2);
    expect(endpoint.connections).toBe(connections);
  });

  it('ends a response whose body does not end', async () => {
    const { id } = await register();
    const ended = new Promise((resolve) => {
      endpoint.respond = (response) => {
        const dripping = setInterval(() => response.write('x'), 100);
        response.once('close', () => resolve(clearInterval(dripping)));
      };
    });
    await record();
    await deliver(id);
    expect((await deliveries()).map(({ state }) => state)).toEqual(['delivered']);
    await ended;
  });

  it('repeats a request at once only one time, however many connections were closed', async () => {
    const { id } = await register();
    const delivery = worker();
    await record();
    await deliver(id, delivery);
    await record();
    let requests = 0;
    endpoint.respond = (_, request) => {
      requests += 1;
      request.socket.destroy();
    };
    await deliver(id, delivery);
    expect(requests).toBe(2);
    expect((await deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['delivered', 1],
      ['pending', 1],
    ]);
  });

  it('is repeated at once on another connection when the endpoint had closed the kept one', async () => {
    const { id } = await register();
    const delivery = worker();
    await record();
    await deliver(id, delivery);
    await record();
    // The connection ends when the second request comes: it was not seen.
    endpoint.respond = (response, request) =>
      void (endpoint.connections === 1 ? request.socket.destroy() : response.end());
    await deliver(id, delivery);
    expect(endpoint.connections).toBe(2);
    expect((await deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
    ]);
  });

  it('is retried when the connection is closed', async () => {
    const { id } = await register();
    await record();
    endpoint.respond = (_, request) => void request.socket.destroy();
    await deliver(id);
    const expected = { state: 'pending', lastStatus: null, lastError: 'econnreset' };
    expect(await findOnly()).toMatchObject(expected);
  });

  it.each(['http://127.0.0.1', 'https://127.0.0.1', 'https://localhost', 'https://localhost.'])(
    'connects to no internal address with a real bank: %s',
    async (origin) => {
      const { id } = await register();
      await run('UPDATE webhook_endpoint SET url = $1', `${origin}:${endpoint.port}/`);
      await record();
      await deliver(id, worker({ profile: 'generic' }));
      expect(endpoint.connections).toBe(0);
      expect((await findOnly()).lastError).toMatch(/refused/);
    },
  );

  describe('to a disabled endpoint', () => {
    /** Sets times as if `hours` had passed. */
    const passHours = (hours: number) =>
      run(
        `WITH older AS (
           UPDATE webhook_endpoint SET updated_at = updated_at - $1 * interval '1 hour'
         )
         UPDATE delivery SET next_attempt_at = next_attempt_at - $1 * interval '1 hour'`,
        hours,
      );
    const disable = (id: string, endpoints: EndpointsService, isEnabled = false) =>
      endpoints.update(service.accountId, id, { isEnabled });
    const states = async () =>
      (await deliveries()).map(({ state, lastError }) => `${state} ${lastError}`).sort();

    it('is dead after the time of the settings, and sent when replayed', async () => {
      const { id, endpoints } = await register();
      await record();
      await disable(id, endpoints);
      await passHours(71);
      await record();
      await endpoints.endUndeliverable();
      expect(await states()).toEqual(['pending null', 'pending null']);
      await passHours(2);
      await endpoints.endUndeliverable();
      expect(await states()).toEqual(['dead endpoint_disabled', 'pending null']);
      const dead = (await deliveries()).find(({ state }) => state === 'dead');
      const replayed = await events().replay(service.accountId, dead?.id ?? '');
      await endpoints.endUndeliverable();
      expect(await states()).toEqual(['pending endpoint_disabled', 'pending null']);
      await disable(id, endpoints, true);
      await deliver(id);
      expect(endpoint.received.map(({ headers }) => headers['webhook-id'])).toContain(
        replayed.eventId,
      );
      expect((await deliveries()).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
    });

    it('waits the whole time after the endpoint was disabled', async () => {
      const { id, endpoints } = await register();
      await record();
      await passHours(100);
      await endpoints.endUndeliverable();
      expect(await states()).toEqual(['pending null']);
      await disable(id, endpoints);
      await endpoints.endUndeliverable();
      expect(await states()).toEqual(['pending null']);
    });

    it('ends more deliveries than one query ends', async () => {
      const { id, endpoints } = await register();
      await record(1_005);
      await disable(id, endpoints);
      await passHours(73);
      await endpoints.endUndeliverable();
      expect(await service.database.prisma.delivery.count({ where: { state: 'dead' } })).toBe(
        1_005,
      );
    });
  });

  it('is dead when an event was recorded while its endpoint was being removed', async () => {
    const { id, endpoints } = await register();
    await service.database.transaction(async (tx) => {
      events().record(tx, service.accountId, [
        { type: 'charge.paid', resource: { kind: 'charge', id: 'order-1' }, data: {} },
      ]);
      // The event's transaction has read the endpoint and has not committed yet.
      beforeCommit(tx, async () => {
        await endpoints.remove(service.accountId, id);
      });
    });
    expect(await findOnly()).toMatchObject({ state: 'pending' });
    await endpoints.endUndeliverable();
    expect(await findOnly()).toMatchObject({ state: 'dead', lastError: 'endpoint_removed' });
  });

  it('is not attempted for a disabled or removed endpoint, or for another account', async () => {
    const { id } = await register();
    await record();
    for (const change of ['is_enabled = false', 'is_enabled = true, deleted_at = now()']) {
      await run(`UPDATE webhook_endpoint SET ${change}`);
      await deliver(id);
    }
    await worker().deliverDue({ accountId: service.accountId + 1, endpointId: id });
    expect(endpoint.received).toEqual([]);
  });
});
