// What the sandbox bank does to payments that it accepted, as banks do (habits).
import type { FaultEndpoint, FaultKind } from '../../src/sandbox/faults/fault.js';
import { Faults } from '../../src/sandbox/faults/faults.service.js';
import { eventually, sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError } from './samples.js';
import { keyTransfer, manualTransfer, transferCalls } from './transfer-samples.js';
import { WebhookConsumer } from './webhook-consumer.js';

const apiKey = 'sandbox-dev-key';
let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
  await bank.call('POST', '/sandbox/clock', { body: { frozen: true } });
  await bank.call('PATCH', '/sandbox/modes', { body: { preset: 'complete' } });
});
afterEach(async () => {
  const { audit } = (await bank.call('GET', '/sandbox/ledger')).body;
  await bank.stop();
  expect(audit).toEqual({ clean: true, problems: [] });
});

const { send, get, lookUp, newEndToEndId } = transferCalls(() => bank);
const fault = (endpoint: FaultEndpoint, kind: FaultKind, delayMs: number, times = 1) =>
  bank.application.get(Faults).add({
    ...{ endpoint, kind, times, probability: null, seed: 1, delayMs },
  });
const advance = (duration: string) =>
  bank.call('POST', '/sandbox/clock', { body: { advance: duration } });
const typesOf = async (endToEndId: string) => {
  const { body } = await bank.call('GET', '/baas/api/v2/transactions?limit=100');
  return body
    .filter((line: { proof: { endToEndId?: string } }) => line.proof.endToEndId === endToEndId)
    .map(({ type }: { type: { name: string } }) => type.name);
};

it('gives stuck Pix their final status at one moment', async () => {
  // The moment is a whole minute of the bank's clock: none lies between the two transfers.
  const minute = new Date(Math.ceil(Date.now() / 60_000 + 1) * 60_000);
  await bank.call('POST', '/sandbox/clock', { body: { now: minute.toISOString() } });
  fault('transfers', 'status-stuck', 60_000, 2);
  const first = (await send(manualTransfer())).body;
  await advance('PT2S');
  const second = (await send(manualTransfer())).body;
  await advance('PT3S');
  const statuses = async () =>
    [(await get(first.id)).body, (await get(second.id)).body].map(({ status, updatedAt }) => ({
      status,
      updatedAt,
    }));
  for (const { status } of await statuses()) expect(status).toBe('PIX_WAITING_SPI_RESPONSE');
  await advance('PT60S');
  await eventually(async () => {
    for (const { status } of await statuses()) expect(status).toBe('PIX_EFFECTIVE');
  });
});

it('undoes a Pix by a late credit, without a webhook', async () => {
  const consumer = await WebhookConsumer.listen();
  await consumer.register(bank, 'PIX_PAYMENT_UPDATED', apiKey);
  fault('transfers', 'undone-silently', 60_000);
  const undone = (await send(manualTransfer())).body;
  const other = (await send(manualTransfer())).body;
  await advance('PT5S');
  await consumer.find('PIX_PAYMENT_UPDATED', apiKey, other.endToEndId);
  expect(await typesOf(undone.endToEndId)).toEqual(['DEBIT_PIX']);
  await advance('PT60S');
  await eventually(async () =>
    expect(await typesOf(undone.endToEndId)).toEqual(['CREDIT_PIX_REVERSAL', 'DEBIT_PIX']),
  );
  expect((await get(undone.id)).body).toMatchObject({ status: 'PIX_ERROR' });
  expect(consumer.about(undone.endToEndId)).toEqual([]);
  consumer.close();
});

it('debits a Pix twice, with the same ids', async () => {
  fault('transfers', 'debited-twice', 0);
  const { endToEndId } = (await send(manualTransfer())).body;
  expect(await typesOf(endToEndId)).toEqual(['DEBIT_PIX', 'DEBIT_PIX']);
});

it('holds the money of a failed refund until it is undone', async () => {
  const { body: received } = await bank.call('POST', '/sandbox/pix/received', {
    body: { amount: 40 },
  });
  fault('refunds', 'refund-held', 60_000);
  const path = `/baas/api/v1/transactions/${received.nsu}/refund?filterBy=NSU`;
  const refund = (await bank.call('PUT', path, { body: { amount: 40 } })).body;
  const { endToEndId } = refund.proof;
  await advance('PT5S');
  expect(await typesOf(endToEndId)).toEqual(['DEBIT_PIX_REFUND']);
  expect((await bank.call('PUT', path, { body: { amount: 40 } })).status).toBe(422);
  await advance('PT60S');
  await eventually(async () =>
    expect(await typesOf(endToEndId)).toEqual(['CREDIT_PIX_REFUND_REVERSAL', 'DEBIT_PIX_REFUND']),
  );
});

it('sends the webhooks of days again at once', async () => {
  const consumer = await WebhookConsumer.listen();
  await consumer.register(bank, 'PIX_RECEIVED', apiKey);
  const receive = () => bank.call('POST', '/sandbox/pix/received', { body: { amount: 1 } });
  await receive();
  await advance('P2D');
  const endToEndId = (await receive()).body.endToEndId;
  await consumer.find('PIX_RECEIVED', apiKey, endToEndId);
  const resend = (hours: number) =>
    bank.call('POST', '/sandbox/webhooks/resend', { body: { hours } });
  expect((await resend(1)).body).toEqual({ count: 1 });
  await eventually(async () => expect(consumer.about(endToEndId)).toHaveLength(2));
  expect((await resend(72)).body).toEqual({ count: 2 });
  expectError(await resend(0), 400, '$.hours');
  consumer.close();
});

it('blocks the directory for an account whose look-ups become no payments', async () => {
  await bank.call('PATCH', '/sandbox/modes', { body: { unusedLookups: 2 } });
  await send(keyTransfer(await newEndToEndId()));
  const unused = [(await lookUp()).status, (await lookUp()).status];
  expect(unused).toEqual([200, 200]);
  expectError(await lookUp(), 422);
  expect((await lookUp()).body.code).toBe('directory_blocked');
  await advance('P2D');
  expect((await lookUp()).status).toBe(200);
});

it('blocks the amount of a MED request until it is decided', async () => {
  await bank.call('PATCH', '/sandbox/modes', { body: { medBlock: 'requested-amount' } });
  const { body: received } = await bank.call('POST', '/sandbox/pix/received', {
    body: { amount: 40 },
  });
  const { endToEndId } = received;
  const blocked = async () =>
    (await bank.call('GET', '/baas/api/v1/balances')).body.amountBlocked as number;
  const report = (eventType: string, amount: number) =>
    bank.call('POST', '/sandbox/disputes', { body: { eventType, endToEndId, amount } });
  await report('MED_REQUESTED', 40);
  expect(await blocked()).toBe(40);
  await report('MED_REJECTED', 40);
  expect(await blocked()).toBe(0);
  await report('MED_REQUESTED', 40);
  expect((await bank.call('POST', '/sandbox/pix/med', { body: { endToEndId } })).status).toBe(200);
  expect(await blocked()).toBe(0);
  // No more is blocked than there is.
  await report('MED_REQUESTED', 1_000_000);
  expect((await send(manualTransfer())).status).toBe(422);
  await report('MED_ACCEPTED', 1_000_000);
  expect((await send(manualTransfer())).status).toBe(200);
});
