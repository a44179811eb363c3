// TEDs of the sandbox bank: their states, lines and webhooks.
import { randomUUID } from 'node:crypto';
import { Faults } from '../../src/sandbox/faults/faults.service.js';
import { eventually, sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader } from './samples.js';
import { manualTransfer } from './transfer-samples.js';
import { WebhookConsumer } from './webhook-consumer.js';

const [payerKey, otherKey] = ['sandbox-dev-key', 'sandbox-dev-key-2'] as const;
const ownAccount = {
  ...{ number: '1000002', branch: '0001', type: 'CURRENT', participantIspb: '99999999' },
  holder: { document: '12345678909', name: 'Maria Aparecida da Silva', type: 'NATURAL' },
};

let bank: SandboxUnderTest;
let consumer: WebhookConsumer;
beforeEach(async () => {
  bank = await sandboxUnderTest();
  consumer = await WebhookConsumer.listen();
});
afterEach(async () => {
  const { audit } = (await bank.call('GET', '/sandbox/ledger')).body;
  await bank.stop();
  consumer.close();
  expect(audit).toEqual({ clean: true, problems: [] });
});

const tedPath = '/baas/api/v2/transfers/ted';
const send = (body: unknown = manualTransfer(), headers = newKeyHeader()) =>
  bank.call('POST', tedPath, { body, headers });
const get = (id: string, apiKey: string = payerKey) =>
  bank.call('GET', `${tedPath}/${id}`, { apiKey });
const ended = (id: string) =>
  eventually(async () => {
    const { body } = await get(id);
    expect(body.status).not.toBe('PROCESSING');
    return body;
  });
const linesOf = async (id: string, apiKey: string = payerKey) => {
  const { body } = await bank.call('GET', '/baas/api/v2/transactions?limit=100', { apiKey });
  return body.filter((line: { proof: { id?: string } }) => line.proof.id === id);
};

it('debits a TED once, without an endToEndId or nsu in its response, and reports it effective', async () => {
  await consumer.register(bank, 'TRANSFER_EXTERNAL_DEBITED', payerKey);
  const headers = newKeyHeader();
  const { status, body } = await send(manualTransfer({ amount: 12.5 }), headers);
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'PROCESSING', type: 'EXTERNAL', amount: 12.5 });
  expect(body).not.toHaveProperty('endToEndId');
  expect(body).not.toHaveProperty('transactionNsu');
  expect((await send(manualTransfer({ amount: 12.5 }), headers)).body).toEqual(body);
  expect(await ended(body.id)).toMatchObject({ status: 'EFFECTIVE', error: null });
  expect(await linesOf(body.id)).toMatchObject([
    { amount: 12.5, type: { name: 'DEBIT_TRANSFER_EXTERNAL', isCredit: false } },
  ]);
  const webhook = await consumer.find('TRANSFER_EXTERNAL_DEBITED', payerKey, body.id);
  expect(webhook).toMatchObject({ amount: 12.5, status: 'EFFECTIVE', type: 'EXTERNAL' });
});

it('credits a beneficiary at this bank', async () => {
  await consumer.register(bank, 'TRANSFER_EXTERNAL_CREDITED', otherKey);
  const { body } = await send({ amount: 3, beneficiary: ownAccount });
  await ended(body.id);
  expect(await linesOf(body.id, otherKey)).toMatchObject([
    { amount: 3, type: { name: 'CREDIT_TRANSFER_EXTERNAL', isCredit: true } },
  ]);
  await consumer.find('TRANSFER_EXTERNAL_CREDITED', otherKey, `C${body.id}`);
});

it.each([
  ['AC03', { ...ownAccount, number: '5555555' }, () => undefined],
  [
    'AC06',
    manualTransfer().beneficiary,
    () =>
      bank.application.get(Faults).add({
        ...{ endpoint: 'transfers', kind: 'async-error', times: 1 },
        ...{ probability: null, seed: 1, delayMs: null },
      }),
  ],
])(
  'returns a TED that fails with %s as a credit with its id',
  async (code, beneficiary, prepare) => {
    prepare();
    const { body } = await send({ amount: 7, beneficiary });
    expect(await ended(body.id)).toMatchObject({ status: 'ERROR', error: { code } });
    expect(await linesOf(body.id)).toMatchObject([
      { amount: 7, type: { name: 'CREDIT_TRANSFER_EXTERNAL' }, notes: 'TED devolvida' },
      { amount: 7, type: { name: 'DEBIT_TRANSFER_EXTERNAL' } },
    ]);
  },
);

it('refuses what it cannot send, and shows a TED to its sender only', async () => {
  expectError(await send(manualTransfer({ amount: 10_000_000 })), 422);
  expectError(await send({ amount: 1 }), 400, '$.beneficiary');
  expectError(await bank.call('POST', tedPath, { body: manualTransfer() }), 400);
  const { body } = await send();
  expectError(await get(body.id, otherKey), 404);
  expectError(await get(randomUUID()), 404);
  expectError(await get('not-an-id'), 404);
  expectError(await bank.call('GET', `/baas/api/v2/transfers/${body.id}`), 404);
});

it('sends the webhook of a TED that a test posts', async () => {
  await consumer.register(bank, 'TRANSFER_EXTERNAL_CREDITED', payerKey);
  const body = { amount: 9, isCredit: true, typeName: 'CREDIT_TRANSFER_EXTERNAL' };
  expect((await bank.call('POST', '/sandbox/transactions', { body })).status).toBe(200);
  const [line] = (await bank.call('GET', '/baas/api/v2/transactions')).body;
  const webhook = await consumer.find('TRANSFER_EXTERNAL_CREDITED', payerKey, `C${line.proof.id}`);
  expect(webhook).toMatchObject({ amount: 9, beneficiary: { number: '1000001' } });
});
