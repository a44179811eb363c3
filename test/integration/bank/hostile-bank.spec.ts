import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createCharge, getCharge } from '../../../src/bank-contract/charges.js';
import { Countdown } from '../../../src/platform/countdown.js';
import { fakeBank } from '../../support/fake-bank.js';
import {
  chargeJson,
  endlessFlood,
  endlessTrickle,
  megabyte,
  respondWith,
  type Behaviour,
} from '../../support/hostile-responses.js';
import { listenHttp } from '../../support/http-listener.js';
import { until } from '../../support/until.js';

describe('a hostile bank', () => {
  let server: Server;
  let fake: ReturnType<typeof fakeBank>;
  let behave: Behaviour;
  let openSockets: Set<Socket>;
  let requestCount: number;

  beforeEach(async () => {
    [openSockets, requestCount] = [new Set(), 0];
    const sockets = openSockets;
    server = createServer((request, response) => {
      requestCount += 1;
      request.resume();
      behave(response, request);
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    fake = fakeBank(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterEach(async () => {
    fake.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const call = (account = fake.addAccount(), deadlineMs = 400) =>
    fake.bank.call(getCharge, account, { params: { correlationId: 'order-1' } }, { deadlineMs });

  it('ends at its deadline while it does not respond, and is logged once', async () => {
    behave = () => undefined;
    const startedAt = performance.now();
    expect(await call(fake.addAccount(), 1_000)).toMatchObject({ outcome: 'unknown' });
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    expect(fake.logged.map(({ fields }) => fields)).toMatchObject([{ reason: 'too_late' }]);
  });

  it.each<[string, Behaviour, string, number | null]>([
    ['never responds', () => undefined, 'too_late', null],
    ['trickles its body', endlessTrickle, 'too_late', null],
    ['sends a body without end', endlessFlood, 'unreadable_response', null],
    [
      'compresses a hundred megabytes into a few',
      respondWith(200, gzipSync(Buffer.alloc(100 * megabyte, ' ')), { 'content-encoding': 'gzip' }),
      'unreadable_response',
      null,
    ],
    [
      'declares gzip for a plain body',
      respondWith(200, chargeJson, { 'content-encoding': 'gzip' }),
      'unreadable_response',
      null,
    ],
    [
      'closes the connection within the body',
      (response) => {
        response.writeHead(200, { 'content-length': chargeJson.length });
        response.write(chargeJson.slice(0, 50), () => response.destroy());
      },
      'unreadable_response',
      null,
    ],
    [
      'closes the connection before its response',
      (response) => response.destroy(),
      'no_response',
      null,
    ],
    [
      'ends the body early without a content length',
      respondWith(200, chargeJson.slice(0, 50), { connection: 'close' }),
      'unreadable_response',
      200,
    ],
    ['responds 200 with no body', respondWith(200, ''), 'unreadable_response', 200],
    ['responds 204', respondWith(204, ''), 'unreadable_response', 204],
    [
      'responds 200 with HTML',
      respondWith(200, '<html>ok</html>', { 'content-type': 'text/html' }),
      'unreadable_response',
      200,
    ],
    [
      'responds 200 with an image',
      respondWith(200, Buffer.from([0x89, 0x50, 0x4e, 0x47]), { 'content-type': 'image/png' }),
      'unreadable_response',
      200,
    ],
    [
      'responds 200 with an error body',
      respondWith(200, '{"title":"Bad Request","status":400}'),
      'unexpected_response',
      200,
    ],
    ['responds 400 with HTML', respondWith(400, '<html>no</html>'), 'unreadable_response', 400],
  ])(
    'that %s leaves the outcome unknown and no connection open',
    async (_, behaviour, reason, status) => {
      behave = behaviour;
      const account = fake.addAccount();
      const startedAt = performance.now();
      // A body without end or a compressed one takes time to be read up to the cap.
      const isLarge = reason === 'unreadable_response' && status === null;
      const response = await call(account, isLarge ? 5_000 : 400);
      expect(response).toMatchObject({ outcome: 'unknown', reason, status });
      if (!isLarge) expect(performance.now() - startedAt).toBeLessThan(2_000);
      if (status === null)
        await until('its connection is closed', () => Promise.resolve(openSockets.size === 0));
      behave = respondWith(200, chargeJson);
      expect(await call(account, 3_000)).toMatchObject({ outcome: 'success' });
      expect(requestCount).toBe(2);
    },
  );

  it('that sends another content type has its JSON body read', async () => {
    behave = respondWith(200, chargeJson, { 'content-type': 'text/plain' });
    expect(await call()).toMatchObject({ outcome: 'success' });
    behave = respondWith(404, '{"title":"Not Found"}', { 'content-type': 'text/plain' });
    expect(await call()).toMatchObject({ outcome: 'rejection' });
  });

  it.each([301, 302, 303, 307, 308])('that redirects with %i is not followed', async (s) => {
    let visits = 0;
    const elsewhere = await listenHttp((_, response) => {
      visits += 1;
      response.end(chargeJson);
    });
    behave = respondWith(s, '', { location: `${elsewhere.url}/baas/v1/charges/order-1` });
    const response = await call();
    elsewhere.close();
    expect(response).toMatchObject({ outcome: 'unknown', reason: 'redirected', status: s });
    expect(visits).toBe(0);
  });

  it.each<[number, string, number]>([
    [429, '7', 7_000],
    [503, '2', 2_000],
    [429, '999999999', 300_000],
    [429, 'Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
  ])(
    'that responds %i with Retry-After: %s gets no call for so long',
    async (status, retryAfter, ms) => {
      // A date counts from the bank's own clock, which may differ from the service's.
      behave = respondWith(status, '{}', {
        'retry-after': retryAfter,
        date: 'Thu, 01 Jan 2026 12:00:00 GMT',
      });
      const account = fake.addAccount();
      expect(await call(account)).toMatchObject({ outcome: 'unknown', status, retryAfterMs: ms });
      const denied = await call(account);
      expect(denied).toMatchObject({ outcome: 'unknown', reason: 'not_sent', status: null });
      if (denied.outcome !== 'unknown') throw new Error('the call was sent');
      expect(denied.retryAfterMs).toBeGreaterThan(ms - 1_000);
      expect(denied.retryAfterMs).toBeLessThanOrEqual(ms);
      expect(requestCount).toBe(1);
    },
  );

  it.each(['-5', '1e9', 'soon', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
    'that sends the invalid Retry-After %s gets the next call after a second',
    async (retryAfter) => {
      behave = respondWith(429, '{}', { 'retry-after': retryAfter });
      const account = fake.addAccount();
      await call(account);
      const denied = await call(account);
      expect(denied).toMatchObject({ reason: 'not_sent', isLimited: true });
      if (denied.outcome === 'unknown') expect(denied.retryAfterMs).toBeLessThanOrEqual(1_000);
    },
  );

  it('that limits a relayed call makes it fail with rate_limited and its Retry-After', async () => {
    behave = respondWith(429, '{}', { 'retry-after': '3' });
    const account = fake.addAccount();
    const input = { params: { correlationId: 'a' }, query: {}, body: undefined };
    const relay = () => fake.bank.relay(getCharge, account, { ...input, idempotencyKey: null });
    const limited = { code: 'rate_limited', details: { headers: { 'Retry-After': '3' } } };
    await expect(relay()).rejects.toMatchObject(limited);
    await expect(relay()).rejects.toMatchObject(limited);
    expect(requestCount).toBe(1);
  });

  it('that fails five times gets no call for a while, and is called again once it recovers', async () => {
    behave = respondWith(500, '');
    const account = fake.addAccount();
    for (let count = 0; count < 5; count += 1)
      expect(await call(account)).toMatchObject({ reason: 'bank_error' });
    expect(await call(account)).toMatchObject({ reason: 'not_sent' });
    expect(requestCount).toBe(5);
    behave = respondWith(200, chargeJson);
    expect(await call()).toMatchObject({ outcome: 'success' }); // another account is not affected
    await until(
      'the bank is called again',
      async () => (await call(account)).outcome === 'success',
    );
  });

  it('that rejects the key is called once, and the log reports it without the key', async () => {
    behave = respondWith(401, '{"title":"the-api-key-canary"}');
    const account = fake.addAccount();
    await Promise.resolve(call(account));
    for (let count = 0; count < 20; count += 1)
      expect(await call(account)).toMatchObject({ reason: 'not_sent' });
    expect(requestCount).toBe(1);
    const errors = fake.logged.filter(({ level }) => level === 'error');
    expect(errors).toEqual([
      {
        level: 'error',
        fields: expect.objectContaining({
          route: 'getChargeAtBank',
          account: account.slug,
          status: 401,
        }),
        message: 'bank rejected the key; further calls of this class are paused',
      },
    ]);
    expect(JSON.stringify(fake.logged)).not.toContain('canary');
  });

  it('is never called faster than the rate limit of the account; calls wait for it', async () => {
    behave = respondWith(200, chargeJson);
    const account = fake.addAccount({ rateLimitPerSecond: 10 });
    const startedAt = performance.now();
    const responses = await Promise.all(Array.from({ length: 15 }, () => call(account, 4_000)));
    expect(responses.filter(({ outcome }) => outcome === 'success')).toHaveLength(15);
    expect(performance.now() - startedAt).toBeGreaterThan(450);
  });

  it('gets no call that would wait too long for the rate limit', async () => {
    behave = respondWith(200, chargeJson);
    const account = fake.addAccount({ rateLimitPerSecond: 2 });
    const responses = await Promise.all(Array.from({ length: 6 }, () => call(account, 1_200)));
    const denied = responses.filter(({ outcome }) => outcome === 'unknown');
    expect(denied).toHaveLength(3);
    for (const one of denied) expect(one).toMatchObject({ reason: 'not_sent', isLimited: true });
    expect(requestCount).toBe(3);
  });

  it('gets no call after its time to send', async () => {
    const sendWithin = new Countdown(-1);
    const input = { params: { correlationId: 'order-1' } };
    for (let count = 0; count < 20; count += 1)
      expect(
        await fake.bank.call(getCharge, fake.addAccount(), input, { sendWithin }),
      ).toMatchObject({ reason: 'not_sent' });
    expect(requestCount).toBe(0);
  });

  it('receives only the credentials of the account', async () => {
    const receivedHeaders: IncomingMessage['headers'][] = [];
    behave = (response, request) => {
      receivedHeaders.push(request.headers);
      response.end(chargeJson);
    };
    await call(
      fake.addAccount({ apiKey: 'one', accountHeader: { name: 'x-account', value: '42' } }),
    );
    await call(fake.addAccount({ apiKey: 'two', apiKeyHeader: 'x-other-key' }));
    expect(receivedHeaders).toEqual([
      expect.objectContaining({ 'x-bank-key': 'one', 'x-account': '42' }),
      expect.objectContaining({ 'x-other-key': 'two' }),
    ]);
    for (const headers of receivedHeaders) expect(JSON.stringify(headers)).not.toContain('partner');
    expect(receivedHeaders[1]).not.toHaveProperty('x-account');
  });

  it('causes no key, document or name in the log, whatever fails', async () => {
    const secrets = ['the-api-key-canary', '12345678909', 'Maria', 'correlation-canary'];
    const payer = { name: 'Maria', document: '12345678909' };
    const body = {
      type: 'BANKSLIP' as const,
      correlationId: 'correlation-canary',
      dueDate: '2030-12-31',
      Amount: 1_000n,
      payer,
    };
    const echo = JSON.stringify({ ...body, Amount: 10, apiKey: 'the-api-key-canary' });
    const failures: Behaviour[] = [
      (response) => response.destroy(),
      () => undefined,
      respondWith(500, echo),
      respondWith(400, echo),
      respondWith(200, echo),
      respondWith(403, echo),
      respondWith(302, echo, { location: `http://127.0.0.1:1/?document=12345678909` }),
    ];
    for (const behaviour of failures) {
      behave = behaviour;
      await fake.bank.call(createCharge, fake.addAccount(), { body }, { deadlineMs: 200 });
    }
    const lines = JSON.stringify(fake.logged);
    expect(fake.logged.length).toBeGreaterThanOrEqual(failures.length);
    const names = ['account', 'durationMs', 'outcome', 'reason', 'route', 'status'];
    for (const { fields } of fake.logged.filter(({ fields }) => !('err' in fields)))
      expect(names).toEqual(expect.arrayContaining(Object.keys(fields)));
    for (const secret of secrets) expect(lines).not.toContain(secret);
  });
});
