// How people sign in to the console, over HTTP: links, passwords, codes, sessions and their ends.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { commandLine, Operators } from '../../../src/access/people/operators.service.js';
import {
  codeOf,
  csrfOf,
  goodPassword,
  secretOf,
  signedInPerson,
  visitorOf,
} from '../../support/console-visitor.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const everywhere = { accountId: null, role: 'viewer' } as const;
const sessionCookie = 'concilia-session';

describe('the console', () => {
  let service: ServiceApplication;

  beforeAll(async () => {
    service = await serviceApplication();
  });
  afterAll(() => service.stop());

  const person = async (email: string) => {
    await giveSignInTime();
    return signedInPerson(service, email, everywhere);
  };
  const update = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  /** So that the present code can be given again: later in the life of a session. */
  const forgetCode = (id: string) =>
    update('UPDATE operator SET totp_last_step = 0 WHERE id = $1', id);
  /** As if nobody had tried to sign in for an hour. */
  const giveSignInTime = () => update('DELETE FROM sign_in_limit');

  describe('the first link', () => {
    it('creates the first person, an admin everywhere, once', async () => {
      const operators = service.application.get(Operators, { strict: false });
      const [old, token] = [await operators.createFirstLink(), await operators.createFirstLink()];
      const visitor = visitorOf(service);
      expect((await visitor.get(`/console/link/${old}`)).status).toBe(404);
      const behindProxy = { 'x-forwarded-for': '203.0.113.9' };
      expect((await visitor.get(`/console/link/${token}`, behindProxy)).status).toBe(404);
      const fields = { email: 'First@Example.com ', password: goodPassword };
      const weak = await visitor.post(`/console/link/${token}`, { ...fields, password: 'short' });
      expect([weak.status, weak.text.includes('at least 12 characters')]).toEqual([422, true]);
      const set = await visitor.post(`/console/link/${token}`, fields);
      expect([set.status, set.location]).toEqual([303, '/console/authenticator']);
      const again = await visitorOf(service).post(`/console/link/${token}`, fields);
      expect(again.status).toBe(404);
      const [first] = await operators.list(null, { limit: 10, after: null });
      expect(first).toMatchObject({ email: 'first@example.com', roleEverywhere: 'admin' });
      expect(await operators.createFirstLink()).toBeNull();
    });

    it('is worth nothing after 15 minutes', async () => {
      const { rows } = await update(
        `SELECT extract(epoch FROM expires_at - created_at)::int AS seconds FROM operator_link
         WHERE operator_id IS NULL`,
      );
      expect(rows.map(({ seconds }: { seconds: number }) => seconds)).toEqual([900, 900]);
      const operators = service.application.get(Operators, { strict: false });
      const grant = { ...everywhere };
      const by = { operatorId: null, isAdminEverywhere: true, accountId: null };
      const { linkToken } = await operators.invite(by, 'late@example.com', grant);
      await update(`UPDATE operator_link SET expires_at = clock_timestamp() WHERE used_at IS NULL`);
      expect((await visitorOf(service).get(`/console/link/${linkToken}`)).status).toBe(404);
    });
  });

  describe('signing in', () => {
    it('needs the password, and then the code; each step changes the cookie', async () => {
      const { id, secret, cookies } = await person('ana@example.com');
      const visitor = visitorOf(service);
      const first = await visitor.post('/console/sign-in', {
        email: ' ANA@example.com',
        password: goodPassword,
        next: '/console/sessions',
      });
      expect(first.location).toBe('/console/code?next=%2Fconsole%2Fsessions');
      const between = visitor.cookies.get(sessionCookie);
      expect((await visitor.get('/console/sessions')).location).toBe('/console/code');
      await forgetCode(id);
      const fields = { code: codeOf(secret), next: '/console/sessions' };
      const second = await visitor.submit('/console/code', fields);
      expect([second.status, second.location]).toEqual([303, '/console/sessions']);
      expect((await visitor.get('/console/sessions')).status).toBe(200);
      const after = visitor.cookies.get(sessionCookie);
      expect(new Set([between, after, cookies.get(sessionCookie)]).size).toBe(3);
      // The cookie of the step before opens nothing.
      visitor.cookies.set(sessionCookie, between ?? '');
      expect((await visitor.get('/console/sessions')).location).toMatch(/^\/console\/sign-in/);
    });

    it('refuses a code that was used, also by another session', async () => {
      const { secret } = await person('bia@example.com');
      const codes = [codeOf(secret), codeOf(secret), codeOf(secret, -1)];
      const statuses: number[] = [];
      for (const code of codes) {
        const visitor = visitorOf(service);
        await visitor.post('/console/sign-in', {
          email: 'bia@example.com',
          password: goodPassword,
        });
        statuses.push((await visitor.submit('/console/code', { code })).status);
        await giveSignInTime();
      }
      expect(statuses).toEqual([303, 422, 422]);
    });

    it('gives the same answer for an unknown e-mail and for a wrong password', async () => {
      await person('carlos@example.com');
      const attempt = async (email: string) => {
        const { status, text } = await visitorOf(service).post('/console/sign-in', {
          email,
          password: 'a wrong password',
        });
        return [status, text.replace(/nonce="[^"]*"/g, '').replaceAll(email, '')];
      };
      const [known, unknown] = [
        await attempt('carlos@example.com'),
        await attempt('nobody@example.com'),
      ];
      expect(known).toEqual(unknown);
      expect(known[0]).toBe(401);
    });

    it('is throttled for an e-mail of one address, known or not', async () => {
      for (const email of ['dora@example.com', 'nobody-else@example.com']) {
        if (email.startsWith('dora')) await person(email);
        await giveSignInTime();
        const statuses: number[] = [];
        for (let attempt = 0; attempt < 8; attempt += 1) {
          const page = await visitorOf(service).post('/console/sign-in', { email, password: 'no' });
          statuses.push(page.status);
        }
        expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429, 429]);
        const right = { email, password: goodPassword };
        expect((await visitorOf(service).post('/console/sign-in', right)).status).toBe(429);
      }
      await giveSignInTime();
    });

    it('ends the session with the fifth wrong code', async () => {
      await person('edu@example.com');
      const visitor = visitorOf(service);
      const fields = { email: 'edu@example.com', password: goodPassword };
      await visitor.post('/console/sign-in', fields);
      for (let attempt = 0; attempt < 5; attempt += 1) {
        await giveSignInTime();
        await visitor.submit('/console/code', { code: '000000' });
      }
      expect((await visitor.get('/console/code')).location).toMatch(/^\/console\/sign-in/);
    });

    it('accepts a recovery code once, and not as a step up', async () => {
      const { recoveryCodes } = await person('fabio@example.com');
      expect(recoveryCodes).toHaveLength(10);
      const code = recoveryCodes[3] ?? '';
      const results: unknown[] = [];
      for (const typed of [code.toUpperCase(), code]) {
        await giveSignInTime();
        const visitor = visitorOf(service);
        const fields = { email: 'fabio@example.com', password: goodPassword };
        await visitor.post('/console/sign-in', fields);
        results.push((await visitor.submit('/console/code', { code: typed })).status);
      }
      expect(results).toEqual([303, 422]);
      const { rows } = await update(
        `SELECT s.code_at FROM operator_session s JOIN audit_entry e
           ON e.subject = 'session ' || s.id WHERE e.action = 'sign in by recovery'`,
      );
      expect(rows).toEqual([{ code_at: null }]);
    });

    it('never leaves the console, whatever the address asks for', async () => {
      const { get } = await person('gabi@example.com');
      const targets = ['https://evil.example', '//evil.example', '/v1/summary', '/console/\\evil'];
      for (const next of targets) {
        const page = await get(`/console/sign-in?next=${encodeURIComponent(next)}`);
        expect(page.location).toBe('/console');
      }
    });
  });

  describe('a session', () => {
    it('has a cookie that scripts and other sites do not have', async () => {
      await person('hugo@example.com');
      const page = await visitorOf(service).post('/console/sign-in', {
        email: 'hugo@example.com',
        password: goodPassword,
      });
      const cookie = page.headers.getSetCookie().join();
      expect(cookie).toMatch(/^concilia-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    });

    it.each([
      ['30 minutes without use', 'last_used_at', '31 minutes'],
      ['12 hours', 'created_at', '12 hours 1 minute'],
    ])('ends after %s', async (_, column, age) => {
      const { id, get } = await person(`${column}@example.com`);
      expect((await get('/console/sessions')).status).toBe(200);
      await update(
        `UPDATE operator_session SET ${column} = ${column} - $2::interval WHERE operator_id = $1`,
        id,
        age,
      );
      expect((await get('/console/sessions')).location).toMatch(/^\/console\/sign-in/);
    });

    it('goes on with use, and not with parts that refresh themselves', async () => {
      const { id, get } = await person('iris@example.com');
      const age = () =>
        update(
          `UPDATE operator_session SET last_used_at = last_used_at - interval '20 minutes'
           WHERE operator_id = $1`,
          id,
        );
      for (let use = 0; use < 3; use += 1) {
        await age();
        expect((await get('/console/sessions')).status).toBe(200);
      }
      await age();
      const today = '/console/accounts/main/today';
      expect((await get(today, { 'hx-request': 'true' })).status).toBe(200);
      await age();
      const ended = await get(today, { 'hx-request': 'true' });
      expect(ended.headers.get('hx-redirect')).toMatch(/^\/console\/sign-in/);
    });

    it('is listed and ended by its person, who cannot end that of another', async () => {
      const [julia, kai] = [await person('julia@example.com'), await person('kai@example.com')];
      const { rows } = await update(
        'SELECT id FROM operator_session WHERE operator_id = $1',
        kai.id,
      );
      const [{ id }] = rows as [{ id: string }];
      expect((await julia.submit(`/console/sessions/${id}/end`)).status).toBe(404);
      expect((await kai.get('/console/sessions')).status).toBe(200);
      expect((await kai.submit(`/console/sessions/${id}/end`)).location).toBe('/console/sessions');
      expect((await kai.get('/console/sessions')).location).toMatch(/^\/console\/sign-in/);
    });

    it('ends when its person changes the password elsewhere', async () => {
      const { id, secret, ...here } = await person('lia@example.com');
      const elsewhere = visitorOf(service);
      const fields = { email: 'lia@example.com', password: goodPassword };
      await elsewhere.post('/console/sign-in', fields);
      await forgetCode(id);
      await elsewhere.submit('/console/code', { code: codeOf(secret) });
      expect((await elsewhere.get('/console/sessions')).status).toBe(200);
      const wrong = { current: 'not the password', new: 'another good password' };
      expect((await here.submit('/console/password', wrong)).status).toBe(422);
      const right = { ...wrong, current: goodPassword };
      expect((await here.submit('/console/password', right)).status).toBe(303);
      expect((await here.get('/console/sessions')).status).toBe(200);
      expect((await elsewhere.get('/console/sessions')).status).toBe(303);
    });

    it('ends when its person is disabled', async () => {
      const { id, get } = await person('mel@example.com');
      const operators = service.application.get(Operators, { strict: false });
      const by = { operatorId: null, isAdminEverywhere: true, accountId: null };
      await operators.disable(by, id, 'left the company');
      expect((await get('/console/sessions')).status).toBe(303);
      const fields = { email: 'mel@example.com', password: goodPassword };
      expect((await visitorOf(service).post('/console/sign-in', fields)).status).toBe(401);
    });

    it('has no authenticator without its recovery codes', async () => {
      await giveSignInTime();
      const operators = service.application.get(Operators, { strict: false });
      const { linkToken } = await operators.invite(commandLine, 'caio@example.com', everywhere);
      const visitor = visitorOf(service);
      await visitor.post(`/console/link/${linkToken}`, { password: goodPassword });
      const secret = secretOf((await visitor.get('/console/authenticator')).text);
      const confirm = () => visitor.submit('/console/authenticator', { code: codeOf(secret) });
      await update(`ALTER TABLE operator ADD CONSTRAINT codes_cannot_be_stored
        CHECK (recovery_hashes = '{}') NOT VALID`);
      const failed = await confirm();
      await update('ALTER TABLE operator DROP CONSTRAINT codes_cannot_be_stored');
      expect(failed.status).toBe(500);
      const again = await confirm();
      expect([again.status, again.text.match(/<li>[a-z0-9-]{14}<\/li>/g)?.length]).toEqual([
        200, 10,
      ]);
    });

    it('shows the secret of an authenticator only before its first code', async () => {
      const { get, secret } = await person('nina@example.com');
      const page = await get('/console/authenticator');
      expect([page.location, secretOf(page.text)]).toEqual(['/console', '']);
      expect(secret).toHaveLength(32);
    });
  });

  describe('a form', () => {
    it('is refused from another site, without the token, and with the token of another session', async () => {
      const [olga, paulo] = [await person('olga@example.com'), await person('paulo@example.com')];
      const csrf = csrfOf((await olga.get('/console/sessions')).text);
      const foreign = csrfOf((await paulo.get('/console/sessions')).text);
      const attempts = [
        olga.post('/console/sign-out', { csrf }, { origin: 'https://evil.example' }),
        olga.post('/console/sign-out', { csrf }, { origin: 'null' }),
        olga.send('/console/sign-out', { method: 'POST', body: new URLSearchParams({ csrf }) }),
        olga.post('/console/sign-out', {}),
        olga.post('/console/sign-out', { csrf: foreign }),
        olga.post('/console/sign-out', { csrf: '' }),
      ];
      for (const attempt of attempts) {
        const { status, text } = await attempt;
        expect([status, text.includes('came from another site')]).toEqual([403, true]);
      }
      const json = { csrf, 'content-type': 'text/plain' };
      const plain = await olga.post('/console/sign-out', { csrf }, json);
      expect(plain.status).toBe(415);
      expect((await olga.get('/console/sessions')).status).toBe(200);
      expect((await olga.post('/console/sign-out', { csrf })).location).toBe('/console/sign-in');
      expect((await olga.get('/console/sessions')).status).toBe(303);
    });

    it('signs nobody in from another site', async () => {
      await person('quim@example.com');
      const fields = { email: 'quim@example.com', password: goodPassword };
      const origin = { origin: 'https://evil.example' };
      expect((await visitorOf(service).post('/console/sign-in', fields, origin)).status).toBe(403);
    });
  });

  it('stores neither e-mails nor tokens nor secrets as they are', async () => {
    const { id, cookies, secret, recoveryCodes } = await person('rosa@example.com');
    await visitorOf(service).post('/console/sign-in', { email: 'rosa@example.com', password: '' });
    const { rows } = await update(
      `SELECT row_to_json(o)::text || (SELECT json_agg(s)::text FROM operator_session s
         WHERE s.operator_id = o.id) || (SELECT json_agg(l)::text FROM sign_in_limit l)
         || (SELECT json_agg(k)::text FROM operator_address k)
         || (SELECT json_agg(a)::text FROM audit_entry a) AS stored
       FROM operator o WHERE id = $1`,
      id,
    );
    const { stored } = rows[0] as { stored: string };
    const token = cookies.get(sessionCookie) ?? 'no cookie';
    const secrets = ['rosa', '127.0.0.1', token, secret, goodPassword, ...recoveryCodes];
    for (const one of secrets) expect(stored).not.toContain(one);
  });
});
