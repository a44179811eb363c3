// The sandbox's own rules and its control plane. These tests run only against a sandbox, never a
// real bank.
import { parseBankSlip } from '../../src/brazil/bank-slip.js';
import { parseUtilityBill } from '../../src/brazil/utility-bill.js';
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, pixSlip, slip, staticQr } from './samples.js';

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest();
});
afterAll(() => bank.stop());

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  bank.call('POST', path, { body, headers });
const receive = (body: unknown) => post('/sandbox/pix/received', body);
const charge = (body: unknown) => post('/baas/v1/charges', body);
const qr = (body: unknown, headers = newKeyHeader()) =>
  post('/baas/api/v2/pix/qrcode/static', body, headers);
const onStatement = async (nsu: number, apiKey = 'sandbox-dev-key') => {
  const response = await bank.call('GET', `/baas/api/v2/transactions?nsu=${nsu}`, { apiKey });
  return response.body[0];
};

it('lists its fixtures, with valid codes and keys', async () => {
  const { body } = await bank.call('GET', '/sandbox/fixtures');
  expect(body.accounts).toEqual([
    { branch: '0001', number: '1000001', key: 'sandbox-dev-key' },
    { branch: '0001', number: '1000002', key: 'sandbox-dev-key-2' },
    { branch: '0001', number: '1000003', key: 'sandbox-dev-key-3' },
  ]);
  expect(body.dictKeys).toHaveLength(14);
  const own = ['11222333000181', '12345678909', '27486539000159'];
  const documents = body.dictKeys.map(
    ({ holder }: { holder: { document: string } }) => holder.document,
  );
  expect(documents.filter((document: string) => !own.includes(document))).toEqual(
    expect.arrayContaining(['31840295732', '12ABC34501DE35']),
  );
  expect(body.dictKeys[0]).toEqual({
    key: expect.any(String),
    holder: { name: expect.any(String), document: expect.any(String) },
  });
  const kinds = new Set(
    body.bills.map((bill: { type: string; status: string }) => bill.type + bill.status),
  );
  expect(kinds.size).toBe(8);
  for (const bill of body.bills) {
    const parse = bill.type === 'TAXES' ? parseUtilityBill : parseBankSlip;
    expect(parse(bill.barCode).ok && parse(bill.digitableLine).ok).toBe(true);
  }
});

it('starts with empty statements and its opening balances', async () => {
  const fresh = await sandboxUnderTest();
  try {
    expect((await fresh.call('GET', '/baas/api/v2/transactions')).body).toEqual([]);
    const { body } = await fresh.call('GET', '/sandbox/ledger');
    expect(body).toEqual({
      accounts: [
        { branch: '0001', number: '1000001', balance: 100_000 },
        { branch: '0001', number: '1000002', balance: 5_000 },
        { branch: '0001', number: '1000003', balance: 50_000 },
      ],
      movements: [],
      audit: { clean: true, problems: [] },
    });
  } finally {
    await fresh.stop();
  }
});

describe('POST /sandbox/pix/received', () => {
  it('credits a QR code of the account whose txid is empty, as one without a charge', async () => {
    const payloadPix =
      '00020126580014br.gov.bcb.pix01366e6f2d5c-1a0b-4c3d-8e5f-00000000000152040000530398654045.00' +
      '5802BR5910Empresa Um6009SAO PAULO62040500630458C0';
    const { status, body } = await receive({ payloadPix });
    expect(status).toBe(200);
    expect(body).toMatchObject({ account: '1000001', amount: 5, isCredit: true });
  });

  it('pays a QR code by its payload, and refuses an amount other than its fixed amount', async () => {
    const request = staticQr({ amount: 12.34 });
    const { payloadPix } = (await qr(request)).body;
    expectError(await receive({ payloadPix, amount: 12.33 }), 422);
    const { status, body } = await receive({ payloadPix });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      account: '1000001',
      amount: 12.34,
      isCredit: true,
      type: 'CREDIT_PIX',
      correlationId: request.correlationId,
    });
    const line = await onStatement(body.nsu);
    expect(line).toMatchObject({ correlationId: request.correlationId, createdAt: body.createdAt });
    expect(line.proof).toMatchObject({
      endToEndId: body.endToEndId,
      type: 'PIX_QR_CODE_STATIC',
    });
  });

  it('requires an amount for a QR code without a fixed amount', async () => {
    const request = staticQr({ amount: undefined });
    const { payloadPix } = (await qr(request)).body;
    expectError(await receive({ payloadPix }), 400, '$.amount');
    expect((await receive({ payloadPix, amount: 0.01 })).body.amount).toBe(0.01);
  });

  it('pays a charge by its correlationId, with the amount due or another amount, repeatedly', async () => {
    const request = pixSlip();
    await charge(request);
    const { correlationId } = request;
    expect((await receive({ correlationId, amount: 1 })).body.amount).toBe(1);
    expect((await receive({ correlationId })).body.amount).toBe(150.75);
    const { body } = await bank.call('GET', `/baas/v1/charges/${correlationId}`);
    expect(body.status).toBe('Paid');
    expect(body.payments.map(({ amount }: { amount: number }) => amount)).toEqual([150.75, 1]);
  });

  it('credits the account of a Pix key, without a correlationId', async () => {
    const payer = { name: 'Ana Paula', document: '111.444.777-35' };
    const { body } = await receive({ key: 'MARIA@pessoa-dois.example', amount: 7, payer });
    expect(body).toMatchObject({ account: '1000002', amount: 7, correlationId: null });
    const line = await onStatement(body.nsu, 'sandbox-dev-key-2');
    expect(line).not.toHaveProperty('correlationId');
    expect(line.proof).toMatchObject({
      type: 'PIX_KEY',
      payer: { holder: { name: 'Ana Paula', document: '11144477735', type: 'NATURAL' } },
    });
  });

  it('credits an unexpected Pix to the named account, by default to the account of the API key', async () => {
    expect((await receive({ amount: 5 })).body.account).toBe('1000001');
    expect((await receive({ amount: 5, account: '1000002' })).body.account).toBe('1000002');
  });

  it('refuses a Pix that cannot be paid', async () => {
    const request = slip();
    await charge(request);
    expectError(await receive({ correlationId: request.correlationId }), 422);
    expectError(await receive({ correlationId: 'never-issued' }), 404);
    expectError(await receive({ key: 'nobody@nowhere.example', amount: 1 }), 422);
    expectError(await receive({ payloadPix: 'not a payload', amount: 1 }), 400, '$.payloadPix');
    expectError(await receive({ account: '9999999', amount: 1 }), 404);
    expectError(await receive({}), 400, '$.amount');
    expectError(await receive({ key: 'a', correlationId: 'b', amount: 1 }), 400, '$');
    const anonymous = await bank.call('POST', '/sandbox/pix/received', {
      apiKey: null,
      body: { amount: 1 },
    });
    expectError(anonymous, 401);
  });
});

describe('POST /sandbox/transactions', () => {
  it('posts any line, and refuses a debit above the balance', async () => {
    const fee = { amount: 1.5, isCredit: false, typeName: 'DEBIT_SOME_FEE', notes: 'Tarifa' };
    const { body } = await post('/sandbox/transactions', fee);
    expect(body).toMatchObject({ amount: 1.5, isCredit: false, type: 'DEBIT_SOME_FEE' });
    expect(await onStatement(body.nsu)).toMatchObject({
      amount: 1.5,
      notes: 'Tarifa',
      type: { name: 'DEBIT_SOME_FEE', isCredit: false },
    });
    const refused = await post('/sandbox/transactions', { ...fee, amount: 99_999_999 });
    expectError(refused, 422);
    expect(refused.body.code).toBe('insufficient_funds');
  });
});

it('reads the ledger by account and after an nsu, with a clean audit', async () => {
  const { nsu } = (await receive({ amount: 2, account: '1000002' })).body;
  const { body } = await bank.call('GET', `/sandbox/ledger?account=1000002&after=${nsu - 1}`);
  expect(body.accounts.map(({ number }: { number: string }) => number)).toEqual(['1000002']);
  expect(body.movements.map((movement: { nsu: number }) => movement.nsu)).toEqual([nsu]);
  expect(body.audit).toEqual({ clean: true, problems: [] });
});

describe('a repeat', () => {
  it('of a charge gets the first response, and 409 with another body', async () => {
    const request = slip();
    const responses = await Promise.all(Array.from({ length: 20 }, () => charge(request)));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expectError(await charge({ ...request, Amount: 150.76 }), 409);
  });

  it('of an ourNumber in wallet 121 is 409', async () => {
    const request = slip({ ourNumber: '77' });
    const responses = await Promise.all(Array.from({ length: 20 }, () => charge(request)));
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expectError(await charge(slip({ ourNumber: '77' })), 409);
  });

  it('of a QR code gets the first response by its key, and 422 with another body', async () => {
    const [request, headers] = [staticQr(), newKeyHeader()];
    const responses = await Promise.all(Array.from({ length: 20 }, () => qr(request, headers)));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expectError(await qr({ ...request, amount: 1 }, headers), 422);
    expect((await qr(request)).text).toBe(responses[0]?.text);
  });

  it('of the payment of a slip is 409, and of a static QR code is another payment', async () => {
    const [once, often] = [pixSlip(), staticQr()];
    await Promise.all([charge(once), qr(often)]);
    const pay = ({ correlationId }: { correlationId: string }) =>
      bank.call('POST', `/baas/v1/charges/${correlationId}/pay`);
    const paid = await Promise.all([pay(once), pay(once), pay(once)]);
    expect(paid.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await pay(often)).status).toBe(200);
    expect((await pay(often)).status).toBe(200);
  });
});

describe('a charge that cannot be issued', () => {
  it('with a Pix key of another account or of no account is 422', async () => {
    expectError(await qr(staticQr({ pixKey: '12345678909' })), 422);
    expectError(await qr(staticQr({ pixKey: 'no key at all' })), 422);
  });

  it('with a due date, amount or ourNumber that the bar code cannot encode is 400', async () => {
    expectError(await charge(slip({ dueDate: '2050-01-01' })), 400, '$.dueDate');
    expectError(await charge(slip({ Amount: 100_000_000_000 })), 400, '$.Amount');
    expectError(await charge(pixSlip({ Amount: 10_000_000_000 })), 400, '$.Amount');
    expectError(await charge(slip({ ourNumber: 'A1' })), 400, '$.ourNumber');
  });

  it('refuses to expire a static QR code and a paid slip', async () => {
    const [open, paid] = [staticQr(), slip()];
    await Promise.all([qr(open), charge(paid)]);
    await bank.call('POST', `/baas/v1/charges/${paid.correlationId}/pay`);
    const expire = (id: string) => bank.call('PUT', `/baas/v1/charges/${id}/expire`);
    expectError(await expire(open.correlationId), 422);
    expectError(await expire(paid.correlationId), 409);
  });
});

it('serves health checks without a key, and an API reference with every route', async () => {
  const options = { apiKey: null };
  expect((await bank.call('GET', '/health/live', options)).status).toBe(200);
  expect((await bank.call('GET', '/health/ready', options)).status).toBe(200);
  const { body } = await bank.call('GET', '/openapi.json', options);
  expect(Object.keys(body.paths)).toEqual(
    expect.arrayContaining(['/baas/v1/charges', '/sandbox/ledger', '/baas/api/v1/webhooks/{id}']),
  );
});
