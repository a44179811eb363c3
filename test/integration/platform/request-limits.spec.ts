// What a caller may request: rates that all processes share, requests at once, quotas. And what is
// refused before a caller is known.
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { loadSettings } from '../../../src/platform/settings/config.js';
import { RateLimits } from '../../../src/platform/limits/rate-limits.service.js';
import { RequestSlots } from '../../../src/platform/limits/request-slots.service.js';
import { BankTime } from '../../../src/statement/lines/bank-time.service.js';
import { operatorOf } from '../../support/operator.js';
import { sampleChargeRequest } from '../../support/payments.js';
import {
  apiKey,
  serviceApplication,
  type ServiceApplication,
} from '../../support/service-application.js';
import { until } from '../../support/until.js';

let service: ServiceApplication;

beforeAll(async () => {
  service = await serviceApplication({
    TRUST_PROXY: 'loopback',
    CONCURRENT_READS: 'total=4,account=3,key=2',
    WAITING_REQUESTS_PER_KEY: '50',
    API_KEYS_PER_ACCOUNT: '2',
    RULES_PER_ACCOUNT: '3',
    UNFINISHED_UPLOADS_PER_ACCOUNT: '2',
  });
});
afterAll(() => service.stop());
afterEach(() => {
  jest.restoreAllMocks();
});

const { addAccount, asOperator, createKey } = operatorOf(() => service);
const accountWithKey = async (overrides: Record<string, unknown> = {}) => {
  const { slug, response } = await addAccount();
  return { slug, accountId: response.body.id, ...(await createKey(slug, overrides)) };
};
/** Leaves a bucket so far below zero that it gives no token for minutes. */
const exhaust = (subject: string) =>
  service.database.pool.query(
    `INSERT INTO rate_limit (subject, tokens, granted, filled_at)
     VALUES ($1, -10000000, 0, clock_timestamp())`,
    [subject],
  );
const idOf = async (slug: string) =>
  (await service.database.prisma.bankAccount.findUniqueOrThrow({ where: { slug } })).id;

describe('a rate limit', () => {
  const refused = {
    status: 429,
    body: {
      type: expect.stringContaining('rfc7231'),
      status: 429,
      code: 'rate_limited',
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    },
  };
  const list = (key: string) => service.call('GET', '/v1/operations', { apiKey: key });

  it('of a key is one of its class, and of no other key of the account', async () => {
    const { slug, id, key } = await accountWithKey({ scopes: ['read', 'reconcile'] });
    const other = await createKey(slug);
    await exhaust(`key ${id} reads`);
    const response = await list(key);
    expect(response).toMatchObject(refused);
    expect(response.headers.get('retry-after')).toBe('1');
    expect((await list(other.key)).status).toBe(200);
    const change = await service.call('POST', '/v1/reconciliations', { apiKey: key, body: {} });
    expect(change.status).toBe(202);
  });

  it('of an account holds for all of its keys, and for no other account', async () => {
    const { slug, key } = await accountWithKey();
    const other = await createKey(slug);
    await exhaust(`account ${await idOf(slug)} reads`);
    expect(await list(key)).toMatchObject(refused);
    expect(await list(other.key)).toMatchObject(refused);
    expect((await list(apiKey)).status).toBe(200);
  });

  it('of an address refuses before the key is checked, the address that a trusted proxy names', async () => {
    await exhaust('address 203.0.113.7 requests');
    const from = (address: string, path = '/v1/operations') =>
      service.call('GET', path, { apiKey: 'no-such-key', headers: { 'x-forwarded-for': address } });
    expect(await from('203.0.113.7')).toMatchObject(refused);
    expect(await from('203.0.113.7', '/no/such/path')).toMatchObject(refused);
    // The client itself cannot choose: the entry that the proxy added is the last one.
    expect(await from('203.0.113.8, 203.0.113.7')).toMatchObject(refused);
    expect((await from('203.0.113.7, 203.0.113.8')).status).toBe(401);
    expect((await from('203.0.113.7', '/health/live')).status).toBe(200);
  });

  it('of an address is another one for the bank’s webhooks', async () => {
    const from = (address: string, path = '/webhooks/bank/main') =>
      service.call('POST', path, { headers: { 'x-forwarded-for': address }, body: {} });
    await exhaust('address 198.51.100.1 requests');
    expect((await from('198.51.100.1')).status).toBe(401);
    await exhaust('address 198.51.100.2 webhooks');
    expect(await from('198.51.100.2')).toMatchObject(refused);
    expect((await from('198.51.100.2', '/v1/reconciliations')).status).toBe(202);
  });
});

describe('processes that share a database', () => {
  const processWith = (perSecond: number) =>
    new RateLimits(
      loadSettings({
        RATE_LIMITS_PER_KEY: `reads=${perSecond}`,
        RATE_LIMITS_PER_ACCOUNT: 'reads=0',
      }),
      service.database,
      pino({ level: 'silent' }),
    );
  const countAdmitted = async (processes: RateLimits[], actor: string, each: number) => {
    const request = { accountId: 1, actor, requestClass: 'reads' } as const;
    const results = await Promise.all(
      processes.map(async (process) => {
        let admitted = 0;
        for (let sent = 0; sent < each; sent += 1)
          admitted += await Promise.resolve(process.admitCaller(request)).then(
            () => 1,
            () => 0,
          );
        return admitted;
      }),
    );
    return results.reduce((sum, admitted) => sum + admitted, 0);
  };

  it('admit together what the limit allows, however many they are', async () => {
    const startedAt = performance.now();
    const admitted = await countAdmitted(
      [1, 2, 3, 4].map(() => processWith(50)),
      'shared',
      200,
    );
    const seconds = (performance.now() - startedAt) / 1_000;
    expect(admitted).toBeGreaterThanOrEqual(50);
    expect(admitted).toBeLessThanOrEqual(50 * (1 + seconds));
  });

  it('need few statements for many requests', async () => {
    const process = processWith(100_000);
    const statements = jest.spyOn(service.database.prisma, '$queryRaw');
    expect(await countAdmitted([process], 'busy', 5_000)).toBe(5_000);
    // Batches of a tenth of a second: one, and one more for each ten seconds that the test takes.
    expect(statements.mock.calls.length).toBeLessThan(5);
  });

  it('let requests through while PostgreSQL does not answer', async () => {
    const away = { prisma: { $queryRaw: () => Promise.reject(new Error('away')) } };
    const process = new RateLimits(loadSettings({}), away as never, pino({ level: 'silent' }));
    await process.admitAddress('203.0.113.9', 'requests');
  });

  it('delete the buckets that nobody used for a minute', async () => {
    const { pool } = service.database;
    await processWith(10).admitCaller({ accountId: 1, actor: 'recent', requestClass: 'reads' });
    await processWith(10).admitCaller({ accountId: 1, actor: 'idle', requestClass: 'reads' });
    await pool.query(
      `UPDATE rate_limit SET filled_at = filled_at - interval '61 seconds'
       WHERE subject LIKE 'key idle%'`,
    );
    await processWith(10).deleteFull();
    const { rows } = await pool.query(
      `SELECT subject FROM rate_limit WHERE subject ~ 'key (recent|idle) '`,
    );
    expect(rows).toEqual([{ subject: 'key recent reads' }]);
  });
});

describe('requests at once', () => {
  /** `/v1/summary` of each account does not end before the test says so. */
  const holdSummaries = () => {
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const bankTime = service.application.get(BankTime, { strict: false });
    const today = bankTime.today.bind(bankTime);
    jest.spyOn(bankTime, 'today').mockImplementation(async (accountId) => {
      begun.push(accountId);
      await new Promise<void>((resolve) => ends.push(resolve));
      return today(accountId);
    });
    return { begun, endNext: () => ends.shift()?.(), isHeld: () => ends.length > 0 };
  };
  const summary = (key: string) => service.call('GET', '/v1/summary', { apiKey: key });
  const flood = (key: string, count: number) => Array.from({ length: count }, () => summary(key));

  it('of one key leave slots to another account, however many there are', async () => {
    const [busy, quiet] = [await accountWithKey(), await accountWithKey()];
    const [busyId, quietId] = [await idOf(busy.slug), await idOf(quiet.slug)];
    const { begun, endNext, isHeld } = holdSummaries();
    const many = flood(busy.key, 40);
    await until('the busy key has its slots', () => begun.length === 2);
    const one = summary(quiet.key);
    await until('the quiet account is served', () => begun.length === 3);
    expect(begun).toEqual([busyId, busyId, quietId]);
    const all = Promise.all([...many, one]);
    let isDone = false;
    void all.then(() => (isDone = true));
    await until('all are served', () => {
      if (isHeld()) endNext();
      return isDone;
    });
    const statuses = (await all).map(({ status }) => status);
    expect(statuses).toEqual(Array.from({ length: 41 }, () => 200));
    expect(begun).toHaveLength(41);
  }, 60_000);

  it('above the queue of their key get 429, and those of other keys do not', async () => {
    const [busy, quiet] = [await accountWithKey(), await accountWithKey()];
    const { begun, endNext, isHeld } = holdSummaries();
    const refused: unknown[] = [];
    const many = flood(busy.key, 60).map(async (sent) => {
      const response = await sent;
      if (response.status === 429) refused.push(response.body.code);
      return response.status;
    });
    await until('those above the queue are refused', () => refused.length === 8);
    expect(new Set(refused)).toEqual(new Set(['too_many_waiting']));
    const all = Promise.all([summary(quiet.key).then(({ status }) => status), ...many]);
    let isDone = false;
    void all.then(() => (isDone = true));
    await until('all are answered', () => {
      if (isHeld()) endNext();
      return isDone;
    });
    expect((await all).filter((status) => status === 200)).toHaveLength(53);
    expect([(await all)[0], begun.length]).toEqual([200, 53]);
  }, 60_000);

  it('go by the weight of the account, with the one that it has when they arrive', async () => {
    const [heavy, light] = [await accountWithKey(), await accountWithKey()];
    const keys = [heavy.key, (await createKey(heavy.slug)).key, light.key];
    const heavyId = await idOf(heavy.slug);
    const { begun, endNext, isHeld } = holdSummaries();
    const entered = jest.spyOn(service.application.get(RequestSlots), 'run');
    /** How many of the next 20 requests that begin are of the heavy account. */
    const turnsWith = async (weight: number) => {
      await asOperator('PATCH', `/v1/accounts/${heavy.slug}`, { weight });
      entered.mockClear();
      begun.splice(0);
      const all = Promise.all(keys.flatMap((key) => flood(key, 20)));
      await until('all have a slot or wait for one', () => entered.mock.calls.length === 60);
      let isDone = false;
      void all.then(() => (isDone = true));
      await until('all are served', () => {
        if (isHeld()) endNext();
        return isDone;
      });
      expect((await all).map(({ status }) => status)).toEqual(Array(60).fill(200));
      return begun.slice(4, 24).filter((accountId) => accountId === heavyId).length;
    };
    expect(await turnsWith(3)).toBeGreaterThanOrEqual(14);
    expect(await turnsWith(1)).toBeLessThanOrEqual(11);
    expect(await turnsWith(3)).toBeGreaterThanOrEqual(14);
  }, 60_000);
});

describe('a quota', () => {
  it('of API keys counts keys without an end, also when several are created at once', async () => {
    const { slug } = await addAccount();
    const create = () =>
      asOperator('POST', `/v1/accounts/${slug}/keys`, { name: 'k', scopes: ['read'] });
    const created = await Promise.all([create(), create(), create(), create()]);
    expect(created.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409]);
    expect((await create()).body.code).toBe('api_key_limit');
    const id = created.find(({ status }) => status === 201)?.body.id as string;
    const rotated = await asOperator('POST', `/v1/accounts/${slug}/keys/${id}/rotate`, {});
    expect(rotated.status).toBe(201);
    expect((await create()).body.code).toBe('api_key_limit');
    await asOperator('DELETE', `/v1/accounts/${slug}/keys/${rotated.body.id}`);
    expect((await create()).status).toBe(201);
  });

  it('of rules counts versions that are not retired', async () => {
    const { key } = await accountWithKey({ scopes: ['read', 'reconcile'] });
    const rule = (name: string) => ({
      ...{ name, priority: 10, when: { document: '111.444.777-35' }, reason: 'test' },
      then: { match: { by: ['document', 'amount'] } },
    });
    const post = (path: string, body: unknown) => service.call('POST', path, { apiKey: key, body });
    // The default rule is the first of three.
    const { id } = (await post('/v1/rules', rule('one'))).body;
    const { name: _, ...next } = rule('one');
    expect((await post(`/v1/rules/${id}/versions`, next)).status).toBe(201);
    const refused = await post('/v1/rules', rule('two'));
    expect([refused.status, refused.body.code]).toEqual([409, 'rule_limit']);
    expect((await post(`/v1/rules/${id}/versions`, next)).body.code).toBe('rule_limit');
    await post(`/v1/rules/${id}/versions/2/retire`, { reason: 'test' });
    expect((await post('/v1/rules', rule('two'))).status).toBe(201);
  });

  it('of uploads counts unfinished ones, and the same file is the same upload', async () => {
    const { key } = await accountWithKey({ scopes: ['read', 'charge'] });
    const upload = (file: string) =>
      service.call('POST', '/v1/charges/bulk', {
        apiKey: key,
        headers: { 'content-type': 'application/x-ndjson' },
        body: file,
      });
    const fileOf = (name: string) => JSON.stringify(sampleChargeRequest(`upload-${name}`));
    expect((await upload(fileOf('one'))).status).toBe(202);
    expect((await upload(fileOf('two'))).status).toBe(202);
    const refused = await upload(fileOf('three'));
    expect([refused.status, refused.body.code]).toEqual([409, 'unfinished_upload_limit']);
    expect((await upload(fileOf('two'))).status).toBe(202);
    await service.database.pool.query('UPDATE bulk_upload SET finished_at = clock_timestamp()');
    expect((await upload(fileOf('three'))).status).toBe(202);
  });
});

describe('a request', () => {
  /** The status and body of a request that is written as it is. */
  const send = async (text: string): Promise<{ status: number; body: Record<string, unknown> }> => {
    const { port } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(text);
    let response = '';
    for await (const chunk of socket) response += String(chunk);
    const [head = '', ...body] = response.split('\r\n\r\n');
    return {
      status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
      body: JSON.parse(body.join('\r\n\r\n').replace(/^[0-9a-f]+\r\n|\r\n0\r\n$/g, '')),
    };
  };
  const withHosts = (version: string, ...lines: string[]) =>
    send([`GET /health/live HTTP/${version}`, ...lines, 'Connection: close', '', ''].join('\r\n'));

  it('with two Host headers, or with none, is refused', async () => {
    for (const hosts of [['Host: a', 'Host: b'], ['Host: a', 'hOST: a'], []]) {
      const { status, body } = await withHosts('1.1', ...hosts);
      expect([status, body.status, Object.keys(body.errors as object)]).toEqual([
        400,
        400,
        ['Host'],
      ]);
      expect(body.traceId).toMatch(/^[0-9a-f]{32}$/);
    }
    expect((await withHosts('1.1', 'Host: a')).status).toBe(200);
    expect((await withHosts('1.0')).status).toBe(200);
    expect((await withHosts('1.0', 'Host: a', 'Host: b')).status).toBe(400);
  });

  it('whose client disconnects while it waits is not worked on', async () => {
    const { key } = await accountWithKey();
    const bankTime = service.application.get(BankTime, { strict: false });
    const ends: (() => void)[] = [];
    const today = jest.spyOn(bankTime, 'today').mockImplementation(async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return '2026-06-30';
    });
    const summary = () => service.call('GET', '/v1/summary', { apiKey: key });
    const first = [summary(), summary()];
    await until('both slots of the key are used', () => ends.length === 2);
    const sockets: Socket[] = [];
    service.application
      .getHttpServer()
      .on('connection', (socket: Socket) => void sockets.push(socket));
    const admitted = jest.spyOn(service.application.get(RateLimits), 'admitCaller');
    const headers = { 'x-service-api-key': key };
    const abandoned = httpRequest(`${service.url}/v1/summary`, { headers, agent: false });
    abandoned.on('error', () => undefined).end();
    await until('it waits', () => admitted.mock.calls.length === 1);
    const { localPort } = abandoned.socket ?? {};
    abandoned.destroy();
    await until('the service has seen that', () =>
      sockets.some(({ remotePort, destroyed }) => destroyed && remotePort === localPort),
    );
    for (const end of ends.splice(0)) end();
    await Promise.all(first);
    const last = summary();
    await until('the next one is begun', () => ends.length === 1);
    ends.shift()?.();
    expect((await last).status).toBe(200);
    expect(today).toHaveBeenCalledTimes(3);
  }, 60_000);
});

it('names 429 in the API reference of every route', async () => {
  const { body } = await service.call('GET', '/openapi.json');
  const operations = Object.values(body.paths as Record<string, Record<string, object>>).flatMap(
    (path) => Object.values(path),
  );
  const status429 = { $ref: '#/components/responses/Status429' };
  expect(body.components.responses.Status429.headers).toHaveProperty('Retry-After');
  expect(operations.length).toBeGreaterThan(50);
  for (const operation of operations)
    expect(operation).toMatchObject({ responses: { 429: status429 } });
});
