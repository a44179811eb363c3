// Rules that the contract leaves open: the sandbox bank has each as a mode, with both values.
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import {
  customer,
  dayFromToday,
  expectError,
  finalBeneficiary,
  newKeyHeader,
  pixSlip,
  slip,
  staticQr,
} from './samples.js';
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

it('issues charges to a valid CPF or CNPJ only, or to any document', async () => {
  const payerWith = (document: string) => ({ payer: { ...slip().payer, document } });
  for (const document of ['529.982.247-25', '11222333000181', '12.ABC.345/01DE-35'])
    expect((await issue(slip(payerWith(document)))).status).toBe(200);
  for (const document of ['52998224724', '11111111111', '12.ABC.345/01DE-36', 'passport'])
    expectError(await issue(slip(payerWith(document))), 400, '$.payer.document');
  const guarantor = { finalBeneficiary: { ...finalBeneficiary, document: '1' } };
  expectError(await issue(slip(guarantor)), 400, '$.finalBeneficiary.document');
  await setModes({ payerDocuments: 'text' });
  expect((await issue(slip(payerWith('passport')))).status).toBe(200);
  expect((await issue(slip(guarantor))).status).toBe(200);
});

it('issues slips for authorized emitters only, and QR codes for any account', async () => {
  await setModes({ accountsWithoutSlips: ['1000001'] });
  for (const request of [slip(), pixSlip()]) {
    const refused = await issue(request);
    expectError(refused, 422);
    expect(refused.body.code).toBe('not_a_slip_emitter');
  }
  const { status } = await bank.call('POST', '/baas/api/v2/pix/qrcode/static', {
    body: staticQr(),
    headers: newKeyHeader(),
  });
  expect(status).toBe(200);
  const apiKey = bank.otherApiKey;
  const other = await bank.call('POST', '/baas/v1/charges', { body: slip(), apiKey });
  expect(other.status).toBe(200);
  await setModes({ accountsWithoutSlips: [] });
  expect((await issue(slip())).status).toBe(200);
});

it('pays keys of holders at other banks from its fixtures', async () => {
  const { body: fixtures } = await bank.call('GET', '/sandbox/fixtures');
  const keys = fixtures.dictKeys.map(({ key }: { key: string }) => key);
  for (const key of ['ana@pagadores.example', '12ABC34501DE35']) {
    expect(keys).toContain(key);
    const looked = await bank.call('POST', '/baas/api/v2/pix/dict/payment-initialization', {
      body: { key },
    });
    expect(looked.body.beneficiary.participant.ispb).toBe('88888888');
    const sent = await bank.call('POST', '/baas/api/v2/transfers', {
      body: keyTransfer(looked.body.endToEndId),
      headers: newKeyHeader(),
    });
    expect(sent.body).toMatchObject({ type: 'PIX_KEY', status: 'PIX_PROCESSING' });
  }
});

it('ends the statement before 03:00:00.000Z of endDate, or with it', async () => {
  const fresh = await sandboxUnderTest();
  try {
    const setClock = (now: string) =>
      fresh.call('POST', '/sandbox/clock', { body: { now, frozen: true } });
    const amounts = async (query: string) =>
      (await fresh.call('GET', `/baas/api/v2/transactions?${query}`)).body.map(
        ({ amount }: { amount: number }) => amount,
      );
    for (const [at, amount] of [
      ['2037-03-05T02:59:59.999Z', 1],
      ['2037-03-05T03:00:00.000Z', 2],
      ['2037-03-05T03:00:00.001Z', 3],
    ] as const) {
      await setClock(at);
      await fresh.call('POST', '/sandbox/pix/received', { body: { amount } });
    }
    const [day, next] = [
      'startDate=2037-03-04&endDate=2037-03-05',
      'startDate=2037-03-05&endDate=2037-03-06',
    ];
    expect([await amounts(day), await amounts(next)]).toEqual([[1], [3, 2]]);
    await fresh.call('PATCH', '/sandbox/modes', { body: { endDate: 'inclusive' } });
    expect([await amounts(day), await amounts(next)]).toEqual([
      [2, 1],
      [3, 2],
    ]);
  } finally {
    await fresh.stop();
  }
});
