import { parseBankSlip } from '../../src/brazil/bank-slip.js';
import { parseBrCode } from '../../src/brazil/br-code.js';
import { bankUnderTest, eventually, type BankUnderTest } from './bank-under-test.js';
import { dayFromToday, expectError, finalBeneficiary, pixSlip, slip } from './samples.js';

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

const create = (body: unknown) => bank.call('POST', '/baas/v1/charges', { body });
const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z?$/);

describe('POST /baas/v1/charges', () => {
  it('issues a conventional slip with an ourNumber, and codes with the requested amount and date', async () => {
    const request = slip({ Amount: 1234.56 });
    const { status, body } = await create(request);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      type: 'BANKSLIP',
      amount: 1234.56,
      yourNumber: request.yourNumber,
      ourNumber: expect.stringMatching(/^.+$/),
      correlationId: request.correlationId,
      dueDate: request.dueDate,
      payer: request.payer,
      status: 'Pending',
      createdAt: timestamp,
      updatedAt: timestamp,
    });
    const barCode = parseBankSlip(body.barCode, request.dueDate);
    const line = parseBankSlip(body.digitableLine, request.dueDate);
    expect(barCode).toEqual(line);
    expect(line).toMatchObject({
      ok: true,
      slip: { amountCents: 123_456n, dueDate: request.dueDate },
    });
  });

  it('returns the ourNumber of an express slip', async () => {
    const ourNumber = String(Date.now()).slice(-11);
    const { status, body } = await create(slip({ ourNumber }));
    expect(status).toBe(200);
    expect(body).toMatchObject({ type: 'BANKSLIP', ourNumber, status: 'Pending' });
  });

  it.each(['BANKSLIP', 'BANKSLIP_PIX'])('accepts a finalBeneficiary with %s', async (type) => {
    expect((await create(slip({ type, finalBeneficiary }))).status).toBe(200);
  });

  it('returns a slip with a QR code in the shape of a static Pix charge', async () => {
    const request = pixSlip();
    const { status, body } = await create(request);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      type: 'PIX_STATIC',
      correlationId: request.correlationId,
      amount: 150.75,
      status: 'Created',
      payments: [],
      createdAt: timestamp,
      updatedAt: timestamp,
    });
    expect(typeof body.description).toBe('string');
    const info = Object.fromEntries(
      body.additionalInfo.map(({ key, value }: { key: string; value: string }) => [key, value]),
    );
    expect(info).toMatchObject({
      YourNumber: request.yourNumber,
      OurNumber: expect.any(String),
      DigitableLine: expect.any(String),
    });
    expect(parseBankSlip(info.DigitableLine, request.dueDate as string)).toMatchObject({
      ok: true,
      slip: { amountCents: 15_075n },
    });
    expect(parseBrCode(body.qrCode).ok).toBe(true);
  });

  it.each(['2026-02-30', 'tomorrow', '31/12/2026', '', 20261231])(
    'rejects the dueDate %p at $.dueDate',
    async (dueDate) => expectError(await create(slip({ dueDate })), 400, '$.dueDate'),
  );

  it.each(['0', '-1', '10.005', '"ten"', 'null', '1e400'])(
    'rejects the amount %s at $.Amount',
    async (amount) => {
      const text = JSON.stringify(slip()).replace('150.75', amount);
      expectError(await create(text), 400, '$.Amount');
    },
  );

  it.each(['type', 'correlationId', 'dueDate', 'Amount', 'payer'])(
    'rejects a charge without %s',
    async (field) => expectError(await create(slip({ [field]: undefined })), 400, `$.${field}`),
  );

  it('takes one spelling of Amount, and rejects two', async () => {
    const { status, body } = await create(slip({ Amount: undefined, amount: 1 }));
    expect([status, body.amount]).toEqual([200, 1]);
    expectError(await create(slip({ amount: 1 })), 400, '$');
  });

  it('rejects a number in place of an object', async () => {
    const { payer } = slip();
    const invalidPayer = { ...payer, phone: 7, address: 1.5 };
    const response = await create(slip({ payer: invalidPayer }));
    expectError(response, 400, '$.payer.phone');
    expectError(response, 400, '$.payer.address');
  });

  it('rejects a type that is not in the contract', async () =>
    expectError(await create(slip({ type: 'INVOICE' })), 400, '$.type'));

  it('rejects an ourNumber for a slip with a QR code', async () =>
    expectError(await create(pixSlip({ ourNumber: '123' })), 400, '$.ourNumber'));

  it.each(['{', '', '[1,', 'ten', '{"type":"BANKSLIP"'])(
    'rejects the body %p, which is not JSON',
    async (text) => {
      const headers = { 'content-type': 'application/json' };
      expectError(await bank.call('POST', '/baas/v1/charges', { body: text, headers }), 400);
    },
  );

  it('returns amounts to the cent', async () => {
    for (const amount of ['0.01', '8.95', '1.1', '99999999.99']) {
      const text = JSON.stringify(slip()).replace('150.75', amount);
      const response = await create(text);
      expect(response.status).toBe(200);
      expect(response.text).toMatch(new RegExp(`"amount":${amount.replace('.', '\\.')}0?[,}]`));
    }
  });
});

describe('the simulation of charges', () => {
  const pay = (correlationId: string, options = {}) =>
    bank.call('POST', `/baas/v1/charges/${correlationId}/pay`, options);
  const expire = (correlationId: string, options = {}) =>
    bank.call('PUT', `/baas/v1/charges/${correlationId}/expire`, options);
  const listCredits = async (correlationId: string) => {
    const { body } = await bank.call('GET', '/baas/api/v2/transactions?limit=200');
    return body.filter((line: { correlationId?: string }) => line.correlationId === correlationId);
  };

  it.each([
    ['a slip', slip()],
    ['a slip with a QR code', pixSlip()],
  ])('pays %s into the account', async (_, request) => {
    await create(request);
    const paid = await pay(request.correlationId);
    expect(paid.status).toBe(200);
    expect(paid.headers.get('content-type')).toContain('json');
    await eventually(async () =>
      expect(await listCredits(request.correlationId)).toEqual([
        expect.objectContaining({
          amount: 150.75,
          type: expect.objectContaining({ isCredit: true }),
        }),
      ]),
    );
  });

  it('accepts an empty body with a JSON content type, and an empty object', async () => {
    const headers = { 'content-type': 'application/json' };
    const [paid, expired] = [slip(), slip()];
    await Promise.all([create(paid), create(expired)]);
    expect((await pay(paid.correlationId, { headers })).status).toBe(200);
    expect((await expire(expired.correlationId, { body: {} })).status).toBe(200);
  });

  it('expires a slip, which can still be paid', async () => {
    const request = slip();
    await create(request);
    expect((await expire(request.correlationId)).status).toBe(200);
    expect((await pay(request.correlationId)).status).toBe(200);
    await eventually(async () => expect(await listCredits(request.correlationId)).toHaveLength(1));
  });

  it('adds fine and interest to the payment of a late slip', async () => {
    const request = pixSlip({
      lateFine: { type: 'Percentage', date: dayFromToday(-40), amount: 2 },
      latePayment: { type: 'Fixed', date: dayFromToday(-40), amount: 0.1 },
      dueDate: dayFromToday(-20),
      discount: undefined,
    });
    const created = await create(request);
    if (created.status !== 200) return; // A real bank may reject a past due date.
    await pay(request.correlationId);
    // 150.75 plus a fine of 2 % (rounded) plus twenty days of ten cents.
    await eventually(async () =>
      expect(await listCredits(request.correlationId)).toEqual([
        expect.objectContaining({ amount: 155.77 }),
      ]),
    );
  });

  it('returns 404 for a charge that was never issued', async () => {
    expectError(await pay('00000000-0000-4000-8000-000000000000'), 404);
    expectError(await expire('00000000-0000-4000-8000-000000000000'), 404);
  });
});
