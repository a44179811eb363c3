// The route of the bank's webhooks: what it stores, what it answers and what it refuses.
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exposeProcess } from '../../../src/platform/metrics/instruments.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { storedBodies, webhooksApplication } from '../../support/webhooks-application.js';

const secret = '3f9c0d5e8b7a';
const route = '/webhooks/bank/:account/:eventType';
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

let service: ServiceDatabase;
let application: NestFastifyApplication;
let url: string;
/** Each look-up is of a webhook without the secret that was found within the last moment. */
let lookUps: number;

beforeAll(async () => {
  service = await serviceDatabase();
  const account = await service.database.prisma.bankAccount.findFirstOrThrow();
  const accounts = {
    recentWebhookSecret: () => ({ account, secret }),
    findWebhookSecret: async () => {
      lookUps += 1;
      return { account, secret };
    },
  };
  ({ application, url } = await webhooksApplication(service.database, accounts, {
    UNPROCESSED_WEBHOOKS_PER_ACCOUNT: '20',
    TRUST_PROXY: '1',
  }));
});
afterAll(async () => {
  await application.close();
  await service.drop();
});
beforeEach(async () => {
  lookUps = 0;
  await service.database.prisma.webhookEvent.deleteMany();
});

interface Response {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** Over a connection of its own. Without `length`, the body has chunks. */
function post(
  body: string | Buffer,
  { headers = {}, path = '' }: { headers?: Record<string, string>; path?: string } = {},
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(path === '' ? url : new URL(path, url), {
      method: 'POST',
      agent: false,
      headers: { 'x-webhook-key': secret, traceparent, ...headers },
    });
    sent.on('error', reject).on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string>,
          text,
        }),
      );
    });
    if (headers['transfer-encoding'] === undefined)
      sent.setHeader('content-length', Buffer.byteLength(body));
    sent.end(body);
  });
}

const countedWith = async (status: string) => {
  const lines = (await exposeProcess()).split('\n');
  const line = lines.find(
    (one) =>
      one.startsWith('concilia_http_requests_total{') &&
      one.includes(`"${status}"`) &&
      one.includes(`route="${route}"`),
  );
  return line ? Number(line.split(' ').at(-1)) : 0;
};

describe('an authentic webhook', () => {
  it('is stored, answered and counted, without a look-up of the secret', async () => {
    const before = await countedWith('200');
    const { status, headers, text } = await post('{"nsu":2}');
    expect({ status, text }).toEqual({ status: 200, text: '{"received":true}' });
    expect(headers).toMatchObject({
      'x-trace-id': traceId,
      'content-type': 'application/json; charset=utf-8',
    });
    expect(await storedBodies(service.database)).toEqual(['{"nsu":2}']);
    expect(lookUps).toBe(0);
    expect(await countedWith('200')).toBe(before + 1);
  });

  it.each([
    ['whose body has no length', { headers: { 'transfer-encoding': 'chunked' } }],
    ['that came through a trusted proxy', { headers: { 'x-forwarded-for': '203.0.113.1' } }],
    ['without an event type in its path', { path: '/webhooks/bank/main' }],
    ['of an unknown content type', { headers: { 'content-type': 'application/x-unknown' } }],
    ['that says it is JSON', { headers: { 'content-type': 'application/json' } }],
  ])('is stored %s', async (_, options) => {
    const { status, text } = await post('{"nsu":3}', options);
    expect({ status, text }).toEqual({ status: 200, text: '{"received":true}' });
    expect(await storedBodies(service.database)).toEqual(['{"nsu":3}']);
  });
});

describe('a webhook with a content coding', () => {
  it('is stored decoded, and 415 with a coding that is not known', async () => {
    const gzip = { headers: { 'content-encoding': 'gzip' } };
    expect((await post(gzipSync('{"nsu":3}'), gzip)).status).toBe(200);
    expect(await storedBodies(service.database)).toEqual(['{"nsu":3}']);
    expect((await post('{"nsu":4}', { headers: { 'content-encoding': 'zstd' } })).status).toBe(415);
    expect((await post(gzipSync('x'.repeat(262_145)), gzip)).status).toBe(413);
  });
});

describe('what is refused', () => {
  const errorOf = ({ status, headers, text }: Response) => {
    expect(headers['x-trace-id']).toBe(traceId);
    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(JSON.parse(text)).toMatchObject({ status, traceId });
    return status;
  };

  it('gets the error body of every other route', async () => {
    expect(errorOf(await post('{}', { headers: { 'x-webhook-key': 'another' } }))).toBe(401);
    expect(lookUps).toBe(1);
    expect(errorOf(await post('x'.repeat(262_145)))).toBe(413);
    expect(await storedBodies(service.database)).toEqual([]);
  });

  it('gets it also after its body was read', async () => {
    const run = (sql: string) => service.database.pool.query(sql);
    await run('ALTER TABLE webhook_event RENAME TO unavailable');
    expect(errorOf(await post('{"nsu":4}'))).toBe(500);
    await run('ALTER TABLE unavailable RENAME TO webhook_event');
    const statuses: number[] = [];
    for (let nsu = 0; nsu < 60 && !statuses.includes(429); nsu += 1) {
      const response = await post(JSON.stringify({ nsu }));
      statuses.push(response.status);
      if (response.status !== 429) continue;
      expect(errorOf(response)).toBe(429);
      expect(response.headers['retry-after']).toBe('5');
      expect(JSON.parse(response.text)).toMatchObject({ code: 'unprocessed_webhook_limit' });
    }
    expect(statuses.at(-1)).toBe(429);
    expect(lookUps).toBe(0);
  });
});
