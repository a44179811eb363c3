// Requests without a valid key, and webhooks that are not genuine: they are slowed down, occupy
// little of the database, and reveal nothing.
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { AccountsService } from '../../../src/access/accounts/accounts.service.js';
import { SecretBox } from '../../../src/platform/secret-box.js';
import { AuthenticationFailures } from '../../../src/platform/limits/authentication-failures.service.js';
import { TokenBuckets } from '../../../src/platform/limits/memory-limits.js';
import { operatorOf } from '../../support/operator.js';
import {
  apiKey,
  serviceApplication,
  type ServiceApplication,
} from '../../support/service-application.js';
import { until } from '../../support/until.js';

let service: ServiceApplication;

beforeAll(async () => {
  service = await serviceApplication({ TRUST_PROXY: 'loopback' });
});
afterAll(() => service.stop());
afterEach(() => {
  jest.restoreAllMocks();
});

const { addAccount, asOperator } = operatorOf(() => service);

describe('requests that fail to authenticate', () => {
  /** Time stands still for their limit. Held responses wait until the test sends them. */
  const holdFailures = () => {
    const nowMs = performance.now();
    const { take } = TokenBuckets.prototype;
    jest.spyOn(TokenBuckets.prototype, 'take').mockImplementation(function (
      this: TokenBuckets<number | string>,
      subject,
      rate,
    ) {
      return take.call(this, subject, rate, nowMs);
    });
    const held: (() => void)[] = [];
    const failures = service.application.get(AuthenticationFailures);
    jest
      .spyOn(failures, 'hold')
      .mockImplementation(() => new Promise<void>((resolve) => void held.push(resolve)));
    const fill = () => {
      const request = { ip: '198.18.255.255' } as never;
      while (held.length < 1_000) void failures.refusal(request, { destroyed: false } as never);
    };
    const send = () => {
      for (const end of held.splice(0)) end();
    };
    return { held, fill, send };
  };
  const callFrom = (address: string, method: string, path: string, headers: object) =>
    service.call(method, path, {
      ...{ apiKey: null, body: method === 'POST' ? {} : undefined },
      headers: { ...headers, 'x-forwarded-for': address },
    });
  const list = (address: string, key: string) =>
    callFrom(address, 'GET', '/v1/operations', { 'x-service-api-key': key });
  const webhook = (address: string, slug: string, key = 'wrong') =>
    callFrom(address, 'POST', `/webhooks/bank/${slug}`, { 'x-webhook-key': key });
  const failTenTimes = async (address: string) => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => list(address, 'wrong')));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(401));
  };
  const describeRefusal = ({ status, body, headers }: Awaited<ReturnType<typeof list>>) => [
    status,
    body.code,
    headers.get('retry-after'),
  ];

  it.each([
    ['a wrong key', '/v1/operations', { 'x-service-api-key': 'wrong' }],
    ['a wrong admin key', '/v1/accounts', { 'x-service-admin-key': 'wrong' }],
    ['no key', '/v1/operations', {}],
  ])('with %s are held, and then refused; a valid key is not', async (name, path, headers) => {
    const address = `198.18.0.${name.length}`;
    const { held, fill, send } = holdFailures();
    await failTenTimes(address);
    const one = callFrom(address, 'GET', path, headers);
    await until('it is held', () => held.length === 1);
    expect((await list(address, apiKey)).status).toBe(200);
    fill();
    expect(describeRefusal(await callFrom(address, 'GET', path, headers))).toEqual([
      ...[429, 'rate_limited', '1'],
    ]);
    expect((await list(address, apiKey)).status).toBe(200);
    // None of the held responses was sent meanwhile.
    expect(held).toHaveLength(1_000);
    send();
    expect(describeRefusal(await one)).toEqual([401, undefined, null]);
  });

  it('are held and refused alike for known and unknown accounts of webhooks', async () => {
    const { slug } = await addAccount({ webhookSecret: 'the-secret-of-that-bank' });
    const genuine = () => webhook('198.18.1.1', slug, 'the-secret-of-that-bank');
    const { held, fill, send } = holdFailures();
    await failTenTimes('198.18.1.1');
    const pair = [webhook('198.18.1.1', slug), webhook('198.18.1.1', 'nobody')];
    await until('both are held', () => held.length === 2);
    expect((await genuine()).status).toBe(200);
    fill();
    for (const name of [slug, 'nobody'])
      expect((await webhook('198.18.1.1', name)).status).toBe(429);
    expect((await genuine()).status).toBe(200);
    expect(held).toHaveLength(1_000);
    send();
    expect((await Promise.all(pair)).map(({ status }) => status)).toEqual([401, 401]);
  });

  it('are looked up over one connection, however many there are', async () => {
    const { prisma, sql } = service.database;
    const addresses = Array.from({ length: 60 }, (_, index) => `198.18.2.${index}`);
    let arrived = 0;
    const server = service.application.getHttpServer();
    server.on('request', () => void (arrived += 1));
    let underWay = 0;
    let most = 0;
    let lookUps = 0;
    for (const client of [prisma, sql] as { $queryRaw: (...parts: never[]) => unknown }[]) {
      const query = client.$queryRaw.bind(client) as (...parts: unknown[]) => unknown;
      jest.spyOn(client, '$queryRaw').mockImplementation((async (
        ...parts: [TemplateStringsArray]
      ) => {
        if (!/FROM (api_key|bank_account)/.test(parts[0].join(''))) return query(...parts);
        lookUps += 1;
        most = Math.max(most, (underWay += 1));
        await until('all requests wait for a look-up', () => arrived === addresses.length);
        underWay -= 1;
        return [];
      }) as never);
    }
    for (const fail of [(one: string) => list(one, 'wrong'), (one: string) => webhook(one, 'no')]) {
      [most, lookUps, arrived] = [0, 0, 0];
      await Promise.all(addresses.map(fail));
      expect(most).toBe(1);
      expect(lookUps).toBeLessThan(60);
    }
  });
});

describe('a webhook', () => {
  it('has the new secret at once when it was replaced, and not the old one for long', async () => {
    const [before, after] = ['the-secret-before', 'the-secret-afterwards'];
    const { slug } = await addAccount({ webhookSecret: before });
    const statusWith = async (key: string) => {
      const headers = { 'x-webhook-key': key };
      return (await service.call('POST', `/webhooks/bank/${slug}`, { headers, body: {} })).status;
    };
    expect([await statusWith(before), await statusWith(before)]).toEqual([200, 200]);
    const change = { credentials: { webhookSecret: after } };
    expect((await asOperator('PATCH', `/v1/accounts/${slug}`, change)).status).toBe(200);
    expect(await statusWith(after)).toBe(200);
    await until('the old secret is refused', async () => (await statusWith(before)) === 401);
    expect(await statusWith(after)).toBe(200);
  });

  it('is authenticated without a look-up while another one was just looked up', async () => {
    const { slug } = await addAccount({ webhookSecret: 'the-secret-of-many-webhooks' });
    const lookUp = jest.spyOn(service.application.get(AccountsService), 'findWebhookSecret');
    const headers = { 'x-webhook-key': 'the-secret-of-many-webhooks' };
    const post = (number: number) =>
      service.call('POST', `/webhooks/bank/${slug}`, { headers, body: { number } });
    // Time stands still: what was looked up stays recent.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    await post(0);
    const responses = await Promise.all(Array.from({ length: 30 }, (_, index) => post(index)));
    expect(responses.map(({ status }) => status)).toEqual(Array(30).fill(200));
    expect(lookUp).toHaveBeenCalledTimes(1);
  });

  it('that cannot be stored has the trace id of its own request in its error', async () => {
    const { pool } = service.database;
    jest
      .spyOn(pool, 'query')
      .mockImplementation((() => Promise.reject(new Error('away'))) as never);
    const { slug } = await addAccount({ webhookSecret: 'the-secret-of-that-one' });
    const post = (number: number) =>
      service.call('POST', `/webhooks/bank/${slug}`, {
        headers: { 'x-webhook-key': 'the-secret-of-that-one' },
        body: { number },
      });
    const responses = await Promise.all([1, 2, 3, 4].map(post));
    for (const { status, body, headers } of responses) {
      expect(status).toBe(500);
      expect(body.traceId).toBe(headers.get('x-trace-id'));
    }
    expect(new Set(responses.map(({ body }) => body.traceId as string)).size).toBe(4);
  });

  it('of an unknown account gets the response of one with a wrong secret, after the same work', async () => {
    const { slug } = await addAccount({ webhookSecret: 'the-secret-of-this-bank' });
    const { pool, prisma } = service.database;
    let sent = 0;
    const post = async (path: string, headers: Record<string, string>) => {
      const spies = [
        jest.spyOn(prisma, '$queryRaw'),
        jest.spyOn(pool, 'query'),
        jest.spyOn(SecretBox.prototype, 'decrypt'),
        jest.spyOn(SecretBox.prototype, 'hash'),
      ];
      const { status, body } = await service.call('POST', `/webhooks/bank/${path}`, {
        headers: { ...headers, 'x-forwarded-for': `192.0.2.${(sent += 1)}` },
        body: { nsu: 1 },
      });
      const work = spies.map((spy) => spy.mock.calls.length);
      jest.restoreAllMocks();
      return { status, body: { ...body, traceId: null }, work };
    };
    const signed = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
      'webhook-signature': 'v1,c2lnbmF0dXJl',
    };
    const attempts: Record<string, string>[] = [{ 'x-webhook-key': 'wrong' }, {}, signed];
    for (const headers of attempts) {
      await post('main', headers);
      const responses = [];
      for (const path of ['main', slug, 'nobody', 'NO%00SLUG', 'nobody/PIX_RECEIVED'])
        responses.push(await post(path, headers));
      expect(responses[0]).toMatchObject({ status: 401 });
      for (const response of responses) expect(response).toEqual(responses[0]);
    }
  });
});
