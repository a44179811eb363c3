// Single sign-on where people confirm actions with an authenticator of their own here, because the
// provider does not say when somebody signed in.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { codeOf, secretOf } from '../../support/console-visitor.js';
import {
  clientSecret,
  identityProvider,
  ssoBrowser,
  type IdentityProvider,
} from '../../support/identity-provider.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

let provider: IdentityProvider;
let service: ServiceApplication;

beforeAll(async () => {
  provider = await identityProvider();
  service = await serviceApplication({
    ...{ OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: 'concilia' },
    OIDC_CLIENT_SECRET: clientSecret,
    ...{ OIDC_GROUPS_CLAIM: 'realm_access.roles', OIDC_ROLES: 'staff=admin@main' },
    ...{ OIDC_STEP_UP: 'code', OIDC_TRUST_EMAILS: 'true' },
  });
  provider.serve(service);
});
afterAll(async () => {
  await service.stop();
  await provider.stop();
});

it('asks for a code after the provider, and again for what needs a recent one', async () => {
  provider.people.set('ana', { email: 'ana@example.com', realm_access: { roles: ['staff'] } });
  const ana = ssoBrowser(service, provider);
  const people = '/console/accounts/main/people';
  const first = await ana.signIn('ana', `/console/sso?next=${people}`);
  expect(first.location).toBe(`/console/authenticator?next=${encodeURIComponent(people)}`);
  expect((await ana.get(people)).location).toBe('/console/authenticator');
  const secret = secretOf((await ana.get('/console/authenticator')).text);
  const confirmed = await ana.submit('/console/authenticator', { code: codeOf(secret, -1) });
  expect(confirmed.status).toBe(200);
  expect((await ana.get(people)).text).toContain('ana@example.com');
  await ana.submit('/console/sign-out');
  const again = await ana.signIn('ana', `/console/sso?next=${people}`);
  expect(again.location).toBe(`/console/code?next=${encodeURIComponent(people)}`);
  const given = await ana.submit('/console/code', { code: codeOf(secret), next: people });
  expect([given.status, given.location]).toEqual([303, people]);
  const { rows } = await service.database.pool.query(
    `SELECT action, count(*)::int FROM audit_entry WHERE action LIKE 'sign in%' GROUP BY 1`,
  );
  expect(rows).toEqual([{ action: 'sign in by sso', count: 2 }]);
});
