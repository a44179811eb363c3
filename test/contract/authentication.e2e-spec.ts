import { bankUnderTest, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKey, slip, staticQr } from './samples.js';

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

const calls: [method: string, path: string, body?: unknown][] = [
  ['POST', '/baas/v1/charges', slip()],
  ['POST', '/baas/v1/charges/some-charge/pay'],
  ['PUT', '/baas/v1/charges/some-charge/expire'],
  ['POST', '/baas/api/v2/pix/qrcode/static', staticQr()],
  ['GET', '/baas/api/v1/transactions'],
  ['GET', '/baas/api/v2/transactions'],
];

describe.each(calls)('%s %s', (method, path, body) => {
  it.each([
    ['no key', null],
    ['a wrong key', 'not-a-key-of-this-bank'],
    ['an empty key', ''],
  ])('answers 401 to %s, before anything else is judged', async (_, apiKey) => {
    expectError(await bank.call(method, path, { apiKey, body, headers: newKey() }), 401);
    if (body) expectError(await bank.call(method, path, { apiKey, body: '{' }), 401);
  });
});

it("answers 404 to another account's charge, which stays as it was", async () => {
  if (!bank.otherApiKey) return;
  const request = slip();
  await bank.call('POST', '/baas/v1/charges', { body: request });
  const path = `/baas/v1/charges/${request.correlationId}`;
  const options = { apiKey: bank.otherApiKey };
  expectError(await bank.call('POST', `${path}/pay`, options), 404);
  expectError(await bank.call('PUT', `${path}/expire`, options), 404);
  expect((await bank.call('POST', `${path}/pay`)).status).toBe(200);
});

it('answers 404 in the same body to a path that it does not have', async () => {
  expectError(await bank.call('GET', '/baas/api/v9/nothing'), 404);
});
