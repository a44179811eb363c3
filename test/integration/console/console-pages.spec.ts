// What the pages of the console show and to whom: roles, people, the audit, Today, languages and
// headers.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Operators, commandLine } from '../../../src/access/people/operators.service.js';
import { roleNames, type PersonRole } from '../../../src/access/people/roles.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { menu } from '../../../src/console/page.js';
import { slip } from '../../contract/samples.js';
import {
  codeOf,
  csrfOf,
  goodPassword,
  hiddenIn,
  signedInPerson,
  visitorOf,
  type Visitor,
  personOfEachRole,
  type SignedIn,
} from '../../support/console-visitor.js';
import {
  exampleAddress,
  listConsoleHandlers,
  needsOfNoAccount,
} from '../../support/console-handlers.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

describe('the pages of the console', () => {
  let service: ServiceApplication;
  let accountId: number;
  let otherAccountId: number;
  let otherSlug: string;
  let people: Record<PersonRole, SignedIn>;
  let owner: SignedIn;

  const update = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const person = (email: string, role: PersonRole, account: number | null) =>
    signedInPerson(service, email, { accountId: account, role });
  const operators = () => service.application.get(Operators, { strict: false });
  const { addAccount } = operatorOf(() => service);

  beforeAll(async () => {
    service = await serviceApplication();
    accountId = (await operators().findAccountId('main')) ?? 0;
    otherSlug = (await addAccount({ apiKey: 'sandbox-dev-key-2' })).slug;
    otherAccountId = (await operators().findAccountId(otherSlug)) ?? 0;
    people = await personOfEachRole(service, accountId);
    owner = await person('owner@example.com', 'admin', null);
  });
  afterAll(() => service.stop());

  const listHandlers = () => listConsoleHandlers(service);
  const own = needsOfNoAccount;
  const example = (path: string) => exampleAddress(path, people.analyst.id);

  describe('a viewer', () => {
    it('can change nothing of an account by any form', async () => {
      // The search is a form so that what is typed stays out of addresses. It changes nothing.
      // A saved view is the person's own.
      const forms = listHandlers().filter(
        ({ isForm, needs, path }) =>
          isForm && !own.includes(needs) && !/\/(search|views(\/.*)?)$/.test(path),
      );
      expect(forms.length).toBeGreaterThanOrEqual(5);
      const before = await update('SELECT count(*) FROM audit_entry');
      for (const { path } of forms) {
        const fields = { email: 'x@example.com', role: 'admin', reason: 'because', where: '' };
        expect([path, (await people.viewer.submit(example(path), fields)).status]).toEqual([
          path,
          403,
        ]);
      }
      expect((await update('SELECT count(*) FROM audit_entry')).rows).toEqual(before.rows);
    });

    it('can change nothing without signing in either', async () => {
      for (const { path, needs, isForm } of listHandlers().filter(
        ({ needs }) => needs !== 'nobody',
      )) {
        const visitor = visitorOf(service);
        const page = await (isForm ? visitor.post(example(path), {}) : visitor.get(example(path)));
        expect([path, needs, page.status, page.location?.startsWith('/console/sign-in')]).toEqual([
          path,
          needs,
          303,
          true,
        ]);
      }
    });

    it('sees the pages of the menu that the role allows', async () => {
      const { text } = await people.viewer.get('/console/accounts/main/today');
      expect(text).toContain('/console/accounts/main/today');
      expect(text).not.toContain('/console/accounts/main/people');
      expect(text).not.toContain('/console/accounts/main/audit');
    });
  });

  it.each([
    ['today', { viewer: 200, analyst: 200, approver: 200, admin: 200 }],
    ['audit', { viewer: 403, analyst: 200, approver: 200, admin: 200 }],
    ['audit/export', { viewer: 403, analyst: 200, approver: 200, admin: 200 }],
    ['people', { viewer: 403, analyst: 403, approver: 403, admin: 200 }],
  ])('shows %s to the roles that may see it', async (page, expected) => {
    const found: Record<string, number> = {};
    for (const role of roleNames)
      found[role] = (await people[role].get(`/console/accounts/main/${page}`)).status;
    expect(found).toEqual(expected);
    expect((await owner.get(`/console/accounts/main/${page}`)).status).toBe(200);
  });

  it('does not show that an account exists in which the person has no role', async () => {
    const [foreign, absent] = [
      await people.admin.get(`/console/accounts/${otherSlug}/today`),
      await people.admin.get('/console/accounts/no-such-account/today'),
    ];
    expect([foreign.status, absent.status]).toEqual([404, 404]);
    const { text } = await people.admin.get('/console/accounts');
    expect(text).not.toContain(otherSlug);
    expect((await owner.get('/console/accounts')).text).toContain(otherSlug);
  });

  it('has an entry of the menu for each declared page, and no entry without one', async () => {
    const today = await owner.get('/console/accounts/main/today');
    for (const { path, section } of menu) {
      const first = menu.find((entry) => entry.section === section)?.path ?? '';
      expect(today.text).toContain(`href="${first.replace(':account', 'main')}"`);
      const href = path.replace(':account', 'main');
      const page = await owner.get(href);
      expect([href, page.status]).toEqual([href, 200]);
      const pages = menu.filter((entry) => entry.section === section);
      if (pages.length > 1) expect(page.text).toContain(`href="${href}" aria-current="page"`);
    }
  });

  describe('changing people', () => {
    const page = '/console/accounts/main/people';

    it('needs a code of the last five minutes, with which what was typed is sent', async () => {
      const { admin } = people;
      await update(
        `UPDATE operator_session SET code_at = code_at - interval '6 minutes'
         WHERE operator_id = $1`,
        admin.id,
      );
      const fields = { email: 'later@example.com', role: 'viewer' };
      const csrf = csrfOf((await admin.get(page)).text);
      const referer = { referer: `${service.url}${page}` };
      const refused = await admin.post(page, { csrf, ...fields }, referer);
      expect([refused.status, refused.location]).toEqual([403, null]);
      expect(refused.text).not.toContain(fields.email);
      const heldIn = ({ text }: { text: string }) => Object.fromEntries(hiddenIn(text, page));
      const wrong = await admin.post(page, { ...heldIn(refused), code: '000000' });
      expect([wrong.status, await operators().findIdByEmail(fields.email)]).toEqual([422, null]);
      await update('UPDATE operator SET totp_last_step = 0 WHERE id = $1', admin.id);
      const before = admin.cookies.get('concilia-session');
      const code = codeOf(admin.secret);
      // What another session holds is no form of this one.
      const { viewer } = people;
      expect((await viewer.post(page, { ...heldIn(wrong), code })).text).not.toContain('later@');
      const sent = await admin.post(page, { ...heldIn(wrong), code });
      expect([sent.status, linkIn(sent.text) !== '']).toEqual([200, true]);
      expect(admin.cookies.get('concilia-session')).not.toBe(before);
      expect(await operators().findIdByEmail(fields.email)).not.toBeNull();
    });

    it('gives a link that is shown once, and is written to no log of actions', async () => {
      const fields = { email: 'new@example.com', role: 'analyst' };
      const { text } = await people.admin.submit(page, fields);
      const link = linkIn(text);
      const guest = visitorOf(service);
      expect((await guest.get(link)).text).toContain('new@example.com');
      expect((await people.admin.get(page)).text).not.toContain(link);
      const stored = await update('SELECT json_agg(a)::text AS text FROM audit_entry a');
      expect((stored.rows[0] as { text: string }).text).not.toContain(link.slice(-43));
    });

    it('lets an admin of one account give no role elsewhere', async () => {
      const everywhere = { email: 'ally@example.com', role: 'admin', where: 'everywhere' };
      expect((await people.admin.submit(page, everywhere)).status).toBe(403);
      const path = `${page}/${people.viewer.id}/role`;
      expect((await people.admin.submit(path, everywhere)).status).toBe(403);
      expect(await operators().findIdByEmail('ally@example.com')).toBeNull();
    });

    it('lets nobody raise, disable or reset themselves', async () => {
      const { admin } = people;
      for (const action of ['role', 'disable', 'reset']) {
        const fields = { role: 'viewer', reason: 'mine' };
        const { status } = await admin.submit(`${page}/${admin.id}/${action}`, fields);
        expect([action, status]).toEqual([action, 422]);
      }
    });

    it('lets an admin of one account give no role to people of another, who keep theirs', async () => {
      const others = await person('others@example.com', 'viewer', otherAccountId);
      const fields = { email: 'others@example.com', role: 'viewer', where: '' };
      const invited = await people.admin.submit(page, fields);
      expect([invited.status, invited.text.includes('has a role elsewhere')]).toEqual([422, true]);
      const path = `${page}/${others.id}/role`;
      expect((await people.admin.submit(path, { role: 'viewer' })).status).toBe(422);
      // The admin of their account can still help them.
      const helper = await person('helper@example.com', 'admin', otherAccountId);
      const reset = `/console/accounts/${otherSlug}/people/${others.id}/reset`;
      expect((await helper.submit(reset, { reason: 'lost phone' })).status).toBe(200);
    });

    it('lets an admin of one account reset only people of that account', async () => {
      const both = await person('both@example.com', 'viewer', accountId);
      await operators().setRole(commandLine, both.id, { accountId: otherAccountId, role: 'admin' });
      for (const id of [owner.id, both.id])
        for (const action of ['reset', 'disable']) {
          const { status } = await people.admin.submit(`${page}/${id}/${action}`, { reason: 'x' });
          expect([action, status]).toEqual([action, 403]);
        }
      expect((await people.admin.get(`${page}/${owner.id}/sessions`)).status).toBe(403);
      // What would be refused is not offered.
      const [own, everywhere] = [await people.admin.get(page), await owner.get(page)];
      expect(own.text).toContain('Has a role elsewhere');
      for (const id of [owner.id, both.id]) expect(own.text).not.toContain(`${id}/disable`);
      expect(own.text).toContain(`${people.viewer.id}/disable`);
      expect(everywhere.text).toContain(`${both.id}/disable`);
      expect((await both.get('/console/sessions')).status).toBe(200);
    });

    it('takes password, authenticator and sessions away with a reset', async () => {
      const reset = await person('reset@example.com', 'viewer', accountId);
      const { text } = await people.admin.submit(`${page}/${reset.id}/reset`, { reason: 'lost' });
      const link = linkIn(text);
      expect((await reset.get('/console/sessions')).status).toBe(303);
      const old = { email: 'reset@example.com', password: goodPassword };
      expect((await visitorOf(service).post('/console/sign-in', old)).status).toBe(401);
      const visitor = visitorOf(service);
      const set = await visitor.post(link, { password: 'a second good password' });
      expect(set.location).toBe('/console/authenticator');
      expect((await visitor.get('/console/sessions')).location).toBe('/console/authenticator');
    });

    it('takes effect in the next request of the person', async () => {
      const moved = await person('moved@example.com', 'analyst', accountId);
      const audit = '/console/accounts/main/audit';
      expect((await moved.get(audit)).status).toBe(200);
      await people.admin.submit(`${page}/${moved.id}/role`, { role: 'viewer' });
      expect((await moved.get(audit)).status).toBe(403);
      await people.admin.submit(`${page}/${moved.id}/role`, { role: '' });
      expect((await moved.get('/console/accounts/main/today')).status).toBe(404);
    });

    it('refuses what is no e-mail, no role or no reason', async () => {
      const { admin, viewer } = people;
      const statuses = [
        await admin.submit(page, { email: '<script>@', role: 'viewer' }),
        await admin.submit(page, { email: 'fine@example.com', role: 'king' }),
        await admin.submit(`${page}/${viewer.id}/disable`, { reason: '  ' }),
      ].map(({ status }) => status);
      expect(statuses).toEqual([400, 400, 400]);
    });
  });

  describe('the audit', () => {
    it('names who did what, with the reason, and shows an account only its own', async () => {
      const gone = await person('gone@example.com', 'viewer', accountId);
      const reason = '=HYPERLINK("https://evil.example") <b>';
      await people.admin.submit(`/console/accounts/main/people/${gone.id}/disable`, { reason });
      const { text } = await people.admin.get('/console/accounts/main/audit');
      expect(text).toContain('admin@example.com');
      expect(text).toContain(`person ${gone.id}`);
      expect(text).toContain('=HYPERLINK(&quot;https://evil.example&quot;) &lt;b>');
      expect(text).not.toContain('Signed in');
      expect((await people.admin.get('/console/accounts/main/audit?all=1')).status).toBe(403);
      const all = (await owner.get('/console/accounts/main/audit?all=1')).text;
      expect(all).toContain('Set up the authenticator');
      // The file, too, is of all, and the way back is there.
      expect(all).toContain('audit?all=1&amp;file=csv');
      expect(all).toContain('This account only');
      expect((await owner.get(`/console/accounts/${otherSlug}/audit`)).text).not.toContain(reason);
    });

    it('is exported whole as CSV without formulas, and as NDJSON', async () => {
      // Whoever sends a form by a program writes what they have seen.
      const shown = '=HYPERLINK("https://evil.example/shown")';
      const forged = '/console/accounts/main/statement/unreadable';
      await people.analyst.submit(forged, { shown });
      const csv = await people.admin.get('/console/accounts/main/audit?file=csv');
      expect(csv.text).toContain(`"'=HYPERLINK(""https://evil.example/shown`);
      expect(csv.text).toMatch(/,Id,Trace\r\n/);
      const stored = await update('SELECT id FROM audit_entry WHERE account_id = $1', accountId);
      expect(csv.text).toContain((stored.rows[0] as { id: string }).id);
      const { text } = await people.admin.get('/console/accounts/main/audit/export');
      const rows = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
      expect(rows).toHaveLength(stored.rows.length);
      expect(rows[1]).toMatchObject({
        account: 'main',
        action: 'read lines again',
        traceId: expect.any(String),
      });
    });

    it.each([
      'UPDATE audit_entry SET reason = null',
      'DELETE FROM audit_entry',
      'TRUNCATE audit_entry',
    ])('refuses %s', async (sql) => {
      await expect(update(sql)).rejects.toThrow('audit_entry is append-only');
    });
  });

  describe('Today', () => {
    const today = '/console/accounts/main/today';

    it('says what is wrong in the language of the reader, from the figures of the summary', async () => {
      const body = slip({ correlationId: 'console-1', Amount: 1234.56 });
      await service.sandbox.call('POST', '/baas/v1/charges', { body });
      await service.sandbox.call('POST', '/baas/v1/charges/console-1/pay', {});
      await service.application.get(StatementSync, { strict: false }).sync(accountId);
      const summary = await service.call('GET', '/v1/summary', {});
      const [english, portuguese] = [
        await owner.get(today),
        await owner.get(today, { 'accept-language': 'pt-BR,pt;q=0.9,en;q=0.5' }),
      ];
      expect(english.text).toContain('Lines that are still being decided: 1.');
      expect(portuguese.text).toContain('Lançamentos ainda em análise: 1.');
      expect(portuguese.text).toContain('<html lang="pt-BR">');
      const { lastNsu } = summary.body.statement as { lastNsu: unknown };
      expect(english.text).toContain(`>${String(lastNsu)}</a></dd>`);
      expect(english.text).toMatch(/R\$\u00a0\d{1,3}(\.\d{3})*,\d\d/);
    });

    it('refreshes the part that it shows, without the frame', async () => {
      const { text } = await owner.get(today, { 'hx-request': 'true' });
      expect(text).toMatch(/^<div class="notice state/);
      expect(text).not.toContain('<html');
    });
  });

  describe('a page', () => {
    it('allows no script but its own, and nothing of another host', async () => {
      for (const visitor of [owner, visitorOf(service)] as Visitor[]) {
        const { headers, text } = await visitor.get('/console/sign-in-or-not');
        const policy = headers.get('content-security-policy') ?? '';
        const [, nonce = ''] = /script-src 'nonce-([^']+)';/.exec(policy) ?? [];
        expect(policy).toContain("default-src 'none'");
        expect(policy).not.toMatch(/unsafe|\*/);
        const scripts = [...text.matchAll(/<script([^>]*)>/g)].map(([, given = '']) => given);
        expect(scripts).toHaveLength(3);
        for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
        expect(text).not.toMatch(/(src|href|action)="(https?:)?\/\//);
        expect(text).not.toMatch(/ on\w+="| style="/);
        expect(headers.get('cache-control')).toBe('no-store');
      }
      const nonces = [await owner.get('/console/sessions'), await owner.get('/console/sessions')];
      const policies = nonces.map(({ headers }) => headers.get('content-security-policy'));
      expect(policies[0]).not.toBe(policies[1]);
    });

    it('loads a stylesheet and scripts of the service, which browsers can check and store', async () => {
      const { text } = await owner.get('/console/sessions');
      const assets = [
        ...text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)" integrity="([^"]+)"/g),
      ];
      expect(assets).toHaveLength(4);
      for (const [, path = '', integrity] of assets) {
        const asset = await visitorOf(service).get(path);
        const digest = createHash('sha384').update(asset.text).digest('base64');
        expect(`sha384-${digest}`).toBe(integrity);
        expect(asset.headers.get('cache-control')).toContain('immutable');
      }
      expect((await owner.get('/console/assets/other.js')).status).toBe(404);
    });

    it('of an error is a page with the trace id', async () => {
      const page = await owner.get('/console/accounts/main/no-page');
      expect(page.status).toBe(404);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(page.text).toContain(page.headers.get('x-trace-id') ?? 'no trace id');
    });

    it('is not found, and no fault, where the address or a form has a zero byte', async () => {
      for (const path of [
        '/console/accounts/%00/today',
        '/console/accounts/main/people/%00/sessions',
      ])
        expect((await owner.get(path)).status).toBe(404);
      const nul = { reason: 'a\u0000b', role: 'viewer\u0000', email: 'a\u0000@example.com' };
      const id = people.viewer.id;
      const statuses = [
        await owner.submit('/console/accounts/main/people', nul),
        await owner.submit(`/console/accounts/main/people/${id}/role`, nul),
        await visitorOf(service).post('/console/sign-in', { email: nul.email, password: '\u0000' }),
      ].map(({ status }) => status);
      expect(statuses).toEqual([400, 400, 401]);
    });

    it('escapes the browser that a session names', async () => {
      await update('DELETE FROM sign_in_limit');
      const hostile = { 'user-agent': `"><script>alert(1)</script>{{x}}` };
      const fields = { email: 'owner@example.com', password: goodPassword };
      const visitor = visitorOf(service);
      await visitor.post('/console/sign-in', fields, hostile);
      await update('UPDATE operator SET totp_last_step = 0 WHERE id = $1', owner.id);
      await visitor.submit('/console/code', { code: codeOf(owner.secret) });
      const { text } = await visitor.get('/console/sessions');
      expect(text).toContain('&quot;>&lt;script>alert(1)');
      expect(text).not.toContain('<script>alert');
    });

    it('is in the language that the person has chosen, in place of that of the browser', async () => {
      const visitor = visitorOf(service);
      expect((await visitor.get('/console/sign-in')).text).toContain('Sign in');
      const next = '/console/sign-in';
      const chosen = await visitor.post('/console/language', { language: 'pt', next });
      expect([chosen.status, chosen.location]).toEqual([303, next]);
      expect((await visitor.get('/console/sign-in')).text).toContain('Entrar');
      expect((await visitor.post('/console/language', { language: 'xx' })).status).toBe(400);
    });
  });

  it('leads from / to the console, and from there to the only account of a person', async () => {
    expect((await visitorOf(service).get('/')).location).toBe('/console');
    expect((await people.viewer.get('/console')).location).toBe('/console/accounts/main/today');
    expect((await owner.get('/console')).location).toBe('/console/accounts');
  });
});

/** The path of the link that a page shows whole, to be copied. */
function linkIn(text: string): string {
  const [, path = ''] =
    /<input class="code" readonly value="https?:\/\/[^/"]+(\/console\/link\/[\w-]{43})"/.exec(
      text,
    ) ?? [];
  return path;
}
