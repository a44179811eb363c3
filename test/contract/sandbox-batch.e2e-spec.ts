// Behaviour of batches and of transfers between accounts that the contract leaves to the sandbox:
// refusals, modes and concurrent requests.
import { randomUUID } from 'node:crypto';
import { Faults } from '../../src/sandbox/faults/faults.service.js';
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader } from './samples.js';
import { batchItem, internalTransfer, transferCalls } from './transfer-samples.js';
import { WebhookConsumer } from './webhook-consumer.js';

const ownApiKey = 'sandbox-dev-key';
const otherApiKey = 'sandbox-dev-key-2';
const batchPath = '/baas/v1/transfers/batch';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
});
afterEach(async () => {
  const { audit } = (await bank.call('GET', '/sandbox/ledger')).body;
  await bank.stop();
  expect(audit).toEqual({ clean: true, problems: [] });
});

const { get, send, sendBatch } = transferCalls(() => bank);
const modes = (changes: object) => bank.call('PATCH', '/sandbox/modes', { body: changes });
const interrupt = () =>
  bank.application.get(Faults).add({
    ...{ endpoint: 'batch', kind: 'partial-batch', times: 1, probability: null },
    ...{ seed: 1, delayMs: null },
  } as const);
const readLedger = async () => {
  const { body } = await bank.call('GET', '/sandbox/ledger');
  const [first, second] = body.accounts.map(({ balance }: { balance: number }) => balance);
  return { balances: [first, second], movements: body.movements };
};
const statuses = (elements: { status: string }[]) => elements.map(({ status }) => status);

describe('a batch', () => {
  it('makes each item a separate transfer under one IdempotencyKey', async () => {
    const headers = newKeyHeader();
    const items = [batchItem({ amount: 1 }), batchItem({ amount: 2 })];
    const { body } = await sendBatch(items, headers);
    const { balances, movements } = await readLedger();
    expect(balances).toEqual([99_997, 5_003]);
    const line = (index: number, account: string, isCredit: boolean) =>
      expect.objectContaining({
        ...{ account, isCredit, amount: index + 1, externalId: items[index]?.externalId },
        type: `${isCredit ? 'CREDIT' : 'DEBIT'}_TRANSFER_INTERNAL`,
        idempotencyKey: headers.IdempotencyKey,
      });
    expect(movements).toEqual([
      ...[line(0, '1000001', false), line(1, '1000001', false)],
      ...[line(0, '1000002', true), line(1, '1000002', true)],
    ]);
    for (const [index, { externalId, amount }] of items.entries()) {
      expect(body[index]).toMatchObject({ externalId, amount });
      const found = (await get(externalId)).body;
      expect(found).toMatchObject({ id: body[index].id, status: 'EFFECTIVE', externalId, amount });
      expect((await get(body[index].id, otherApiKey)).body).toMatchObject({ externalId, amount });
    }
  });

  it('accepts the same externalId on many items', async () => {
    const externalId = randomUUID();
    const items = Array.from({ length: 30 }, () => batchItem({ externalId }));
    const { body } = await sendBatch(items);
    expect(new Set(body.map(({ id }: { id: string }) => id)).size).toBe(30);
    expect((await readLedger()).balances).toEqual([99_997, 5_003]);
  });

  it.each<[string, string, Record<string, unknown>]>([
    [
      'an account that does not exist',
      'beneficiary_account_not_found',
      { beneficiaryAccountNumber: '9' },
    ],
    [
      'an internal account of the bank',
      'beneficiary_account_not_found',
      { beneficiaryAccountNumber: 'spi' },
    ],
    [
      'the payer’s own account',
      'beneficiary_account_is_own',
      { beneficiaryAccountNumber: '1000001' },
    ],
    ['more than the balance', 'insufficient_funds', { amount: 99_999.91 }],
  ])(
    'moves nothing when one item is for %s, and leaves the key free',
    async (_, reason, changes) => {
      const headers = newKeyHeader();
      const refused = await sendBatch([batchItem(), batchItem(changes), batchItem()], headers);
      expectError(refused, 422);
      expect(refused.body).toMatchObject({
        code: reason,
        title: expect.stringContaining('Item 2'),
      });
      expect(await readLedger()).toEqual({ balances: [100_000, 5_000], movements: [] });
      expect((await sendBatch([batchItem()], headers)).status).toBe(200);
    },
  );

  it('executes the possible items in the mode partial, and reports the failed items', async () => {
    await modes({ batch: 'partial' });
    const items = [
      batchItem({ beneficiaryAccountNumber: '9' }),
      batchItem({ amount: 100_000 }),
      batchItem({ amount: 0.01 }),
    ];
    const { status, body } = await sendBatch(items);
    expect(status).toBe(200);
    expect(statuses(body)).toEqual(['ERROR', 'DONE', 'ERROR']);
    expect(body[0]).toMatchObject({
      ...{ externalId: items[0]?.externalId, transferAt: null, transferredAt: null },
      recipient: { number: '9', holder: null },
      error: { code: 'beneficiary_account_not_found', description: expect.any(String) },
    });
    expect(body[2].error.code).toBe('insufficient_funds');
    expect((await readLedger()).balances).toEqual([0, 105_000]);
    expectError(await get(body[0].id), 404);
    expectError(await get(items[2]?.externalId ?? ''), 404);
  });

  it('stops after its first half because of a fault, and a repeat gets the same response', async () => {
    interrupt();
    expectError(await sendBatch([batchItem({ amount: 1_000_000 })]), 422);
    const [items, headers] = [
      Array.from({ length: 5 }, () => batchItem({ amount: 1 })),
      newKeyHeader(),
    ];
    const { status, text, body } = await sendBatch(items, headers);
    expect(status).toBe(200);
    expect(statuses(body)).toEqual(['DONE', 'DONE', 'ERROR', 'ERROR', 'ERROR']);
    expect(body[2].error.code).toBe('batch_interrupted');
    expect((await sendBatch(items, headers)).text).toBe(text);
    expect((await readLedger()).balances).toEqual([99_998, 5_002]);
  });

  it('accepts at most batchMaximumItems items', async () => {
    await modes({ batchMaximumItems: 2 });
    expectError(await sendBatch([batchItem(), batchItem(), batchItem()]), 400, '$');
    expect((await sendBatch([batchItem(), batchItem()])).status).toBe(200);
  });

  it('of 300,000 items is refused at once, and of 1,000 wrong items with few messages', async () => {
    const items = (count: number) =>
      bank.call('POST', batchPath, {
        body: `[${Array.from({ length: count }, () => '1').join()}]`,
        headers: newKeyHeader(),
      });
    expectError(await items(300_000), 413);
    expectError(await items(1_001), 400, '$');
    const { text, body } = await items(1_000);
    expect(Object.values(body.errors as Record<string, string[]>).flat()).toHaveLength(101);
    expect(text.length).toBeLessThan(10_000);
  });

  it('larger than the largest body is refused after it was sent', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(3_000_000) });
    for (const path of [batchPath, '/baas/v1/charges', '/sandbox/faults']) {
      expectError(await bank.call('POST', path, { body, headers: newKeyHeader() }), 413);
      const chunked = await fetch(`${await bank.application.getUrl()}${path}`, {
        ...{ method: 'POST', duplex: 'half' },
        headers: { 'x-service-api-key': ownApiKey, 'content-type': 'application/json' },
        body: new Blob([body]).stream(),
      } as RequestInit);
      expect([chunked.status, await chunked.json()]).toMatchObject([413, { status: 413 }]);
    }
  });

  it('accepts hundreds of items', async () => {
    const items = Array.from({ length: 300 }, () => batchItem({ amount: 0.01 }));
    const { status, body } = await sendBatch(items);
    expect([status, body.length]).toEqual([200, 300]);
    expect((await readLedger()).balances).toEqual([99_997, 5_003]);
  });
});

describe('transfers between accounts', () => {
  it('never deadlock in opposite directions, and lose no cent', async () => {
    const opposite = Array.from({ length: 32 }, (_, index) => {
      const isSecond = index % 2 === 1;
      const beneficiaryAccount = isSecond ? '1000001' : '1000002';
      const request = internalTransfer({ amount: isSecond ? 2 : 1, beneficiaryAccount });
      return send(request, newKeyHeader(), isSecond ? otherApiKey : ownApiKey);
    });
    const batches = Array.from({ length: 4 }, () => sendBatch([batchItem(), batchItem()]));
    const responses = await Promise.all([...opposite, ...batches]);
    expect(responses.map(({ status }) => status)).toEqual(Array(36).fill(200));
    const { balances, movements } = await readLedger();
    expect(balances).toEqual([100_015.2, 4_984.8]);
    expect(movements).toHaveLength(80);
  });

  it('cannot spend the same balance twice', async () => {
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => send(internalTransfer({ amount: 30_000 }))),
    );
    const accepted = responses.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(3);
    expect((await readLedger()).balances).toEqual([10_000, 95_000]);
  });

  it('replay, refuse or execute a repeat, depending on the mode idempotentRepeat', async () => {
    const [request, headers] = [internalTransfer(), newKeyHeader()];
    const first = await send(request, headers);
    expect((await send(request, headers)).text).toBe(first.text);
    await modes({ idempotentRepeat: 'conflict' });
    expectError(await send(request, headers), 409);
    await modes({ idempotentRepeat: 'ignore' });
    expect((await send(request, headers)).body.id).not.toBe(first.body.id);
    expect((await readLedger()).movements).toHaveLength(4);
    expect((await get(request.externalId)).body.transactionNsu).toBe(2);
  });

  it('send a webhook to both accounts', async () => {
    const consumer = await WebhookConsumer.listen();
    try {
      const [debited, credited] = ['TRANSFER_INTERNAL_DEBITED', 'TRANSFER_INTERNAL_CREDITED'];
      await consumer.register(bank, debited, ownApiKey);
      await consumer.register(bank, credited, otherApiKey);
      const sent = (await send(internalTransfer())).body;
      const [item] = (await sendBatch([batchItem()])).body;
      const { id, externalId, amount, createdAt, payer, beneficiary } = sent;
      const sentWebhook = await consumer.find(debited, ownApiKey, id);
      expect(sentWebhook).toEqual({
        ...{ id, externalId, eventType: debited, status: 'EFFECTIVE', paymentChannel: 'API' },
        ...{ type: 'INTERNAL', amount, createdAt, payer, beneficiary },
      });
      const received = await consumer.find(credited, otherApiKey, `C${id}`);
      expect(received).toEqual({ ...sentWebhook, id: `C${id}`, eventType: credited });
      const ofBatch = await consumer.find(credited, otherApiKey, `C${item.id}`);
      expect(ofBatch.externalId).toBe(item.externalId);
      await consumer.find(debited, ownApiKey, item.id);
    } finally {
      consumer.close();
    }
  });
});
