// Single sign-on through the running application, with an identity provider that others wrote.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { commandLine, Operators } from '../../../src/access/people/operators.service.js';
import { SsoPeople } from '../../../src/access/people/sso-people.service.js';
import { createLog } from '../../../src/platform/log.js';
import { SecretBox } from '../../../src/platform/secret-box.js';
import { newId } from '../../../src/platform/ids.js';
import { AlertEvaluator } from '../../../src/reporting/alerts/alert-evaluator.service.js';
import { goodPassword, hiddenIn, signInByLink, visitorOf } from '../../support/console-visitor.js';
import { clientSecret, identityProvider, ssoBrowser } from '../../support/identity-provider.js';
import type { IdentityProvider } from '../../support/identity-provider.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const people = '/console/accounts/main/people';
const flowCookie = /^concilia-sso-flow-/;
const session = 'concilia-session';

describe('single sign-on', () => {
  let provider: IdentityProvider;
  let service: ServiceApplication;
  const logged: string[] = [];
  /** What must reach no log. */
  const canaries = new Set([clientSecret]);

  beforeAll(async () => {
    provider = await identityProvider();
    service = await serviceApplication(
      {
        ...{ OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: 'concilia' },
        OIDC_CLIENT_SECRET: clientSecret,
        OIDC_ROLES: 'admins=admin;finance=analyst@main;elsewhere=admin@nowhere',
      },
      createLog('trace', 'concilia', { write: (line) => void logged.push(line) }),
    );
    provider.serve(service);
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });

  const sql = async <Row>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await service.database.pool.query(text, values)).rows as Row[];
  const operators = () => service.application.get(Operators, { strict: false });
  const known = (sub: string, groups: unknown, more: Record<string, unknown> = {}) => {
    const email = `${sub}@example.com`;
    canaries.add(email);
    provider.people.set(sub, { email, email_verified: true, groups, ...more });
  };
  const browserOf = (sub: string, groups: unknown, more: Record<string, unknown> = {}) => {
    known(sub, groups, more);
    return ssoBrowser(service, provider);
  };
  const find = async (email: string) =>
    (await operators().list(null, { limit: 50, after: null })).find((one) => one.email === email);
  const actionsOf = async (id: string | undefined) =>
    (
      await sql<{ did: string }>(
        `SELECT concat_ws(' ', action, reason) AS did FROM audit_entry
         WHERE operator_id = $1 ORDER BY id`,
        id,
      )
    ).map(({ did }) => did);

  it('creates a person with the roles of the groups, and audits it', async () => {
    const ana = browserOf('ana', ['admins', 'others']);
    const page = await ana.signIn('ana', `/console/sso?next=${people}`);
    expect([page.status, page.location]).toEqual([303, people]);
    expect((await ana.get(people)).text).toContain('ana@example.com');
    const person = await find('ana@example.com');
    expect(person).toMatchObject({ roleEverywhere: 'admin', state: 'active', isSso: true });
    expect(await actionsOf(person?.id)).toEqual([
      ...['create person by sso', 'give role admin sso', 'sign in by sso'],
    ]);
    const stored = await sql('SELECT email FROM operator WHERE id = $1', person?.id);
    expect(JSON.stringify(stored)).not.toContain('ana');
  });

  it('changes the roles with the groups, and takes them from whoever has none', async () => {
    const bia = browserOf('bia', ['admins']);
    await bia.signIn('bia');
    const first = bia.cookies.get(session) ?? '';
    known('bia', 'finance');
    bia.cookies.delete(session);
    await bia.signIn('bia');
    expect(await find('bia@example.com')).toMatchObject({
      ...{ roleEverywhere: null, roles: [{ role: 'analyst', account: { slug: 'main' } }] },
    });
    known('bia', ['elsewhere', 'others']);
    bia.cookies.delete(session);
    bia.there.cookies.clear();
    const { location } = await bia.get('/console/sso');
    const back = await bia.authenticate(location ?? '', 'bia');
    const refused = await bia.here.get(back, { 'accept-language': 'pt-BR' });
    expect([refused.status, refused.text]).toEqual([
      ...[403, expect.stringContaining('Você não está em nenhum grupo com acesso')],
    ]);
    const person = await find('bia@example.com');
    expect(person).toMatchObject({ roleEverywhere: null, roles: [] });
    expect((await actionsOf(person?.id)).slice(-2)).toEqual([
      ...['take role sso', 'refuse sign in by sso no_group'],
    ]);
    bia.cookies.set(session, first);
    expect((await bia.get('/console/sessions')).location).toMatch(/sign-in/);
  });

  it('lets nobody in who has no group, and knows them by no e-mail', async () => {
    const page = await browserOf('stranger', undefined).signIn('stranger');
    expect([page.status, await find('stranger@example.com')]).toEqual([403, undefined]);
    const entries = await sql(`SELECT * FROM audit_entry WHERE subject LIKE 'sso %'`);
    expect(JSON.stringify(entries)).not.toContain('stranger');
    expect(entries.length).toBeGreaterThan(1);
  });

  describe('the way back', () => {
    const begin = async (sub: string) => {
      const browser = browserOf(sub, ['admins']);
      const { location } = await browser.get('/console/sso');
      return { ...browser, url: location ?? '' };
    };

    it('is refused with a forged state, without its cookie, and a second time', async () => {
      const caio = await begin('caio');
      const back = await caio.authenticate(caio.url, 'caio');
      canaries.add(new URLSearchParams(back).get('code') ?? 'none');
      const forged = back.replace(/state=[^&]+/, 'state=forged');
      expect((await caio.get(forged)).status).toBe(400);
      expect((await visitorOf(service).get(back)).status).toBe(400);
      const cookies = new Map(caio.cookies);
      expect((await caio.get(back)).status).toBe(303);
      expect([...caio.cookies.keys()].filter((name) => flowCookie.test(name))).toEqual([]);
      for (const [name, value] of cookies) caio.cookies.set(name, value);
      expect((await caio.get(back)).status).toBe(400);
    });

    it('begins one session, even if the provider accepts a code twice', async () => {
      known('dani', ['admins']);
      const ofPeople = service.application.get(SsoPeople, { strict: false });
      const identity = {
        ...{ issuer: provider.issuer, subject: 'dani', email: null, isEmailVerified: false },
        ...{ name: 'dani', groups: ['admins'], authenticatedAt: null },
      };
      const flow = { id: newId(), userAgent: '' };
      const outcomes = [
        await ofPeople.signIn(identity, flow),
        await ofPeople.signIn(identity, flow),
      ];
      expect(outcomes).toEqual([
        { outcome: 'accepted', token: expect.any(String) },
        { outcome: 'refused', reason: 'expired' },
      ]);
    });

    it('is refused with the nonce of another way', async () => {
      const edu = await begin('edu');
      const url = edu.url.replace(/nonce=[^&]+/, 'nonce=forged');
      const page = await edu.get(await edu.authenticate(url, 'edu'));
      expect([page.status, edu.cookies.has(session)]).toEqual([400, false]);
    });

    it('is refused after ten minutes', async () => {
      const fabi = await begin('fabi');
      const box = service.application.get(SecretBox, { strict: false });
      const state = new URL(fabi.url).searchParams.get('state') ?? '';
      const [name = '', sealed = ''] =
        [...fabi.cookies].find(([cookie]) => flowCookie.test(cookie)) ?? [];
      const flow = JSON.parse(box.decrypt(sealed, ['sso.flow', state])) as { startedAt: number };
      const older = JSON.stringify({ ...flow, startedAt: flow.startedAt - 601 });
      fabi.cookies.set(name, box.encrypt(older, ['sso.flow', state]));
      const page = await fabi.get(await fabi.authenticate(fabi.url, 'fabi'));
      expect([page.status, page.text]).toEqual([400, expect.stringContaining('expired')]);
    });

    it('leads to no other site, and keeps two tabs apart', async () => {
      const gabi = browserOf('gabi', ['admins']);
      const evil = await gabi.get('/console/sso?next=https://evil.example');
      const good = await gabi.get('/console/sso?next=/console/sessions');
      const finish = async ({ location }: typeof evil) =>
        (await gabi.get(await gabi.authenticate(location ?? '', 'gabi'))).location;
      expect(await finish(good)).toBe('/console/sessions');
      expect(await finish(evil)).toBe('/console');
    });
  });

  describe('a person who was here before', () => {
    const invited = async (sub: string, role: 'admin' | 'analyst' = 'analyst') => {
      await sql('DELETE FROM sign_in_limit');
      const grant = { accountId: null, role };
      const { id, linkToken } = await operators().invite(commandLine, `${sub}@example.com`, grant);
      return { id, link: `/console/link/${linkToken}` };
    };
    const withPassword = (sub: string) =>
      visitorOf(service).post('/console/sign-in', {
        ...{ email: `${sub}@example.com`, password: goodPassword },
      });

    it('is not linked by an e-mail that the provider has not verified', async () => {
      const { id } = await invited('hugo');
      const page = await browserOf('hugo', ['admins'], { email_verified: false }).signIn('hugo');
      expect([page.status, page.text]).toEqual([403, expect.stringContaining('verified')]);
      expect(await find('hugo@example.com')).toMatchObject({ id, isSso: false });
    });

    it('is linked by a verified one, and has no password and no other role from then on', async () => {
      const { id, link } = await invited('iris', 'admin');
      await signInByLink(visitorOf(service), link);
      expect((await withPassword('iris')).status).toBe(303);
      const iris = browserOf('iris', ['finance']);
      expect((await iris.signIn('iris')).status).toBe(303);
      const person = { id, isSso: true, roleEverywhere: null, roles: [{ role: 'analyst' }] };
      expect(await find('iris@example.com')).toMatchObject(person);
      expect((await withPassword('iris')).status).toBe(401);
      const change = { current: '', new: 'another good password' };
      expect((await iris.submit('/console/password', change)).status).toBe(422);
      const role = { accountId: null, role: 'admin' } as const;
      await expect(operators().setRole(commandLine, id, role)).rejects.toThrow('Groups');
    });

    it('stays out when disabled', async () => {
      const { id } = await invited('julia');
      await operators().disable(commandLine, id, null);
      expect((await browserOf('julia', ['admins']).signIn('julia')).status).toBe(403);
      const kai = browserOf('kai', ['admins']);
      await kai.signIn('kai');
      await operators().disable(commandLine, (await find('kai@example.com'))?.id ?? '', null);
      expect((await kai.get('/console/sessions')).status).toBe(303);
      expect((await kai.signIn('kai')).status).toBe(403);
    });

    it('signs in with a password only as an admin of every account, and raises an alert', async () => {
      const lia = await invited('lia');
      const refused = await visitorOf(service).post(lia.link, { password: goodPassword });
      expect([refused.status, (await withPassword('lia')).status]).toEqual([403, 401]);
      const glass = await invited('glass', 'admin');
      const visitor = visitorOf(service);
      await signInByLink(visitor, glass.link);
      expect((await visitor.get(people)).status).toBe(200);
      expect(await actionsOf(glass.id)).toContain('sign in without sso');
      await service.application.get(AlertEvaluator, { strict: false }).evaluate();
      await sql('UPDATE alert_rule SET evaluated_at = NULL');
      await service.application.get(AlertEvaluator, { strict: false }).evaluate();
      const alerts = await sql(
        `SELECT a.state, a.severity FROM alert a JOIN alert_rule r ON r.id = a.rule_id
         WHERE r.condition_kind = 'local_sign_in' AND a.detail->>'operatorId' = $1`,
        glass.id,
      );
      expect(alerts).toEqual([{ state: 'firing', severity: 'critical' }]);
    });
  });

  describe('an action that must be confirmed', () => {
    const invite = { email: 'mel@example.com', role: 'viewer', where: 'here' };

    it('is confirmed at the provider, by a sign-in of that person that is new', async () => {
      const nina = browserOf('nina', ['admins']);
      await nina.signIn('nina');
      const first = await nina.submit(people, invite);
      const confirm = /href="(\/console\/sso\?confirm[^"]+)"/.exec(first.text)?.[1] ?? '';
      const start = confirm.replaceAll('&amp;', '&');
      const { location } = await nina.get(start);
      // Not asked to sign in anew, the provider says nothing of when that was.
      const silent = (location ?? '').replace(/&(prompt|max_age)=[^&]*/g, '');
      const old = await nina.get(await nina.authenticate(silent, 'nina'));
      expect([old.status, old.text]).toEqual([403, expect.stringContaining('just signed in')]);
      known('olga', ['admins']);
      nina.there.cookies.clear();
      expect((await nina.signIn('olga', start)).status).toBe(403);
      nina.there.cookies.clear();
      const before = nina.cookies.get(session);
      const confirmed = await nina.signIn('nina', start);
      expect([confirmed.status, confirmed.location]).toEqual([303, '/console']);
      expect(nina.cookies.get(session)).not.toBe(before);
      const held = Object.fromEntries(hiddenIn(first.text, people));
      expect((await nina.post(people, held)).status).toBe(200);
    });
  });

  it('ends the session here and at the provider', async () => {
    const paulo = browserOf('paulo', ['admins']);
    await paulo.signIn('paulo');
    const token = paulo.cookies.get(session) ?? '';
    const out = await paulo.submit('/console/sign-out');
    const url = new URL(out.location ?? '');
    expect([out.status, url.origin]).toEqual([303, provider.issuer]);
    expect(url.searchParams.get('id_token_hint')).toMatch(/^ey/);
    expect(out.headers.get('content-security-policy')).toContain(`'self' ${provider.issuer};`);
    paulo.cookies.set(session, token);
    expect((await paulo.get('/console/sessions')).location).toMatch(/sign-in/);
  });

  it('ends after the time that the settings give it', async () => {
    const quinn = browserOf('quinn', ['admins']);
    await quinn.signIn('quinn');
    const id = (await find('quinn@example.com'))?.id;
    const [row] = await sql<{ minutes: number }>(
      `SELECT round(extract(epoch FROM ends_at - created_at) / 60)::int AS minutes
       FROM operator_session WHERE operator_id = $1`,
      id,
    );
    expect(row).toEqual({ minutes: 480 });
    expect((await quinn.get('/console/sessions')).status).toBe(200);
    await sql('UPDATE operator_session SET ends_at = now() WHERE operator_id = $1', id);
    expect((await quinn.get('/console/sessions')).location).toMatch(/sign-in/);
  });

  it('works with another way to send the secret, and another algorithm', async () => {
    const client = {
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: 'RS256',
    };
    provider.serve(service, client, { conformIdTokenClaims: false });
    expect((await browserOf('rita', ['admins']).signIn('rita')).status).toBe(303);
    provider.serve(service);
    expect((await browserOf('rita', ['admins']).signIn('rita')).status).toBe(303);
  });

  it('says that the provider is down, and serves who is signed in', async () => {
    const sara = browserOf('sara', ['admins']);
    await sara.signIn('sara');
    const late = browserOf('sara', ['admins']);
    const { location } = await late.get('/console/sso');
    const back = await late.authenticate(location ?? '', 'sara');
    provider.goDown();
    expect((await late.get(back)).status).toBe(503);
    const page = await late.get('/console/sso');
    expect([page.status, page.text]).toEqual([503, expect.stringContaining('does not answer')]);
    expect((await sara.get(people)).status).toBe(200);
    provider.serve(service);
    expect((await late.signIn('sara')).status).toBe(303);
  });

  it('writes no e-mail, code, token or secret to the log', () => {
    const log = logged.join('');
    expect(log).toContain('single sign-on failed');
    expect(log).not.toMatch(/eyJ/);
    expect([...canaries].filter((canary) => log.includes(canary))).toEqual([]);
  });
});
