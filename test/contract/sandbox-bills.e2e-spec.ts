// The sandbox's rules for bills: amounts, payment times, failures and chargebacks.
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, slip } from './samples.js';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
  // A Thursday, 10:00 in São Paulo.
  await clock({ now: '2027-11-18T13:00:00Z', frozen: true });
});
afterEach(async () => {
  const { audit } = (await bank.call('GET', '/sandbox/ledger')).body;
  await bank.stop();
  expect(audit).toEqual({ clean: true, problems: [] });
});

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  bank.call('POST', path, { body, headers });
const clock = (body: unknown) => post('/sandbox/clock', body);
const pay = (body: unknown, headers = newKeyHeader(), apiKey = 'sandbox-dev-key') =>
  bank.call('POST', '/baas/api/v1/bill-payments', { body, headers, apiKey });
const query = async (code: string) =>
  (await bank.call('GET', `/baas/api/v1/bill-payments/${code}`)).body;
const createBill = async (changes: object = {}) => {
  const base = { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 100 };
  const response = await post('/sandbox/bills', { ...base, ...changes });
  expect(response.status).toBe(200);
  return response.body as { barCode: string; digitableLine: string; amount: number };
};
const payments = async () => (await bank.call('GET', '/sandbox/bill-payments')).body;
const lines = async (apiKey = 'sandbox-dev-key') =>
  (await bank.call('GET', '/baas/api/v2/transactions', { apiKey })).body;
const chargeBack = (id: string) => post(`/sandbox/bill-payments/${id}/chargeback`, {});

describe('a payment in business hours', () => {
  it('debits the account at once, with a line that identifies the bill', async () => {
    const { barCode, digitableLine } = await createBill();
    const headers = newKeyHeader();
    const { body } = await pay({ amount: 100, barCode }, headers);
    expect(body).toMatchObject({ status: 'PAID', paidAmount: 100, transactionNsu: 1 });
    expect(body).not.toHaveProperty('payAt');
    const [line] = await lines();
    expect(line).toMatchObject({
      nsu: 1,
      amount: 100,
      type: { name: 'DEBIT_BILL_PAYMENT', isCredit: false },
      balance: { balancePrevious: 100_000, currentBalance: 99_900 },
      proof: { id: body.id, barCode, digitableLine, amount: 100, beneficiary: body.beneficiary },
    });
    expect((await bank.call('GET', '/sandbox/ledger')).body.movements[0]).toMatchObject({
      idempotencyKey: headers.IdempotencyKey,
    });
    expect(await query(barCode)).toMatchObject({ status: 'PAID', amount: 100 });
  });

  it('is made once for twenty concurrent requests with one key, and all get the same response', async () => {
    const { barCode } = await createBill();
    const headers = newKeyHeader();
    const request = { amount: 100, barCode };
    await bank.warmUp();
    const responses = await Promise.all(Array.from({ length: 20 }, () => pay(request, headers)));
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(await lines()).toHaveLength(1);
    expectError(await pay({ ...request, amount: 99 }, headers), 422);
  });

  it('is made once for twenty concurrent requests with different keys, by bar code or digitable line', async () => {
    const { barCode, digitableLine } = await createBill();
    await bank.warmUp();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        pay({ amount: 100, ...(index % 2 ? { barCode } : { digitableLine }) }),
      ),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = responses.filter(({ body }) => body.code === 'bill_not_payable');
    expect(refused).toHaveLength(19);
    expect(await lines()).toHaveLength(1);
    expect(await payments()).toHaveLength(1);
  });

  it.each([
    [{ status: 'PAID' }, 100, 'bill_not_payable'],
    [{ status: 'BLOCKED_PAYMENT' }, 100, 'bill_not_payable'],
    [{ status: 'PAYMENT_DEADLINE_EXCEEDED', type: 'TAXES' }, 100, 'bill_not_payable'],
    [{}, 99.99, 'amount_out_of_range'],
    [{}, 100.01, 'amount_out_of_range'],
    [{ amount: 100_000.01 }, 100_000.01, 'insufficient_funds'],
  ])('is refused and moves nothing: %j paid with %d', async (changes, amount, code) => {
    const { barCode } = await createBill(changes);
    const response = await pay({ amount, barCode });
    expectError(response, 422);
    expect(response.body.code).toBe(code);
    expect(await lines()).toEqual([]);
    expect(await payments()).toEqual([]);
  });

  it('may be partial when the bill allows it, and only once', async () => {
    const range = { minimumPaymentAmount: 20, maximumPaymentAmount: 80 };
    const { barCode } = await createBill({ isAllowPartialPayment: true, ...range });
    // The charged amount may be paid in full, even above the maximum.
    expect((await query(barCode)).paymentCalculation).toMatchObject({
      chargedAmount: 100,
      minimumPaymentAmount: 20,
      maximumPaymentAmount: 100,
    });
    expect((await pay({ amount: 19.99, barCode })).body.code).toBe('amount_out_of_range');
    expect((await pay({ amount: 20, barCode })).body).toMatchObject({
      status: 'PAID',
      originalAmount: 100,
      paidAmount: 20,
    });
    expect((await pay({ amount: 80, barCode })).body.code).toBe('bill_not_payable');
  });

  it('refuses a bar code and a digitable line of different bills, and accepts those of one bill', async () => {
    const [one, other] = [await createBill(), await createBill()];
    const { barCode } = one;
    const mismatch = await pay({ amount: 100, barCode, digitableLine: other.digitableLine });
    expectError(mismatch, 400, '$.digitableLine');
    expectError(await pay({ amount: 100, barCode: one.digitableLine }), 400, '$.barCode');
    expectError(await pay({ amount: 100, digitableLine: barCode }), 400, '$.digitableLine');
    const both = await pay({ amount: 100, barCode, digitableLine: one.digitableLine });
    expect(both.body.status).toBe('PAID');
  });
});

describe('a scheduled payment', () => {
  it('outside business hours is paid once when they next begin', async () => {
    await clock({ now: '2027-11-18T23:00:00Z' });
    const { barCode } = await createBill();
    const headers = newKeyHeader();
    const response = await pay({ amount: 100, barCode }, headers);
    expect(response.body).toMatchObject({
      status: 'SCHEDULED',
      payAt: '2027-11-19T10:00:00.000Z',
    });
    expect(response.body).not.toHaveProperty('transactionNsu');
    expect(await lines()).toEqual([]);
    expect((await query(barCode)).status).toBe('PENDING_PAYMENT');
    const second = await pay({ amount: 100, barCode });
    expectError(second, 422);
    expect(second.body.code).toBe('bill_already_scheduled');
    await clock({ now: '2027-11-19T09:59:59Z' });
    expect(await lines()).toEqual([]);
    await clock({ now: '2027-11-19T10:00:00Z' });
    expect(await lines()).toMatchObject([{ amount: 100, createdAt: '2027-11-19T10:00:00.000Z' }]);
    expect(await payments()).toEqual([
      {
        id: response.body.id,
        account: '1000001',
        barCode,
        status: 'PAID',
        amount: 100,
        payAt: '2027-11-19T10:00:00.000Z',
        nsu: 1,
        failure: null,
      },
    ]);
    // A repeat of the key gets the stored response, although the payment has been made.
    expect((await pay({ amount: 100, barCode }, headers)).text).toBe(response.text);
  });

  it.each([
    ['2027-11-18T15:30:00', '2027-11-18T18:30:00.000Z'],
    ['2027-11-18T15:30:00Z', '2027-11-18T15:30:00.000Z'],
    ['2027-11-20', '2027-11-22T10:00:00.000Z'],
    ['2027-11-21T23:30:00-03:00', '2027-11-22T10:00:00.000Z'],
    ['2028-02-29T12:00:00', '2028-03-01T10:00:00.000Z'],
  ])('for %s is paid at %s', async (payAt, expected) => {
    const { barCode } = await createBill();
    const { body } = await pay({ amount: 100, barCode, payAt });
    expect(body).toMatchObject({ status: 'SCHEDULED', payAt: expected });
  });

  it('for today is paid at once; a past time or one after the calendar is refused', async () => {
    const { barCode } = await createBill();
    const request = { amount: 100, barCode };
    for (const payAt of [
      '2027-11-18T12:59:59.999Z',
      '2027-11-17',
      '2027-11-18T09:59:59',
      '1900-01-01',
    ])
      expectError(await pay({ ...request, payAt }), 400, '$.payAt');
    for (const payAt of ['2199-12-31', '2199-12-31T23:59:59-12:00'])
      expectError(await pay({ ...request, payAt }), 400, '$.payAt');
    expect((await pay({ ...request, payAt: '2027-11-18' })).body.status).toBe('PAID');
  });

  it('follows the mode billPaymentHours', async () => {
    const billPaymentHours = { open: 0, close: 9 };
    await bank.call('PATCH', '/sandbox/modes', { body: { billPaymentHours } });
    const { barCode } = await createBill();
    const { body } = await pay({ amount: 100, barCode });
    expect(body.payAt).toBe('2027-11-19T03:00:00.000Z');
  });

  it('is checked again when due, and fails without moving money', async () => {
    await clock({ now: '2027-11-18T23:30:00Z' });
    const { barCode: unaffordable } = await createBill({ amount: 4_000 });
    const charge = slip();
    const { barCode: paidElsewhere } = (await post('/baas/v1/charges', charge)).body;
    const otherApiKey = 'sandbox-dev-key-2';
    await pay({ amount: 150.75, barCode: paidElsewhere }, newKeyHeader(), otherApiKey);
    await pay({ amount: 4_000, barCode: unaffordable }, newKeyHeader(), otherApiKey);
    await post(`/baas/v1/charges/${charge.correlationId}/pay`, {});
    const withdrawal = { account: '1000002', amount: 4_000, isCredit: false, typeName: 'ANY' };
    await post('/sandbox/transactions', withdrawal);
    await clock({ now: '2027-11-22T10:00:00Z' });
    const failures = Object.fromEntries(
      (await payments()).map((payment: { barCode: string }) => [payment.barCode, payment]),
    );
    const failed = { status: 'SCHEDULE_FAILURE', nsu: null };
    expect(failures[unaffordable]).toMatchObject({ ...failed, failure: 'insufficient_funds' });
    expect(failures[paidElsewhere]).toMatchObject({ ...failed, failure: 'bill_not_payable' });
    expect(await lines(otherApiKey)).toHaveLength(1);
    // A bill whose payment failed can be paid again.
    const again = await pay({ amount: 4_000, barCode: unaffordable });
    expect(again.body.status).toBe('PAID');
  });
});

describe('the amount of a scheduled payment', () => {
  it('is the amount queried today when it waits only for business hours', async () => {
    // A Saturday; the bill is late, and costs more each day.
    await clock({ now: '2027-11-20T13:00:00Z' });
    const interest = { type: 'FIXED', date: '2027-11-18', amount: 1 };
    const { barCode } = await createBill({ dueDate: '2027-11-17', interest });
    const { chargedAmount } = (await query(barCode)).paymentCalculation;
    expect(chargedAmount).toBe(103);
    expect((await pay({ amount: 103, barCode })).body.status).toBe('SCHEDULED');
    await clock({ now: '2027-11-22T10:00:00Z' });
    expect(await payments()).toMatchObject([{ barCode, status: 'PAID', amount: 103 }]);
  });

  it('is the charged amount on the requested day', async () => {
    const discounts = [{ type: 'FIXED', date: '2027-11-19', amount: 5 }];
    const { barCode } = await createBill({ discounts });
    const payAt = '2027-11-23';
    expect((await pay({ amount: 95, barCode, payAt })).body.code).toBe('amount_out_of_range');
    const { body } = await pay({ amount: 100, barCode, payAt });
    expect(body).toMatchObject({ status: 'SCHEDULED', paidAmount: 100 });
    await clock({ now: '2027-11-23T10:00:00Z' });
    expect(await payments()).toMatchObject([{ barCode, status: 'PAID', amount: 100 }]);
  });
});

describe('a chargeback', () => {
  it('on request reverses the money and makes the bill payable again', async () => {
    const { barCode } = await createBill();
    const { id } = (await pay({ amount: 100, barCode })).body;
    const responses = await Promise.all([chargeBack(id), chargeBack(id), chargeBack(id)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
    expect(responses.find(({ status }) => status === 200)!.body).toMatchObject({
      id,
      status: 'CHARGEBACKED',
      nsu: 1,
    });
    expect(await lines()).toMatchObject([
      { type: { name: 'CREDIT_BILL_PAYMENT_REVERSAL', isCredit: true }, proof: { id, barCode } },
      { type: { name: 'DEBIT_BILL_PAYMENT' } },
    ]);
    expect((await query(barCode)).status).toBe('PENDING_PAYMENT');
    expect((await pay({ amount: 100, barCode })).body.status).toBe('PAID');
    expectError(await chargeBack('0e4b4a52-0000-4000-8000-000000000000'), 404);
    expectError(await chargeBack('no-id'), 404);
  });

  it.each(['2027-11-18T13:00:00Z', '2027-11-18T23:30:00Z'])(
    'by a fault was first reported as PAID, when requested at %s',
    async (now) => {
      await clock({ now });
      const fault = { endpoint: 'bill-payments', kind: 'async-error', delayMs: 60_000 };
      await post('/sandbox/faults', { ...fault, times: 1 });
      const { barCode } = await createBill();
      const { status } = (await pay({ amount: 100, barCode })).body;
      // In the evening it is scheduled for the next morning.
      if (status === 'SCHEDULED') await clock({ now: '2027-11-19T10:00:00Z' });
      expect((await query(barCode)).status).toBe('PAID');
      await clock({ advance: 'PT60S' });
      expect(await payments()).toMatchObject([{ status: 'CHARGEBACKED', failure: null }]);
      expect((await lines())[0].balance.currentBalance).toBe(100_000);
      expect((await pay({ amount: 100, barCode })).body.status).toBe('PAID');
      await clock({ advance: 'PT10M' });
      expect(await lines()).toHaveLength(3);
    },
  );
});
