import { bankUnderTest, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, slip, staticQr } from './samples.js';

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

const requests: [method: string, path: string, body?: unknown][] = [
  ['POST', '/baas/v1/charges', slip()],
  ['POST', '/baas/v1/charges/some-charge/pay'],
  ['PUT', '/baas/v1/charges/some-charge/expire'],
  ['POST', '/baas/api/v2/pix/qrcode/static', staticQr()],
  ['GET', '/baas/api/v1/transactions'],
  ['GET', '/baas/api/v2/transactions'],
];

describe.each(requests)('%s %s', (method, path, body) => {
  it.each([
    ['no key', null],
    ['a wrong key', 'not-a-key-of-this-bank'],
    ['an empty key', ''],
  ])('rejects a request with %s with 401, before it validates the request', async (_, apiKey) => {
    expectError(await bank.call(method, path, { apiKey, body, headers: newKeyHeader() }), 401);
    if (body) expectError(await bank.call(method, path, { apiKey, body: '{' }), 401);
  });
});

it("returns 404 for another account's charge, and does not change the charge", async () => {
  if (!bank.otherApiKey) return;
  const request = slip();
  await bank.call('POST', '/baas/v1/charges', { body: request });
  const path = `/baas/v1/charges/${request.correlationId}`;
  const options = { apiKey: bank.otherApiKey };
  expectError(await bank.call('POST', `${path}/pay`, options), 404);
  expectError(await bank.call('PUT', `${path}/expire`, options), 404);
  expect((await bank.call('POST', `${path}/pay`)).status).toBe(200);
});

it('returns 404 with the error body for an unknown path', async () => {
  expectError(await bank.call('GET', '/baas/api/v9/nothing'), 404);
});
