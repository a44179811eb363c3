import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createCharge, getCharge } from '../../src/contract/charges.js';
import { fakeBank } from '../support/fake-bank.js';
import {
  answer,
  charge,
  megabyte,
  pour,
  trickle,
  type Behaviour,
} from '../support/hostile-answers.js';
import { listenHttp } from '../support/http-listener.js';
import { until } from '../support/until.js';

describe('a hostile bank', () => {
  let server: Server;
  let door: ReturnType<typeof fakeBank>;
  let behave: Behaviour;
  let open: Set<Socket>;
  let asked: number;

  beforeEach(async () => {
    [open, asked] = [new Set(), 0];
    const sockets = open;
    server = createServer((request, response) => {
      asked += 1;
      request.resume();
      behave(response, request);
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    door = fakeBank(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterEach(async () => {
    door.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const ask = (account = door.account(), deadlineMs = 400) =>
    door.bank.call(getCharge, account, { params: { correlationId: 'order-1' } }, { deadlineMs });

  it.each<[string, Behaviour, string, number | null]>([
    ['never answers', () => undefined, 'too_late', null],
    ['trickles its body', trickle, 'too_late', null],
    ['pours without end', pour, 'unreadable_answer', null],
    [
      'packs a hundred megabytes into a few',
      answer(200, gzipSync(Buffer.alloc(100 * megabyte, ' ')), { 'content-encoding': 'gzip' }),
      'unreadable_answer',
      null,
    ],
    [
      'says that it packed what it did not',
      answer(200, charge, { 'content-encoding': 'gzip' }),
      'unreadable_answer',
      null,
    ],
    [
      'breaks off within its body',
      (response) => {
        response.writeHead(200, { 'content-length': charge.length });
        response.write(charge.slice(0, 50), () => response.destroy());
      },
      'unreadable_answer',
      null,
    ],
    ['breaks off before its answer', (response) => response.destroy(), 'no_answer', null],
    [
      'ends early without having said how long it would be',
      answer(200, charge.slice(0, 50), { connection: 'close' }),
      'unreadable_answer',
      200,
    ],
    ['answers 200 with nothing', answer(200, ''), 'unreadable_answer', 200],
    ['answers 204', answer(204, ''), 'unreadable_answer', 204],
    [
      'answers 200 with a page',
      answer(200, '<html>ok</html>', { 'content-type': 'text/html' }),
      'unreadable_answer',
      200,
    ],
    [
      'answers 200 with a picture',
      answer(200, Buffer.from([0x89, 0x50, 0x4e, 0x47]), { 'content-type': 'image/png' }),
      'unreadable_answer',
      200,
    ],
    [
      'answers 200 with an error',
      answer(200, '{"title":"Bad Request","status":400}'),
      'unexpected_answer',
      200,
    ],
    ['refuses with a page', answer(400, '<html>no</html>'), 'unreadable_answer', 400],
  ])(
    'that %s leaves the outcome unknown, and no connection behind',
    async (_, how, reason, status) => {
      behave = how;
      const account = door.account();
      const startedAt = performance.now();
      // What is poured or packed takes its time to be read up to the cap.
      const isLarge = reason === 'unreadable_answer' && status === null;
      const got = await ask(account, isLarge ? 5_000 : 400);
      expect(got).toMatchObject({ outcome: 'unknown', reason, status });
      if (!isLarge) expect(performance.now() - startedAt).toBeLessThan(2_000);
      if (status === null)
        await until('its connection is closed', () => Promise.resolve(open.size === 0));
      behave = answer(200, charge);
      expect(await ask(account, 3_000)).toMatchObject({ outcome: 'success' });
      expect(asked).toBe(2);
    },
  );

  it('is believed by what it says, whatever it calls that', async () => {
    behave = answer(200, charge, { 'content-type': 'text/plain' });
    expect(await ask()).toMatchObject({ outcome: 'success' });
    behave = answer(404, '{"title":"Not Found"}', { 'content-type': 'text/plain' });
    expect(await ask()).toMatchObject({ outcome: 'rejection' });
  });

  it.each([301, 302, 303, 307, 308])(
    'that sends us elsewhere with %i is not followed',
    async (s) => {
      let visits = 0;
      const elsewhere = await listenHttp((_, response) => {
        visits += 1;
        response.end(charge);
      });
      behave = answer(s, '', { location: `${elsewhere.url}/baas/v1/charges/order-1` });
      const got = await ask();
      elsewhere.close();
      expect(got).toMatchObject({ outcome: 'unknown', reason: 'redirected', status: s });
      expect(visits).toBe(0);
    },
  );

  it.each<[number, string, number]>([
    [429, '7', 7_000],
    [503, '2', 2_000],
    [429, '999999999', 300_000],
    [429, 'Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
  ])('that answers %i and Retry-After: %s is left alone for so long', async (status, said, ms) => {
    // By the bank's own clock, which may be another's.
    behave = answer(status, '{}', { 'retry-after': said, date: 'Thu, 01 Jan 2026 12:00:00 GMT' });
    const account = door.account();
    expect(await ask(account)).toMatchObject({ outcome: 'unknown', status, retryAfterMs: ms });
    const held = await ask(account);
    expect(held).toMatchObject({ outcome: 'unknown', reason: 'not_sent', status: null });
    if (held.outcome !== 'unknown') throw new Error('it was sent');
    expect(held.retryAfterMs).toBeGreaterThan(ms - 1_000);
    expect(held.retryAfterMs).toBeLessThanOrEqual(ms);
    expect(asked).toBe(1);
  });

  it.each(['-5', '1e9', 'soon', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
    'that asks for a pause of %s is asked again after a second',
    async (said) => {
      behave = answer(429, '{}', { 'retry-after': said });
      const account = door.account();
      await ask(account);
      const held = await ask(account);
      expect(held).toMatchObject({ reason: 'not_sent', isLimited: true });
      if (held.outcome === 'unknown') expect(held.retryAfterMs).toBeLessThanOrEqual(1_000);
    },
  );

  it('tells callers of a relay that the bank limits them, and for how long', async () => {
    behave = answer(429, '{}', { 'retry-after': '3' });
    const account = door.account();
    const input = { params: { correlationId: 'a' }, query: {}, body: undefined };
    const relay = () => door.bank.relay(getCharge, account, { ...input, idempotencyKey: null });
    const limited = { code: 'rate_limited', details: { headers: { 'Retry-After': '3' } } };
    await expect(relay()).rejects.toMatchObject(limited);
    await expect(relay()).rejects.toMatchObject(limited);
    expect(asked).toBe(1);
  });

  it('that fails five times is left alone, and asked again when it is back', async () => {
    behave = answer(500, '');
    const account = door.account();
    for (let count = 0; count < 5; count += 1)
      expect(await ask(account)).toMatchObject({ reason: 'bank_error' });
    expect(await ask(account)).toMatchObject({ reason: 'not_sent' });
    expect(asked).toBe(5);
    behave = answer(200, charge);
    expect(await ask()).toMatchObject({ outcome: 'success' }); // another account is not held back
    await until('it is asked again', async () => (await ask(account)).outcome === 'success');
  });

  it('that refuses our key is asked once, and the log says so without the key', async () => {
    behave = answer(401, '{"title":"the-api-key-canary"}');
    const account = door.account();
    await Promise.resolve(ask(account));
    for (let count = 0; count < 20; count += 1)
      expect(await ask(account)).toMatchObject({ reason: 'not_sent' });
    expect(asked).toBe(1);
    const errors = door.logged.filter(({ level }) => level === 'error');
    expect(errors).toEqual([
      {
        level: 'error',
        fields: expect.objectContaining({ route: 'getCharge', account: account.slug, status: 401 }),
        message: expect.stringContaining('refuses our key'),
      },
    ]);
    expect(JSON.stringify(door.logged)).not.toContain('canary');
  });

  it('is never asked faster than the account may, and calls wait for their turn', async () => {
    behave = answer(200, charge);
    const account = door.account({ rateLimitPerSecond: 10 });
    const startedAt = performance.now();
    const got = await Promise.all(Array.from({ length: 15 }, () => ask(account, 4_000)));
    expect(got.filter(({ outcome }) => outcome === 'success')).toHaveLength(15);
    expect(performance.now() - startedAt).toBeGreaterThan(450);
  });

  it('is not asked at all by a call whose turn comes too late', async () => {
    behave = answer(200, charge);
    const account = door.account({ rateLimitPerSecond: 2 });
    const got = await Promise.all(Array.from({ length: 6 }, () => ask(account, 1_200)));
    const refused = got.filter(({ outcome }) => outcome === 'unknown');
    expect(refused).toHaveLength(3);
    for (const one of refused) expect(one).toMatchObject({ reason: 'not_sent', isLimited: true });
    expect(asked).toBe(3);
  });

  it('is not asked after the instant by which a call must have left', async () => {
    const sendBy = new Date(Date.now() - 1);
    const input = { params: { correlationId: 'order-1' } };
    for (let count = 0; count < 20; count += 1)
      expect(await door.bank.call(getCharge, door.account(), input, { sendBy })).toMatchObject({
        reason: 'not_sent',
      });
    expect(asked).toBe(0);
  });

  it('learns of the account only what the account is to show', async () => {
    const shown: IncomingMessage['headers'][] = [];
    behave = (response, request) => {
      shown.push(request.headers);
      response.end(charge);
    };
    await ask(door.account({ apiKey: 'one', accountHeader: { name: 'x-account', value: '42' } }));
    await ask(door.account({ apiKey: 'two', apiKeyHeader: 'x-other-key' }));
    expect(shown).toEqual([
      expect.objectContaining({ 'x-bank-key': 'one', 'x-account': '42' }),
      expect.objectContaining({ 'x-other-key': 'two' }),
    ]);
    for (const headers of shown) expect(JSON.stringify(headers)).not.toContain('partner');
    expect(shown[1]).not.toHaveProperty('x-account');
  });

  it('leaves no key, document or name in the log, whatever fails', async () => {
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
      answer(500, echo),
      answer(400, echo),
      answer(200, echo),
      answer(403, echo),
      answer(302, echo, { location: `http://127.0.0.1:1/?document=12345678909` }),
    ];
    for (const how of failures) {
      behave = how;
      await door.bank.call(createCharge, door.account(), { body }, { deadlineMs: 200 });
    }
    const lines = JSON.stringify(door.logged);
    expect(door.logged.length).toBeGreaterThanOrEqual(failures.length);
    const names = ['account', 'durationMs', 'outcome', 'reason', 'route', 'status'];
    for (const { fields } of door.logged.filter(({ fields }) => !('err' in fields)))
      expect(names).toEqual(expect.arrayContaining(Object.keys(fields)));
    for (const secret of secrets) expect(lines).not.toContain(secret);
  });
});
