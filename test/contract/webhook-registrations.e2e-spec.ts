import { bankUnderTest, type BankUnderTest } from './bank-under-test.js';
import { expectError } from './samples.js';

// The bank offers registrations, the contract does not. The service offers them too, and shows an
// authorization only to the caller that sends it: `test/integration/webhooks/relays.spec.ts`.
const describeAtBank = process.env.CONTRACT_WITHOUT_WEBHOOKS ? describe.skip : describe;

describeAtBank('/baas/api/v1/webhooks', () => {
  let bank: BankUnderTest;
  const path = '/baas/api/v1/webhooks';
  const registration = (changes: Record<string, unknown> = {}) => ({
    eventType: 'TRANSFER_INTERNAL_DEBITED',
    url: 'https://hooks.client.example/bank/debited',
    authorizationScheme: 'HEADER',
    authorization: 'x-webhook-key: a-secret',
    ...changes,
  });
  const register = (body: unknown) => bank.call('POST', path, { body });

  beforeAll(async () => {
    bank = await bankUnderTest();
    // An interrupted run may have left a registration.
    const { body } = await bank.call('GET', path);
    for (const { id, eventType } of body as { id: string; eventType: string }[])
      if (eventType === registration().eventType) await bank.call('DELETE', `${path}/${id}`);
  });
  afterAll(() => bank.stop());

  it('creates, returns, changes and deletes the one registration of an event type', async () => {
    const created = await register(registration());
    expect(created.status).toBe(200);
    const { id } = created.body;
    expect(created.body).toMatchObject({ id: expect.any(String), ...registration() });

    expectError(await register(registration({ url: 'https://other.example/' })), 409);
    expect((await bank.call('GET', path)).body).toContainEqual(created.body);
    expect((await bank.call('GET', `${path}/${id}`)).body).toEqual(created.body);

    const changes = {
      url: 'http://127.0.0.1:9/new',
      authorizationScheme: 'BEARER',
      authorization: 'token',
    };
    const changed = await bank.call('PATCH', `${path}/${id}`, { body: changes });
    expect(changed.body).toMatchObject({ id, eventType: 'TRANSFER_INTERNAL_DEBITED', ...changes });
    expect((await bank.call('GET', `${path}/${id}`)).body).toEqual(changed.body);

    expect((await bank.call('DELETE', `${path}/${id}`)).status).toBe(200);
    expectError(await bank.call('GET', `${path}/${id}`), 404);
    expectError(await bank.call('DELETE', `${path}/${id}`), 404);
    expectError(await bank.call('PATCH', `${path}/${id}`, { body: changes }), 404);
    expect((await bank.call('GET', path)).text).not.toContain(id);
  });

  it.each([
    ['an unknown event type', { eventType: 'EVERYTHING' }, '$.eventType'],
    ['an invalid URL', { url: 'not a url' }, '$.url'],
    ['a URL that is not http', { url: 'ftp://files.example/' }, '$.url'],
    ['a URL with a user', { url: 'http://user:word@hooks.client.example/' }, '$.url'],
    ['a URL with a leading space', { url: ' http://hooks.client.example/' }, '$.url'],
    ['an unknown scheme', { authorizationScheme: 'HMAC' }, '$.authorizationScheme'],
    ['a header without a name', { authorization: 'secret' }, '$.authorization'],
    [
      'a scheme without its secret',
      { authorizationScheme: 'BEARER', authorization: undefined },
      '$.authorization',
    ],
  ])('rejects %s', async (_, changes, errorPath) => {
    expectError(await register(registration(changes)), 400, errorPath);
  });

  it("returns 404 for another account's registration", async () => {
    if (!bank.otherApiKey) return;
    const { body } = await register(registration());
    const otherAccount = { apiKey: bank.otherApiKey };
    expect((await bank.call('GET', path, otherAccount)).text).not.toContain(body.id);
    expectError(await bank.call('GET', `${path}/${body.id}`, otherAccount), 404);
    expectError(await bank.call('DELETE', `${path}/${body.id}`, otherAccount), 404);
    expectError(await bank.call('PATCH', `${path}/${body.id}`, { ...otherAccount, body: {} }), 404);
    expect((await bank.call('DELETE', `${path}/${body.id}`)).status).toBe(200);
  });

  it('returns 404 for a malformed id', async () => {
    expectError(await bank.call('GET', `${path}/1`), 404);
  });
});
