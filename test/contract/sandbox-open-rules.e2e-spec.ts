// Rules that the contract leaves open: the sandbox bank has each as a mode, with both values.
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { customer, dayFromToday, expectError, newKeyHeader, pixSlip, slip } from './samples.js';
import { batchItem, keyTransfer } from './transfer-samples.js';

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest();
});
afterAll(() => bank.stop());

const setModes = async (body: object) =>
  expect((await bank.call('PATCH', '/sandbox/modes', { body })).status).toBe(200);
const issue = (body: object) => bank.call('POST', '/baas/v1/charges', { body });
const fineOf = (type: string) => ({
  lateFine: { type, date: dayFromToday(11), amount: 2 },
});

it('issues only Fixed and Percentage adjustments, or any type without changing the amount', async () => {
  expectError(await issue(pixSlip(fineOf('Tiered'))), 400, '$.lateFine.type');
  await setModes({ adjustmentTypes: 'any' });
  const request = pixSlip({ ...fineOf('Tiered'), latePayment: undefined, discount: undefined });
  expect((await issue(request)).status).toBe(200);
  const paid = await bank.call('POST', `/baas/v1/charges/${request.correlationId}/pay`);
  expect(paid.body.amount).toBe(request.Amount);
});

it('issues adjustments with BANKSLIP_PIX only, or with BANKSLIP too', async () => {
  const fixed = { type: 'Fixed', items: [{ date: dayFromToday(5), amount: 0.75 }] };
  const request = slip({ discount: fixed });
  expectError(await issue(request), 400, '$.discount');
  await setModes({ slipAdjustments: 'any' });
  expect((await issue(request)).status).toBe(200);
  const paid = await bank.call('POST', `/baas/v1/charges/${request.correlationId}/pay`);
  expect(paid.body.amount).toBe(request.Amount - 0.75);
});

it('begins a transfer with a look-up of the payer, or of any account', async () => {
  const { body } = await bank.call('POST', '/baas/api/v2/pix/dict/payment-initialization', {
    body: { key: '11222333000181' },
    apiKey: bank.otherApiKey,
  });
  const send = () =>
    bank.call('POST', '/baas/api/v2/transfers', {
      body: keyTransfer(body.endToEndId),
      headers: newKeyHeader(),
    });
  const refused = await send();
  expectError(refused, 422);
  expect(refused.body.code).toBe('look_up_not_found');
  await setModes({ lookupAccount: 'any' });
  expect((await send()).body).toMatchObject({ type: 'PIX_KEY', endToEndId: body.endToEndId });
  expect((await send()).body.code).toBe('look_up_used');
});

it('accepts repeated externalIds in a batch, or refuses them', async () => {
  const item = batchItem();
  const send = () =>
    bank.call('POST', '/baas/v1/transfers/batch', {
      body: [item, batchItem(), item],
      headers: newKeyHeader(),
    });
  expect((await send()).status).toBe(200);
  await setModes({ batchExternalIds: 'unique' });
  expectError(await send(), 400, '$[2].externalId');
});

it('accepts verification codes of 4 to 8 digits, or of any length', async () => {
  const open = (codeVerification: string) =>
    bank.call('POST', '/v1/customers', {
      body: customer({ phone: { ddd: '11', number: '987654321', codeVerification } }),
      headers: { 'x-service-partner-key': 'sandbox-dev-partner' },
      apiKey: null,
    });
  for (const code of ['123', '123456789', 'a1b2c3'])
    expectError(await open(code), 400, '$.phone.codeVerification');
  await setModes({ verificationCodes: 'any' });
  for (const code of ['123', '123456789', 'a1b2c3']) expect((await open(code)).status).toBe(200);
});
