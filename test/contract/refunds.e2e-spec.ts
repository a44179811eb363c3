import { randomUUID } from 'node:crypto';
import { bankUnderTest, eventually, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, pixSlip } from './samples.js';

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

interface ReceivedPix {
  correlationId: string;
  nsu: number;
  endToEndId: string;
}

/** Issues a charge and pays it by Pix. Returns the ids of its statement line. */
async function receivePix(amount: number): Promise<ReceivedPix> {
  const request = pixSlip({ Amount: amount, discount: undefined });
  const { correlationId } = request;
  await bank.call('POST', '/baas/v1/charges', { body: request });
  expect((await bank.call('POST', `/baas/v1/charges/${correlationId}/pay`)).status).toBe(200);
  return eventually(async () => {
    const { body } = await bank.call('GET', '/baas/api/v2/transactions?type=CREDIT_PIX&limit=50');
    const line = body.find((candidate: ReceivedPix) => candidate.correlationId === correlationId);
    expect(line).toBeDefined();
    return { correlationId, nsu: line.nsu, endToEndId: line.proof.endToEndId };
  });
}

const refund = (
  id: string | number,
  filterBy: string,
  body: unknown = { amount: 1 },
  headers: Record<string, string> = {},
) =>
  bank.call('PUT', `/baas/api/v1/transactions/${id}/refund?filterBy=${filterBy}`, {
    body,
    headers,
  });

it('refunds in parts, by each of the three ids, up to the received amount', async () => {
  const { correlationId, nsu, endToEndId } = await receivePix(10);
  const first = await refund(endToEndId, 'END_TO_END_ID', {
    amount: 2.5,
    description: 'Devolvido',
  });
  expect(first.status).toBe(200);
  const refundParty = {
    holder: { document: expect.any(String), name: expect.any(String), type: expect.any(String) },
    participant: { name: expect.any(String), ispb: expect.any(String) },
  };
  expect(first.body).toMatchObject({
    id: expect.any(String),
    nsu: expect.any(Number),
    amount: 2.5,
    type: { name: 'DEBIT_PIX_REFUND', description: expect.any(String), isCredit: false },
    balance: { balancePrevious: expect.any(Number), currentBalance: expect.any(Number) },
    proof: {
      id: expect.any(String),
      endToEndId: expect.stringMatching(/^D[0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/),
      status: expect.any(String),
      type: expect.any(String),
      amount: 2.5,
      createdAt: expect.any(String),
      payer: refundParty,
      beneficiary: refundParty,
    },
  });
  const { balancePrevious, currentBalance } = first.body.balance;
  expect(Math.round((balancePrevious - currentBalance) * 100)).toBe(250);
  expect((await refund(nsu, 'NSU', { amount: 0.01 })).status).toBe(200);
  expectError(await refund(nsu, 'NSU', { amount: 7.5 }), 422);
  expect((await refund(correlationId, 'CORRELATION_ID', { amount: 7.49 })).status).toBe(200);
  expectError(await refund(endToEndId, 'END_TO_END_ID', { amount: 0.01 }), 422);
});

it('shows the refund on the statement exactly as in the response', async () => {
  const { endToEndId } = await receivePix(3);
  const { body } = await refund(endToEndId, 'END_TO_END_ID', { amount: 3 });
  await eventually(async () => {
    const lines = await bank.call('GET', `/baas/api/v2/transactions?nsu=${body.nsu}`);
    expect(lines.body).toEqual([body]);
  });
});

it('never refunds more than the received amount in concurrent requests', async () => {
  const { endToEndId } = await receivePix(5);
  // Without different keys and this header, identical requests may count as repeats or as possible
  // duplicates.
  const responses = await Promise.all(
    Array.from({ length: 20 }, () =>
      refund(
        endToEndId,
        'END_TO_END_ID',
        { amount: 0.7 },
        { ...newKeyHeader(), 'Concilia-Allow-Duplicate': 'true' },
      ),
    ),
  );
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(7);
  expect(responses.filter(({ status }) => status === 422)).toHaveLength(13);
  const nsus = responses.filter(({ status }) => status === 200).map(({ body }) => body.nsu);
  expect(new Set(nsus).size).toBe(7);
  expectError(await refund(endToEndId, 'END_TO_END_ID', { amount: 0.11 }), 422);
  expect((await refund(endToEndId, 'END_TO_END_ID', { amount: 0.1 })).status).toBe(200);
});

it('rejects the refund of a refund', async () => {
  const { endToEndId } = await receivePix(1);
  const { body } = await refund(endToEndId, 'END_TO_END_ID');
  expectError(await refund(body.nsu, 'NSU', { amount: 0.01 }), 422);
});

describe('invalid requests', () => {
  it.each(['', 'TXID', 'nsu', 'NSU&filterBy=NSU'])(
    'are rejected with ?filterBy=%s',
    async (filterBy) => expectError(await refund(1, filterBy), 400, '$.filterBy'),
  );

  it('are rejected without filterBy', async () => {
    const path = '/baas/api/v1/transactions/1/refund';
    expectError(await bank.call('PUT', path, { body: { amount: 1 } }), 400, '$.filterBy');
  });

  it.each(['one', '1.5', '-1', '1e3'])('are rejected with the nsu %s', async (id) =>
    expectError(await refund(id, 'NSU'), 400, '$.transactionId'),
  );

  it.each(['0', '-1', '10.005', '"ten"', 'null', 'true', '1e400'])(
    'are rejected with the amount %s',
    async (amount) => expectError(await refund(1, 'NSU', `{"amount":${amount}}`), 400, '$.amount'),
  );

  it('are rejected without an amount, and when the body is not an object or not JSON', async () => {
    expectError(await refund(1, 'NSU', {}), 400, '$.amount');
    expectError(await refund(1, 'NSU', []), 400);
    expectError(await refund(1, 'NSU', '{'), 400);
    const path = '/baas/api/v1/transactions/1/refund?filterBy=NSU';
    expectError(await bank.call('PUT', path), 400);
    const headers = { 'content-type': 'text/plain' };
    expectError(await bank.call('PUT', path, { body: 'amount=1', headers }), 415);
  });

  it('are rejected when the description is not a string', async () => {
    const path = '$.description';
    expectError(await refund(1, 'NSU', { amount: 1, description: 5 }), 400, path);
  });

  it('get 404 for a Pix that was never received', async () => {
    expectError(await refund(999_999_999_999, 'NSU'), 404);
    expectError(await refund(randomUUID(), 'CORRELATION_ID'), 404);
    expectError(await refund('E00000000202601010000AAAAAAAAAAA', 'END_TO_END_ID'), 404);
  });

  it.each([null, 'not-a-key-of-this-bank'])('get 401 with the key %p', async (apiKey) => {
    const path = '/baas/api/v1/transactions/1/refund?filterBy=NSU';
    expectError(await bank.call('PUT', path, { apiKey, body: { amount: 1 } }), 401);
  });
});

it("returns 404 for another account's Pix, and refunds nothing", async () => {
  const { otherApiKey: apiKey } = bank;
  if (!apiKey) return;
  const { endToEndId, correlationId } = await receivePix(2);
  const body = { amount: 2 };
  const path = (id: string) => `/baas/api/v1/transactions/${id}/refund`;
  expectError(
    await bank.call('PUT', `${path(endToEndId)}?filterBy=END_TO_END_ID`, { apiKey, body }),
    404,
  );
  expectError(
    await bank.call('PUT', `${path(correlationId)}?filterBy=CORRELATION_ID`, { apiKey, body }),
    404,
  );
  expect((await refund(endToEndId, 'END_TO_END_ID', body)).status).toBe(200);
});
