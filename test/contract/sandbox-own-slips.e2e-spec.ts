// Slips issued by the sandbox are bills too: a payment by another account credits the issuing
// account.
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, pixSlip, slip } from './samples.js';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
  await post('/sandbox/clock', { now: '2027-11-18T13:00:00Z', frozen: true });
});
afterEach(async () => {
  const { audit } = (await bank.call('GET', '/sandbox/ledger')).body;
  await bank.stop();
  expect(audit).toEqual({ clean: true, problems: [] });
});

const payerKey = 'sandbox-dev-key-2';
const post = (path: string, body: unknown) => bank.call('POST', path, { body });
const pay = (body: unknown, apiKey = payerKey) =>
  bank.call('POST', '/baas/api/v1/bill-payments', { body, headers: newKeyHeader(), apiKey });
const query = async (code: string) =>
  (await bank.call('GET', `/baas/api/v1/bill-payments/${code}`)).body;
const lines = async (apiKey = 'sandbox-dev-key') =>
  (await bank.call('GET', '/baas/api/v2/transactions', { apiKey })).body;
const issueSlip = async (changes: object = {}) => {
  const request = slip({ dueDate: '2027-12-01', ...changes });
  const { body } = await post('/baas/v1/charges', request);
  return { correlationId: request.correlationId, barCode: body.barCode as string };
};

it('returns a slip with QR code as a bill with the data of its charge', async () => {
  const request = pixSlip({ dueDate: '2027-12-01', discount: undefined });
  await post('/baas/v1/charges', request);
  const { rows } = await bank.pool.query('SELECT bar_code, digitable_line FROM charge');
  const { bar_code: barCode, digitable_line: digitableLine } = rows[0];
  expect(await query(digitableLine)).toMatchObject({
    type: 'BANKSLIP',
    status: 'PENDING_PAYMENT',
    amount: 150.75,
    dueDate: '2027-12-01T00:00:00',
    ...{ barCode, digitableLine },
    payer: { document: '52998224725', name: 'João da Silva', type: 'NATURAL' },
    beneficiary: { document: '11222333000181', type: 'LEGAL' },
    issuer: { ispb: '99999999' },
    overduePaymentFine: { type: 'PERCENTAGE', amount: 2 },
  });
});

it('credits the issuing account with a webhook, and reverses the credit on a chargeback', async () => {
  await post('/baas/api/v1/webhooks', {
    ...{ eventType: 'CHARGE_PAID', url: 'http://127.0.0.1:9/never', authorizationScheme: 'NONE' },
  });
  const { barCode, correlationId } = await issueSlip();
  const own = await pay({ amount: 150.75, barCode }, 'sandbox-dev-key');
  expectError(own, 422);
  expect(own.body.code).toBe('own_charge');
  const paid = await pay({ amount: 150.75, barCode });
  expect(paid.body).toMatchObject({ status: 'PAID', transactionNsu: 1 });
  expect((await query(barCode)).status).toBe('PAID');
  const credit = { type: { name: 'CREDIT_BANKSLIP' }, amount: 150.75, correlationId };
  expect(await lines()).toMatchObject([credit]);
  expect(await lines(payerKey)).toMatchObject([{ type: { name: 'DEBIT_BILL_PAYMENT' } }]);
  const deliveries = await bank.pool.query('SELECT body FROM webhook_delivery');
  expect(deliveries.rows.map(({ body }) => JSON.parse(body as string))).toMatchObject([
    { eventType: 'CHARGE_PAID', correlationId, source: 'PCR', payer: { document: '12345678909' } },
  ]);
  const charge = `/baas/v1/charges/${correlationId}`;
  expect((await bank.call('GET', charge)).body.status).toBe('Paid');
  const chargedBack = await post(`/sandbox/bill-payments/${paid.body.id}/chargeback`, {});
  expect(chargedBack.body).toMatchObject({ status: 'CHARGEBACKED', account: '1000002' });
  expect((await query(barCode)).status).toBe('PENDING_PAYMENT');
  expect((await bank.call('GET', charge)).body.status).toBe('Pending');
  expect((await lines())[0]).toMatchObject({ type: { name: 'DEBIT_BANKSLIP_REVERSAL' } });
  expect((await lines())[0].balance.currentBalance).toBe(100_000);
  expect((await lines(payerKey))[0].balance.currentBalance).toBe(5_000);
});

it('is reversed by the clearing when the funds of the issuer are insufficient', async () => {
  const { barCode } = await issueSlip();
  const { id } = (await pay({ amount: 150.75, barCode })).body;
  await post('/sandbox/transactions', { amount: 100_100, isCredit: false, typeName: 'ANY_DEBIT' });
  expect((await post(`/sandbox/bill-payments/${id}/chargeback`, {})).status).toBe(200);
  expect((await lines())[0].type.name).toBe('ANY_DEBIT');
  expect((await lines(payerKey))[0].balance.currentBalance).toBe(5_000);
  // The issuer still has the payment, so the slip cannot be paid again.
  expect((await query(barCode)).status).toBe('PAID');
});

it('stays paid after a chargeback while another payment remains, and becomes overdue without one', async () => {
  const request = pixSlip({ dueDate: '2027-12-01', Amount: 10, discount: undefined });
  const { correlationId } = request;
  await post('/baas/v1/charges', request);
  const read = async () => (await bank.call('GET', `/baas/v1/charges/${correlationId}`)).body;
  const line = (await read()).additionalInfo.find(
    ({ key }: { key: string }) => key === 'DigitableLine',
  );
  const payAsBill = async () => (await pay({ amount: 10, digitableLine: line.value })).body.id;
  const chargeBack = (id: string) => post(`/sandbox/bill-payments/${id}/chargeback`, {});
  const first = await payAsBill();
  const { nsu } = (await post('/sandbox/pix/received', { correlationId, amount: 10 })).body;
  await chargeBack(first);
  expect((await read()).status).toBe('Paid');
  expectError(await post(`/baas/v1/charges/${correlationId}/pay`, {}), 409);
  expect(nsu).toBeGreaterThan(0);

  const { barCode, correlationId: late } = await issueSlip();
  const { id } = (await pay({ amount: 150.75, barCode })).body;
  await post('/sandbox/clock', { now: '2027-12-06T13:00:00Z' });
  await chargeBack(id);
  expect((await bank.call('GET', `/baas/v1/charges/${late}`)).body.status).toBe('Expired');
});

it('is paid once, as a bill or as a charge, under concurrent requests', async () => {
  const { barCode, correlationId } = await issueSlip();
  await bank.warmUp();
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      at % 2
        ? pay({ amount: 150.75, barCode })
        : bank.call('POST', `/baas/v1/charges/${correlationId}/pay`),
    ),
  );
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(responses.every(({ status }) => [200, 409, 422].includes(status))).toBe(true);
  expect(await lines()).toHaveLength(1);
});

it('is blocked when its charge is voided', async () => {
  const { barCode, correlationId } = await issueSlip();
  await bank.pool.query(`UPDATE charge SET status = 'Voided' WHERE correlation_id = $1`, [
    correlationId,
  ]);
  expect((await query(barCode)).status).toBe('BLOCKED_PAYMENT');
  expect((await pay({ amount: 150.75, barCode })).body.code).toBe('bill_not_payable');
});
