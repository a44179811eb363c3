// What strangers can do to the people of the console, and to the service, without a key or a
// session: nothing that keeps a person out, and no table that grows without end.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import type { PasswordSource } from '../../../src/access/people/password-queue.js';
import { OperatorPasswords } from '../../../src/access/people/passwords.service.js';
import { loadSettings } from '../../../src/platform/settings/config.js';
import { servedRoutes } from '../../../src/platform/http/api-reference.js';
import { RateLimits } from '../../../src/platform/limits/rate-limits.service.js';
import { listConsoleHandlers } from '../../support/console-handlers.js';
import { codeOf, goodPassword, signedInPerson, visitorOf } from '../../support/console-visitor.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { until } from '../../support/until.js';

const everywhere = { accountId: null, role: 'approver' } as const;
/** Where the people of these tests sign in, as their proxy says. */
const officeAddress = '198.51.100.20';

let service: ServiceApplication;

beforeAll(async () => {
  service = await serviceApplication({ TRUST_PROXY: 'loopback' });
});
afterAll(() => service.stop());

const query = async <Row>(sql: string, ...values: unknown[]): Promise<Row[]> =>
  (await service.database.pool.query(sql, values)).rows as Row[];
const from = (address: string) => ({ 'x-forwarded-for': address });
const signIn = (email: string, address: string, password = 'a wrong password') =>
  visitorOf(service).post('/console/sign-in', { email, password }, from(address));
const strangers = (count: number) => Array.from({ length: count }, (_, i) => `203.0.113.${i}`);

/** A person who has signed in from the office, where the present code can be given again. */
async function personInOffice(email: string) {
  const person = await signedInPerson(service, email, everywhere);
  const forgetCode = () => query('UPDATE operator SET totp_last_step = 0 WHERE id = $1', person.id);
  const office = visitorOf(service);
  await office.post('/console/sign-in', { email, password: goodPassword }, from(officeAddress));
  await forgetCode();
  const { csrf } = await formOf(office);
  const fields = { csrf, code: codeOf(person.secret) };
  const signed = await office.post('/console/code', fields, from(officeAddress));
  expect(signed.status).toBe(303);
  await forgetCode();
  return { ...person, office };
}

async function formOf(visitor: ReturnType<typeof visitorOf>): Promise<{ csrf: string }> {
  const { text } = await visitor.get('/console/nowhere');
  return { csrf: /name="csrf" value="([0-9a-f]{64})"/.exec(text)?.[1] ?? '' };
}

/** Strangers use up all attempts for the e-mail that they have. */
async function block(email: string): Promise<void> {
  const attack = async (address: string) => {
    for (let attempt = 0; attempt < 6; attempt += 1) await signIn(email, address);
  };
  await Promise.all(strangers(7).map(attack));
  expect((await signIn(email, '203.0.113.99', goodPassword)).status).toBe(429);
}

describe('strangers who know an e-mail', () => {
  it('keep nobody out where the person has signed in before', async () => {
    const email = 'ana@example.com';
    await personInOffice(email);
    await block(email);
    const page = await signIn(email, officeAddress, goodPassword);
    expect([page.status, page.location]).toEqual([303, '/console/code']);
    expect((await signIn(email, officeAddress)).status).toBe(401);
  });

  it('disturb neither a step-up nor a change of the password in an open session', async () => {
    const email = 'bia@example.com';
    const { office, secret } = await personInOffice(email);
    await block(email);
    const code = codeOf(secret);
    const stepUp = { ...(await formOf(office)), code };
    expect((await office.post('/console/step-up', stepUp, from('192.0.2.1'))).status).toBe(303);
    const next = { current: goodPassword, new: 'another good password' };
    const change = { ...(await formOf(office)), ...next };
    expect((await office.post('/console/password', change, from('192.0.2.1'))).status).toBe(303);
  });

  it('have no more attempts where nobody knows them, however many come at once', async () => {
    const attempts = Array.from({ length: 30 }, () => signIn('caio@example.com', '203.0.113.50'));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(6);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect(new Set(statuses)).toEqual(
      new Set([...statuses].filter((one) => [401, 429, 503].includes(one))),
    );
  });
});

describe('a session', () => {
  it('may be wrong five times, with codes and passwords together, also at once', async () => {
    const { office } = await personInOffice('dora@example.com');
    const form = await formOf(office);
    const wrong = { current: 'not the password', new: 'another good password' };
    await office.post('/console/password', { ...form, ...wrong });
    const codes = Array.from({ length: 20 }, () =>
      office.post('/console/step-up', { ...form, code: '000000' }),
    );
    await Promise.all(codes);
    expect((await office.get('/console/sessions')).location).toMatch(/^\/console\/sign-in/);
    const [session] = await query<{ wrongCodes: number }>(
      `SELECT max(s.wrong_codes) AS "wrongCodes" FROM operator_session s`,
    );
    expect(session?.wrongCodes).toBe(5);
  });

  it('knows the last ten places of its person and no more', async () => {
    const { id, email, secret } = await personInOffice('edu@example.com');
    for (let place = 0; place < 12; place += 1) {
      const address = from(`192.0.2.${place}`);
      const visitor = visitorOf(service);
      await visitor.post('/console/sign-in', { email, password: goodPassword }, address);
      await query('UPDATE operator SET totp_last_step = 0 WHERE id = $1', id);
      await query('DELETE FROM sign_in_limit');
      const fields = { ...(await formOf(visitor)), code: codeOf(secret) };
      expect((await visitor.post('/console/code', fields, address)).status).toBe(303);
    }
    const places = await query('SELECT 1 FROM operator_address WHERE operator_id = $1', id);
    expect(places).toHaveLength(10);
  });
});

describe('a flood of sign-ins', () => {
  it('makes a person at a known place wait for one password at most', async () => {
    const email = 'fabio@example.com';
    await personInOffice(email);
    await query('DELETE FROM sign_in_limit');
    const ended: PasswordSource[] = [];
    const passwords = service.application.get(OperatorPasswords, { strict: false });
    const verify = passwords.verify.bind(passwords);
    let endedBefore = 0;
    const watched = jest.spyOn(passwords, 'verify').mockImplementation(async (...given) => {
      const [, , source] = given;
      if (source.isKnown) endedBefore = ended.length;
      const isRight = await verify(...given);
      ended.push(source);
      return isRight;
    });
    const flood = Array.from({ length: 200 }, (_, i) =>
      signIn(`nobody-${i}@example.com`, `203.0.113.${i % 60}`),
    );
    await until('the flood is compared', () => ended.length > 0);
    const page = await signIn(email, officeAddress, goodPassword);
    const pages = await Promise.all(flood);
    watched.mockRestore();
    expect(page.status).toBe(303);
    // Two are compared at a time, and one of them may end while the person's begins.
    const strangersFirst = ended.findIndex(({ isKnown }) => isKnown) - endedBefore;
    expect(strangersFirst).toBeLessThanOrEqual(3);
    const refused = pages.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(({ headers }) => headers.get('retry-after')))).toEqual(
      new Set(['2']),
    );
  }, 120_000);
});

describe('requests without a key or a session', () => {
  it('write nothing when a sign-in is refused', async () => {
    await query('DELETE FROM sign_in_limit');
    await signIn('one@example.com', '203.0.113.77');
    // As if its attempts were used up.
    await query(`UPDATE sign_in_limit SET full_at = full_at + interval '1 hour'`);
    const stateOf = () =>
      query('SELECT subject, full_at, xmin::text, xmax::text FROM sign_in_limit ORDER BY subject');
    const before = await stateOf();
    const pages = [];
    for (let attempt = 0; attempt < 20; attempt += 1)
      pages.push(await signIn(`more-${attempt}@example.com`, '203.0.113.77'));
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 429));
    expect(Number(pages[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await stateOf()).toEqual(before);
  });

  it('share a bounded number of rows for attempts, whatever their e-mails and addresses', async () => {
    await query('DELETE FROM sign_in_limit');
    const codes = Array.from({ length: 40 }, (_, i) =>
      signIn(`x${i}@example.com`, `2001:db8:${i}::1`),
    );
    await Promise.all(codes);
    const rows = await query<{ subject: string }>('SELECT subject FROM sign_in_limit');
    expect(rows.length).toBeGreaterThan(0);
    // Each kind has 65,536 buckets.
    for (const { subject } of rows) expect(subject).toMatch(/^(pair|address|email) [0-9a-f]{4}$/);
  });

  it('add a bounded number of rows for the rate limits of addresses', async () => {
    const limits = new RateLimits(loadSettings({}), service.database, pino({ level: 'silent' }));
    await query('DELETE FROM rate_limit');
    const addresses = Array.from({ length: 30_000 }, (_, i) => `2001:db8:${i.toString(16)}::1`);
    await Promise.all(addresses.map(async (address) => limits.admitAddress(address, 'requests')));
    const [count] = await query<{ rows: number }>('SELECT count(*)::int AS rows FROM rate_limit');
    expect(count?.rows).toBeLessThanOrEqual(20_000 + 256);
  }, 120_000);

  /** The number of rows of each table. */
  const countRows = async () => {
    const tables = await query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    );
    const counts: Record<string, number> = {};
    for (const { name } of tables) {
      const [count] = await query<{ rows: number }>(`SELECT count(*)::int AS rows FROM "${name}"`);
      counts[name] = count?.rows ?? 0;
    }
    return counts;
  };

  it('add rows to no table but these two', async () => {
    await query('DELETE FROM sign_in_limit');
    const before = await countRows();
    expect(Object.keys(before)).toContain('webhook_event');
    const requests = [
      ...servedRoutes(service.application).map(({ method, path }) => ({ method, path })),
      ...listConsoleHandlers(service).map(({ path, isForm }) => ({
        ...{ path, method: isForm ? 'POST' : 'GET' },
      })),
      { method: 'POST', path: '/webhooks/bank/main' },
      { method: 'POST', path: '/webhooks/bank/main/PIX_RECEIVED' },
      { method: 'GET', path: '/no/such/path' },
    ];
    expect(requests.length).toBeGreaterThan(150);
    const isForm = (path: string) => path.startsWith('/console');
    for (const [index, { method, path }] of requests.entries()) {
      const type = isForm(path) ? 'application/x-www-form-urlencoded' : 'application/json';
      const response = await fetch(`${service.url}${path.replace(/:\w+/g, () => randomUUID())}`, {
        method,
        redirect: 'manual',
        headers: {
          ...from(`203.0.113.${index % 250}`),
          ...{ 'content-type': type, origin: service.url, 'x-api-key': randomUUID() },
          ...{ 'x-webhook-key': randomUUID(), 'idempotency-key': randomUUID() },
        },
        body: method === 'GET' ? null : isForm(path) ? 'email=a@b.example&password=x' : '{}',
      });
      await response.arrayBuffer();
      expect([method, path, response.status < 500]).toEqual([method, path, true]);
    }
    const after = await countRows();
    const grown = Object.keys(after).filter((table) => after[table] !== before[table]);
    expect(grown.sort()).toEqual(['rate_limit', 'sign_in_limit']);
  });
});
