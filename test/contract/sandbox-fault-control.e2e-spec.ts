// How faults are added and removed, and the rate limit.
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, slip } from './samples.js';

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest();
});
afterAll(() => bank.stop());
afterEach(() => bank.call('DELETE', '/sandbox/faults'));

const add = (body: unknown) => bank.call('POST', '/sandbox/faults', { body });
const list = async () => (await bank.call('GET', '/sandbox/faults')).body.faults;
const statement = (apiKey = 'sandbox-dev-key') =>
  bank.call('GET', '/baas/api/v2/transactions', { apiKey });

describe('POST /sandbox/faults', () => {
  it('returns the fault with defaults for omitted fields', async () => {
    const { status, body } = await add({ endpoint: 'charges', kind: 'error-after-effect' });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      endpoint: 'charges',
      kind: 'error-after-effect',
      method: null,
      times: null,
      probability: null,
      seed: 1,
      code: null,
      delayMs: null,
      chances: 0,
      fired: 0,
    });
  });

  it('returns the fault with the requested fields', async () => {
    const drawn = { endpoint: '*', kind: 'slow', probability: 0.25, seed: 77, delayMs: 600_000 };
    expect((await add(drawn)).body).toMatchObject(drawn);
    const counted = { endpoint: 'lookup', kind: 'empty', times: 3, method: 'POST', delayMs: 0 };
    expect((await add(counted)).body).toMatchObject(counted);
    expect((await add({ ...drawn, probability: 0 })).body.probability).toBe(0);
    expect((await add({ ...drawn, probability: 1e-7 })).body.probability).toBe(1e-7);
  });

  it.each([
    [{ endpoint: 'elsewhere' }, '$.endpoint'],
    [{ endpoint: undefined }, '$.endpoint'],
    [{ kind: 'explode' }, '$.kind'],
    [{ times: 0 }, '$.times'],
    [{ times: 1.5 }, '$.times'],
    [{ times: '1' }, '$.times'],
    [{ probability: 1.01 }, '$.probability'],
    [{ probability: -0.1 }, '$.probability'],
    [{ probability: '0.5' }, '$.probability'],
    [{ times: 1, probability: 0.5 }, '$.probability'],
    [{ seed: 0.5 }, '$.seed'],
    [{ delayMs: -1 }, '$.delayMs'],
    [{ delayMs: 600_001 }, '$.delayMs'],
    [{ method: 'HEAD' }, '$.method'],
    [{ kind: 'webhook-lost', method: 'POST' }, '$.method'],
  ])('refuses %j', async (changes, path) => {
    const fault = { endpoint: 'charges', kind: 'slow', ...changes };
    expectError(await add(fault), 400, path);
    expect(await list()).toEqual([]);
  });

  it('refuses a number that is too large, and a missing body', async () => {
    const text = '{"endpoint":"*","kind":"slow","probability":1e400}';
    expectError(await add(text), 400, '$.probability');
    expectError(await add(undefined), 400, '$');
  });

  it('refuses an endpoint at which the kind can never fire, and lists the possible ones', async () => {
    const response = await add({ endpoint: 'charges', kind: 'page-shift' });
    expectError(response, 400, '$.endpoint');
    expect(response.body.errors['$.endpoint'][0]).toContain('transactions, *');
    expectError(await add({ endpoint: 'lookup', kind: 'webhook-lost' }), 400, '$.endpoint');
    expect((await add({ endpoint: '*', kind: 'page-shift' })).status).toBe(200);
    expect((await add({ endpoint: 'refunds', kind: 'webhook-lost' })).status).toBe(200);
  });

  it('requires an API key, like the whole control plane', async () => {
    for (const method of ['POST', 'GET', 'DELETE'])
      expectError(await bank.call(method, '/sandbox/faults', { apiKey: null }), 401);
  });
});

it('counts chances and firings, and uses the next fault of the kind when one is used up', async () => {
  await add({ endpoint: 'transactions', kind: 'error-before-effect', times: 1 });
  await add({ endpoint: '*', kind: 'error-before-effect', times: 1 });
  const statuses = [];
  for (let call = 0; call < 3; call += 1) statuses.push((await statement()).status);
  expect(statuses).toEqual([500, 500, 200]);
  expect(await list()).toMatchObject([
    { endpoint: 'transactions', chances: 3, fired: 1 },
    { endpoint: '*', chances: 2, fired: 1 },
  ]);
});

it('removes one fault or all', async () => {
  const { id } = (await add({ endpoint: '*', kind: 'garbage' })).body;
  await add({ endpoint: '*', kind: 'error-before-effect' });
  await add({ endpoint: '*', kind: 'error-before-effect' });
  const remove = (path = '') => bank.call('DELETE', `/sandbox/faults${path}`);
  expect((await remove(`/${id}`)).body).toEqual({ removed: 1 });
  expectError(await remove(`/${id}`), 404);
  expect(await list()).toHaveLength(2);
  expect((await statement()).status).toBe(500);
  expect((await remove()).body).toEqual({ removed: 2 });
  expect((await remove()).body).toEqual({ removed: 0 });
  expect((await statement()).status).toBe(200);
});

describe('the rate limit', () => {
  const limit = (rateLimitPerSecond: number | null) =>
    bank.call('PATCH', '/sandbox/modes', { body: { rateLimitPerSecond } });
  afterEach(() => limit(null));

  it('refuses requests above it with the seconds to wait, before any effect', async () => {
    await limit(2);
    const requests = Array.from({ length: 30 }, () => slip());
    const responses = await Promise.all(
      requests.map((body) => bank.call('POST', '/baas/v1/charges', { body })),
    );
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(2);
    for (const response of refused) {
      expectError(response, 429);
      expect(response.headers.get('retry-after')).toBe('1');
    }
    await limit(null);
    const found = await Promise.all(
      requests.map(({ correlationId }) => bank.call('GET', `/baas/v1/charges/${correlationId}`)),
    );
    expect(found.map(({ status }) => status === 200)).toEqual(
      responses.map(({ status }) => status === 200),
    );
  });

  it('applies per account, and not to the control plane or the simulations', async () => {
    const request = slip();
    await bank.call('POST', '/baas/v1/charges', { body: request });
    await limit(1);
    const responses = await Promise.all(Array.from({ length: 10 }, () => statement()));
    expect(responses.map(({ status }) => status)).toContain(429);
    expect((await statement('sandbox-dev-key-2')).status).toBe(200);
    expect((await bank.call('GET', '/sandbox/ledger')).status).toBe(200);
    const path = `/baas/v1/charges/${request.correlationId}/expire`;
    expect((await bank.call('PUT', path)).status).toBe(200);
  });

  it('does not count requests without a key', async () => {
    await limit(1);
    for (let call = 0; call < 3; call += 1)
      expect((await bank.call('GET', '/baas/api/v2/transactions', { apiKey: null })).status).toBe(
        401,
      );
    expect((await statement()).status).toBe(200);
  });
});
