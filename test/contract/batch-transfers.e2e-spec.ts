import { bankUnderTest, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader } from './samples.js';
import { batchItem, knownBeneficiaries, transferCalls } from './transfer-samples.js';

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

const { sendBatch } = transferCalls(() => bank);

const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/);
const batchParty = {
  number: expect.stringMatching(/.+/),
  branch: expect.any(String),
  type: expect.any(String),
  holder: {
    document: expect.any(String),
    name: expect.any(String),
    email: expect.any(String),
    type: expect.stringMatching(/^(NATURAL|LEGAL)$/),
  },
  bank: {
    code: expect.any(String),
    name: expect.any(String),
    nameFantasy: expect.any(String),
    ispbCode: expect.any(String),
  },
};

describe('POST /baas/v1/transfers/batch', () => {
  it('executes every item, and returns the results in the order of the items', async () => {
    const amounts = [0.1, 0.25, 0.1];
    const { status, body } = await sendBatch(amounts.map((amount) => batchItem({ amount })));
    expect(status).toBe(200);
    expect(body.map(({ amount }: { amount: number }) => amount)).toEqual(amounts);
    expect(new Set(body.map(({ id }: { id: string }) => id)).size).toBe(3);
    for (const element of body) {
      expect(element).toMatchObject({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/i),
        type: { id: expect.any(Number), name: 'INTERNAL', description: expect.any(String) },
        status: 'DONE',
        createdAt: timestamp,
        transferAt: timestamp,
        transferredAt: timestamp,
        sender: batchParty,
        recipient: { ...batchParty, number: knownBeneficiaries.beneficiaryAccount },
        tags: [],
      });
    }
  });

  it('executes one batch per IdempotencyKey, and returns the same response to each repeat', async () => {
    const [items, headers] = [[batchItem(), batchItem({ amount: 0.2 })], newKeyHeader()];
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => sendBatch(items, headers)),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expectError(await sendBatch(items.slice(1), headers), 422);
    expectError(await sendBatch([...items].reverse(), headers), 422);
  });

  it('accepts items without an externalId, and the content type application/json', async () => {
    const { status } = await sendBatch([batchItem({ externalId: undefined })], {
      ...newKeyHeader(),
      'content-type': 'application/json',
    });
    expect(status).toBe(200);
  });

  it('rejects a request without IdempotencyKey', async () =>
    expectError(await sendBatch([batchItem()], {}), 400, 'IdempotencyKey'));

  it.each<[string, unknown]>([
    ['no items', []],
    ['an item instead of an array', batchItem()],
    ['a string', '"items"'],
    ['incomplete JSON', '[{"amount":1'],
    ['an empty body', ''],
  ])('rejects %s at $', async (_, body) => expectError(await sendBatch(body), 400, '$'));

  it.each<[string, Record<string, unknown>]>([
    ['amount', { amount: undefined }],
    ['amount', { amount: 0 }],
    ['amount', { amount: 1.001 }],
    ['amount', { amount: '1' }],
    ['beneficiaryAccountNumber', { beneficiaryAccountNumber: undefined }],
    ['beneficiaryAccountNumber', { beneficiaryAccountNumber: 1 }],
    ['externalId', { externalId: 7 }],
  ])('rejects a wrong %s with the position of its item: %p', async (field, changes) =>
    expectError(await sendBatch([batchItem(), batchItem(changes)]), 400, `$[1].${field}`),
  );

  it('rejects an item that is not an object', async () =>
    expectError(await sendBatch([batchItem(), 'item']), 400, '$[1]'));

  it('rejects a body with a content type other than JSON', async () =>
    expectError(
      await sendBatch([batchItem()], { ...newKeyHeader(), 'content-type': 'text/plain' }),
      415,
    ));
});
