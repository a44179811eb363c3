// Behaviour of refunds that the contract leaves to the sandbox: the refund window by the bank's
// clock, how refunds end, and refunds by the bank itself (MED).
import { Faults } from '../../src/sandbox/faults/faults.service.js';
import type { FaultRequest } from '../../src/sandbox/faults/fault.js';
import { listDeliveryBodies, registerForDeliveries } from '../support/sandbox-deliveries.js';
import { eventually, sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, slip, staticQr } from './samples.js';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
});
afterEach(async () => {
  const { body } = await bank.call('GET', '/sandbox/ledger');
  expect(body.audit).toEqual({ clean: true, problems: [] });
  await bank.stop();
});

const otherApiKey = 'sandbox-dev-key-2';
const post = async (path: string, body: unknown = {}) => bank.call('POST', path, { body });
const receive = async (body: object) => (await post('/sandbox/pix/received', body)).body;
const refund = (id: string | number, filterBy: string, body: object, headers = {}) =>
  bank.call('PUT', `/baas/api/v1/transactions/${id}/refund?filterBy=${filterBy}`, {
    body,
    headers,
  });
const refundPix = (endToEndId: string, amount: number) =>
  refund(endToEndId, 'END_TO_END_ID', { amount });
const setClock = (now: string) => post('/sandbox/clock', { now, frozen: true });
const advance = (duration: string) => post('/sandbox/clock', { advance: duration });
const lines = async (query: string, apiKey = 'sandbox-dev-key') =>
  (await bank.call('GET', `/baas/api/v2/transactions?${query}`, { apiKey })).body;
const failNextRefund = (changes: Partial<FaultRequest> = {}) =>
  bank.application.get(Faults).add({
    endpoint: 'refunds',
    kind: 'async-error',
    times: 1,
    probability: null,
    seed: 1,
    delayMs: null,
    ...changes,
  });
const reasonOf = (response: { body: { code?: string } }) => response.body.code;

it('counts the window by days of São Paulo: open on day 90, closed on day 91', async () => {
  // 23:30 of 1 March in São Paulo.
  await setClock('2027-03-02T02:30:00Z');
  const { endToEndId } = await receive({ amount: 10 });
  await setClock('2027-05-31T02:59:59.999Z');
  expect((await refundPix(endToEndId, 1)).status).toBe(200);
  await setClock('2027-05-31T03:00:00Z');
  const late = await refundPix(endToEndId, 1);
  expectError(late, 422);
  expect(reasonOf(late)).toBe('refund_window_closed');
});

it('returns the same bytes as the statement, and stores the key on the movement', async () => {
  const { endToEndId } = await receive({ amount: 10 });
  const headers = newKeyHeader();
  const body = { amount: 4, description: 'Devolvido' };
  const response = await refund(endToEndId, 'END_TO_END_ID', body, headers);
  expect(response.body).toMatchObject({
    notes: 'Devolvido',
    proof: {
      originalEndToEndId: endToEndId,
      description: 'Devolvido',
      status: 'PIX_EFFECTIVE',
      type: 'PIX_REFUND',
      refundCode: 'MD06',
    },
  });
  expect(response.body).not.toHaveProperty('correlationId');
  const listed = await bank.call('GET', `/baas/api/v2/transactions?nsu=${response.body.nsu}`);
  expect(listed.text).toBe(`[${response.text}]`);
  // Each call is a new refund, whatever its key.
  expect((await refund(endToEndId, 'END_TO_END_ID', body, headers)).status).toBe(200);
  const { movements } = (await bank.call('GET', '/sandbox/ledger')).body;
  expect(movements.slice(-2)).toEqual([
    expect.objectContaining({
      type: 'DEBIT_PIX_REFUND',
      amount: 4,
      originalEndToEndId: endToEndId,
      idempotencyKey: headers.IdempotencyKey,
    }),
    expect.objectContaining({ type: 'DEBIT_PIX_REFUND', idempotencyKey: headers.IdempotencyKey }),
  ]);
});

it('gives the reason of a refused refund', async () => {
  const paidSlip = slip();
  await post('/baas/v1/charges', paidSlip);
  const { nsu } = (await post(`/baas/v1/charges/${paidSlip.correlationId}/pay`)).body;
  const bySlip = await refund(nsu, 'NSU', { amount: 1 });
  expectError(bySlip, 422);
  expect(reasonOf(bySlip)).toBe('not_refundable');

  const qr = staticQr({ amount: 5 });
  const headers = newKeyHeader();
  await bank.call('POST', '/baas/api/v2/pix/qrcode/static', { body: qr, headers });
  const { endToEndId } = (await post(`/baas/v1/charges/${qr.correlationId}/pay`)).body;
  const byCharge = () => refund(qr.correlationId, 'CORRELATION_ID', { amount: 5 });
  expect((await byCharge()).status).toBe(200);
  expect(reasonOf(await byCharge())).toBe('refund_exceeds_original');
  await post(`/baas/v1/charges/${qr.correlationId}/pay`);
  // Ambiguous, although only the second payment is refundable.
  expect(reasonOf(await byCharge())).toBe('ambiguous_reference');
  expect(reasonOf(await refundPix(endToEndId, 1))).toBe('refund_exceeds_original');
});

it('refuses a refund above the balance, and then moves nothing and uses up no fault', async () => {
  const { endToEndId } = await receive({ amount: 10 });
  const fee = { amount: 100_009, isCredit: false, typeName: 'DEBIT_FEE' };
  expect((await post('/sandbox/transactions', fee)).status).toBe(200);
  failNextRefund();
  const refused = await refundPix(endToEndId, 2);
  expectError(refused, 422);
  expect(reasonOf(refused)).toBe('insufficient_funds');
  expect(bank.application.get(Faults).list()).toEqual([expect.objectContaining({ fired: 0 })]);
  expect((await refundPix(endToEndId, 1)).status).toBe(200);
});

it('becomes effective after pixStepMs and sends a webhook', async () => {
  await registerForDeliveries(bank, 'PIX_REFUND_PAYMENT_UPDATED');
  await setClock('2027-03-02T12:00:00Z');
  const { endToEndId } = await receive({ amount: 10 });
  const { proof } = (await refundPix(endToEndId, 4)).body;
  await advance('PT0.299S');
  expect(await listDeliveryBodies(bank)).toEqual([]);
  await advance('PT0.001S');
  expect(await listDeliveryBodies(bank)).toEqual([
    expect.objectContaining({
      eventType: 'PIX_REFUND_PAYMENT_EFFECTIVE',
      operationType: 'DEBIT_REFUND',
      endToEndId: proof.endToEndId,
      originalEndToEndId: endToEndId,
      idempotencyKey: proof.id,
      status: 'PIX_EFFECTIVE',
      amount: 4,
      createdAt: '2027-03-02T12:00:00.000Z',
      finishedAt: '2027-03-02T12:00:00.300Z',
      payer: proof.payer,
      beneficiary: proof.beneficiary,
    }),
  ]);
  expect(await lines('type=CREDIT_PIX_REFUND_REVERSAL')).toEqual([]);
});

it('is reversed when it fails, and the Pix can then be refunded again', async () => {
  await registerForDeliveries(bank, 'PIX_REFUND_PAYMENT_UPDATED');
  await setClock('2027-03-02T12:00:00Z');
  const { endToEndId } = await receive({ amount: 10 });
  failNextRefund({ delayMs: 5_000 });
  const failed = await refundPix(endToEndId, 10);
  expect(failed.status).toBe(200);
  expect(reasonOf(await refundPix(endToEndId, 0.01))).toBe('refund_exceeds_original');
  await advance('PT5S');
  const id = failed.body.proof.endToEndId;
  expect(await listDeliveryBodies(bank)).toEqual([
    {
      eventType: 'PIX_REFUND_PAYMENT_ERROR',
      correlationId: null,
      endToEndId: id,
      idempotencyKey: endToEndId,
      status: 'PIX_ERROR',
      error: { code: 'DEL20', description: expect.any(String) },
      amount: 10,
      createdAt: '2027-03-02T12:00:00.000Z',
      finishedAt: '2027-03-02T12:00:05.000Z',
      payer: null,
      beneficiary: null,
    },
  ]);
  const [reversal] = await lines('type=CREDIT_PIX_REFUND_REVERSAL');
  expect(reversal).toMatchObject({
    amount: 10,
    type: { isCredit: true },
    proof: { endToEndId: id, originalEndToEndId: endToEndId, status: 'PIX_ERROR' },
  });
  // Debit and reversal have the same endToEndId; the query returns the debit.
  expect(await lines(`endToEndId=${id}`)).toEqual([failed.body]);
  expect((await refundPix(endToEndId, 10)).status).toBe(200);
});

describe('between two accounts of the bank', () => {
  /** Credits account 1000001 with a Pix from account 1000002. */
  async function pixFromOther(amount: number): Promise<string> {
    const endToEndId = 'E99999999202703021200abcdefghijk';
    await post('/sandbox/transactions', {
      amount,
      isCredit: true,
      typeName: 'CREDIT_PIX',
      endToEndId,
      counterpartyAccount: '1000002',
    });
    return endToEndId;
  }

  it('credits the payer in the same movement and sends the payer a webhook', async () => {
    await registerForDeliveries(bank, 'PIX_REFUNDED', otherApiKey);
    const endToEndId = await pixFromOther(10);
    const { body } = await refundPix(endToEndId, 4);
    const [credit] = await lines('type=CREDIT_PIX_REFUND', otherApiKey);
    expect(credit).toMatchObject({
      amount: 4,
      createdAt: body.createdAt,
      type: { isCredit: true },
      proof: body.proof,
    });
    await eventually(async () =>
      expect(await listDeliveryBodies(bank)).toEqual([
        expect.objectContaining({
          eventType: 'PIX_REFUNDED',
          endToEndId: body.proof.endToEndId,
          originalEndToEndId: endToEndId,
          amount: 4,
          bankAccount: { branch: '0001', number: '1000002' },
          refundCode: 'MD06',
          proof: expect.objectContaining({ operationType: 'CREDIT_REFUND' }),
        }),
      ]),
    );
  });

  it('does not credit the payer when it fails', async () => {
    const endToEndId = await pixFromOther(10);
    failNextRefund();
    expect((await refundPix(endToEndId, 4)).status).toBe(200);
    await eventually(async () =>
      expect(await lines('type=CREDIT_PIX_REFUND_REVERSAL')).toHaveLength(1),
    );
    expect(await lines('type=CREDIT_PIX_REFUND', otherApiKey)).toEqual([]);
  });
});

describe('POST /sandbox/pix/med', () => {
  it('refunds the whole refundable amount of a received Pix, also after the refund window', async () => {
    await setClock('2027-03-02T12:00:00Z');
    const { endToEndId } = await receive({ amount: 10 });
    await setClock('2027-12-02T12:00:00Z');
    const first = await post('/sandbox/pix/med', { endToEndId, amount: 2.5, reason: 'Golpe' });
    expect(first.body).toMatchObject({
      account: '1000001',
      amount: 2.5,
      isCredit: false,
      type: 'DEBIT_PIX_REFUND',
      originalEndToEndId: endToEndId,
    });
    expect((await lines(`nsu=${first.body.nsu}`))[0].proof).toMatchObject({
      refundCode: 'FR01',
      reasonRefund: 'Golpe',
    });
    expect((await post('/sandbox/pix/med', { endToEndId })).body.amount).toBe(7.5);
    const refused = await post('/sandbox/pix/med', { endToEndId });
    expectError(refused, 422);
    expect(reasonOf(refused)).toBe('refund_exceeds_original');
  });

  it('reduces the amount that the client can refund', async () => {
    const { endToEndId } = await receive({ amount: 10 });
    await post('/sandbox/pix/med', { endToEndId, amount: 6 });
    expect(reasonOf(await refundPix(endToEndId, 4.01))).toBe('refund_exceeds_original');
    expect((await refundPix(endToEndId, 4)).status).toBe(200);
  });

  it('debits the given account, and refuses unknown accounts and invalid fields', async () => {
    const account = '1000002';
    const { endToEndId } = await receive({ amount: 3, account });
    expectError(await post('/sandbox/pix/med', { endToEndId }), 404);
    expect((await post('/sandbox/pix/med', { endToEndId, account })).body.account).toBe(account);
    expectError(await post('/sandbox/pix/med', { endToEndId, account: '9999999' }), 404);
    expectError(await post('/sandbox/pix/med', {}), 400, '$.endToEndId');
    expectError(await post('/sandbox/pix/med', { endToEndId, amount: 0 }), 400, '$.amount');
  });
});
