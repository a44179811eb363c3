import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { profileOf } from '../../src/bank/profiles.js';
import { DeliveryService } from '../../src/events/delivery.service.js';
import { EndpointsService } from '../../src/events/endpoints.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { Clock } from '../../src/platform/clock.js';
import { SecretBox } from '../../src/platform/secret-box.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';
import { until } from '../support/until.js';

interface Received {
  headers: Record<string, string>;
  body: string;
}

/** An endpoint that answers as the test says, and keeps what it was sent. */
class Endpoint {
  readonly received: Received[] = [];
  answer: (response: ServerResponse, request: IncomingMessage) => void | Promise<void> = (
    response,
  ) => void response.end();

  connections = 0;

  private constructor(private readonly server: Server) {
    server.on('connection', () => (this.connections += 1));
  }

  static async listen(): Promise<Endpoint> {
    const server = createServer();
    const endpoint = new Endpoint(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const headers = request.headers as Record<string, string>;
        endpoint.received.push({ headers, body: Buffer.concat(chunks).toString('utf8') });
        void endpoint.answer(response, request);
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
  let endpoint: Endpoint;
  let other: Endpoint;
  let services: DeliveryService[];
  const secretBox = new SecretBox({ credentialsKey: 'x'.repeat(32) } as never);
  const jobQueue = { enqueue: () => Promise.resolve() } as never;

  beforeEach(async () => {
    [service, endpoint, other] = [
      await serviceDatabase(),
      await Endpoint.listen(),
      await Endpoint.listen(),
    ];
    services = [];
  });
  afterEach(async () => {
    for (const one of services) one.onApplicationShutdown();
    await Promise.all([endpoint.close(), other.close()]);
    await service.drop();
  });

  const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const worker = (profile = profileOf({ profile: 'sandbox' })) => {
    const log = pino({ level: 'silent' });
    const bank = { profile } as never;
    const made = new DeliveryService(service.database, secretBox, new Clock(), log, bank);
    services.push(made);
    return made;
  };
  const events = () => new EventsService(service.database, jobQueue);
  const register = async (url = `http://127.0.0.1:${endpoint.port}/events`) => {
    const bank = { profile: profileOf({ profile: 'sandbox' }) } as never;
    const endpoints = new EndpointsService(
      service.database,
      secretBox,
      new Clock(),
      events(),
      bank,
    );
    const fields = { url, eventTypes: [], description: null, isEnabled: true };
    const { endpoint: made, secret } = await endpoints.create(service.accountId, fields);
    return { id: made.id, secret };
  };
  const record = (count = 1) =>
    service.database.transaction((tx) =>
      events().record(
        tx,
        service.accountId,
        Array.from({ length: count }, (_, index) => ({
          type: 'charge.paid' as const,
          data: {
            correlationId: `order-${index}`,
            amount: new LosslessNumber('10.50'),
            name: 'maçã',
          },
        })),
      ),
    );
  const deliver = (id: string, by = worker()) =>
    by.deliverDue({ accountId: service.accountId, endpointId: id });
  /** Its pause is over. */
  const isDue = () =>
    run(
      `UPDATE delivery SET next_attempt_at = now() - interval '1 second' WHERE state = 'pending'`,
    );
  const deliveries = () => service.database.prisma.delivery.findMany();
  const only = async () => {
    const [delivery, ...others] = await deliveries();
    expect(others).toEqual([]);
    if (!delivery) throw new Error('there is no delivery');
    return delivery;
  };
  /** Seconds between a moment before the attempt and the next one. */
  const pauseSince = async (before: number) =>
    ((await only()).nextAttemptAt?.getTime() ?? Number.NaN) / 1_000 - before / 1_000;

  it('is signed so that the standardwebhooks package takes it, and tells amounts exactly', async () => {
    const { id, secret } = await register();
    await record();
    await deliver(id);
    const [got] = endpoint.received;
    const told = new Webhook(secret).verify(got?.body ?? '', got?.headers ?? {});
    expect(told).toMatchObject({
      type: 'charge.paid',
      data: { correlationId: 'order-0', name: 'maçã' },
    });
    expect(got?.body).toContain('"amount":10.50');
    expect(got?.headers['webhook-id']).toBe((await only()).eventId);
    expect(await only()).toMatchObject({ state: 'delivered', attempts: 1, lastStatus: 200 });
    expect(() => new Webhook(secret).verify(`${got?.body} `, got?.headers ?? {})).toThrow();
  });

  it('is tried again after a 500 with the same id and bytes', async () => {
    const { id, secret } = await register();
    await record();
    endpoint.answer = (response) => void response.writeHead(500).end();
    const before = Date.now();
    await deliver(id);
    expect(await only()).toMatchObject({ state: 'pending', attempts: 1, lastError: 'status_500' });
    expect(await pauseSince(before)).toBeGreaterThan(4.9);
    await deliver(id);
    expect(endpoint.received).toHaveLength(1);
    endpoint.answer = (response) => void response.end();
    await isDue();
    await deliver(id);
    const [first, second] = endpoint.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    new Webhook(secret).verify(second?.body ?? '', second?.headers ?? {});
    expect(await only()).toMatchObject({ state: 'delivered', attempts: 2 });
  });

  it('is dead after its tenth attempt, with the reason', async () => {
    const { id } = await register();
    await record();
    endpoint.answer = (response) => void response.writeHead(503).end();
    await run('UPDATE delivery SET attempts = 9');
    await deliver(id);
    expect(await only()).toMatchObject({ state: 'dead', attempts: 10, lastError: 'status_503' });
    expect((await only()).nextAttemptAt).toBeNull();
  });

  it('waits as long as a 429 asks', async () => {
    const { id } = await register();
    await record();
    endpoint.answer = (response) => void response.writeHead(429, { 'retry-after': '600' }).end();
    const before = Date.now();
    await deliver(id);
    expect(await pauseSince(before)).toBeGreaterThan(599);
    expect(await pauseSince(Date.now())).toBeLessThan(601);
  });

  it('ends for an endpoint that says 410: it is disabled, and what waits is not lost', async () => {
    const { id } = await register();
    await record(3);
    endpoint.answer = (response) => void response.writeHead(410).end();
    await deliver(id);
    const made = await service.database.prisma.webhookEndpoint.findFirstOrThrow();
    expect(made.isEnabled).toBe(false);
    await isDue();
    await deliver(id);
    expect(endpoint.received).toHaveLength(3);
    expect((await deliveries()).map(({ state }) => state)).toEqual([
      'pending',
      'pending',
      'pending',
    ]);
  });

  it.each([301, 302, 307, 308])('does not follow a %i', async (status) => {
    const { id } = await register();
    await record();
    const location = `http://127.0.0.1:${other.port}/`;
    endpoint.answer = (response) => void response.writeHead(status, { location }).end();
    await deliver(id);
    expect(other.received).toEqual([]);
    expect(await only()).toMatchObject({ state: 'pending', lastError: `status_${status}` });
  });

  it('does not wait for an endpoint that is slow to serve another', async () => {
    const [slow, fast] = [await register(), await register(`http://127.0.0.1:${other.port}/`)];
    await record(20);
    let release = () => undefined as void;
    const held = new Promise<void>((resolve) => (release = resolve));
    endpoint.answer = async (response) => {
      await held;
      response.end();
    };
    const by = worker();
    const slowly = deliver(slow.id, by);
    await until('the slow one is at work', () => endpoint.received.length > 0);
    await deliver(fast.id, by);
    expect(other.received).toHaveLength(20);
    release();
    await slowly;
    expect((await deliveries()).every(({ state }) => state === 'delivered')).toBe(true);
  });

  it('is made by one of two workers, never by both', async () => {
    const { id } = await register();
    await record(50);
    await Promise.all([deliver(id, worker()), deliver(id, worker()), deliver(id, worker())]);
    const ids = endpoint.received.map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([50, 50]);
  });

  it('is made again when the worker that made it was killed before it could say so', async () => {
    const { id } = await register();
    await record();
    await run(`UPDATE delivery SET attempts = 1, next_attempt_at = now() + interval '20 seconds'`);
    await deliver(id);
    expect(endpoint.received).toHaveLength(0);
    await isDue();
    await deliver(id);
    expect(await only()).toMatchObject({ state: 'delivered', attempts: 2 });
  });

  it.each<[string, Endpoint['answer']]>([
    ['a megabyte more', (response) => void response.end('x'.repeat(1_048_576))],
    ['something that never ends', (response) => void response.writeHead(200).write('x')],
  ])('is done when the endpoint said 200 and %s', async (_, answer) => {
    const { id } = await register();
    await record();
    endpoint.answer = answer;
    await deliver(id);
    expect(await only()).toMatchObject({ state: 'delivered', lastStatus: 200 });
  });

  it('is tried again when the connection is cut', async () => {
    const { id } = await register();
    await record();
    endpoint.answer = (_, request) => void request.socket.destroy();
    await deliver(id);
    const expected = { state: 'pending', lastStatus: null, lastError: 'econnreset' };
    expect(await only()).toMatchObject(expected);
  });

  it.each(['http://127.0.0.1', 'https://127.0.0.1', 'https://localhost', 'https://localhost.'])(
    'goes to no inner address while the bank is a real one: %s',
    async (origin) => {
      const { id } = await register();
      await run('UPDATE webhook_endpoint SET url = $1', `${origin}:${endpoint.port}/`);
      await record();
      await deliver(id, worker(profileOf({ profile: 'generic' })));
      expect(endpoint.connections).toBe(0);
      expect((await only()).lastError).toMatch(/refused/);
    },
  );

  it('is made to no endpoint that was disabled or removed', async () => {
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
