import { bankUnderTest, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKey } from './samples.js';
import { batchItem, known, transferCalls } from './transfer-samples.js';

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

const { sendBatch } = transferCalls(() => bank);

const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/);
const party = {
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
  it('does every item, and answers each in its place', async () => {
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
        sender: party,
        recipient: { ...party, number: known.beneficiaryAccount },
        tags: [],
      });
    }
  });

  it('does one batch for one IdempotencyKey, and answers each repeat the same', async () => {
    const [items, headers] = [[batchItem(), batchItem({ amount: 0.2 })], newKey()];
    const answers = await Promise.all(Array.from({ length: 20 }, () => sendBatch(items, headers)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expectError(await sendBatch(items.slice(1), headers), 422);
    expectError(await sendBatch([...items].reverse(), headers), 422);
  });

  it('takes items without an externalId, and as plain JSON', async () => {
    const { status } = await sendBatch([batchItem({ externalId: undefined })], {
      ...newKey(),
      'content-type': 'application/json',
    });
    expect(status).toBe(200);
  });

  it('refuses a request without IdempotencyKey', async () =>
    expectError(await sendBatch([batchItem()], {}), 400, 'IdempotencyKey'));

  it.each<[string, unknown]>([
    ['no items', []],
    ['one item that is no array', batchItem()],
    ['a text', '"items"'],
    ['half a document', '[{"amount":1'],
    ['nothing', ''],
  ])('refuses %s on $', async (_, body) => expectError(await sendBatch(body), 400, '$'));

  it.each<[string, Record<string, unknown>]>([
    ['amount', { amount: undefined }],
    ['amount', { amount: 0 }],
    ['amount', { amount: 1.001 }],
    ['amount', { amount: '1' }],
    ['beneficiaryAccountNumber', { beneficiaryAccountNumber: undefined }],
    ['beneficiaryAccountNumber', { beneficiaryAccountNumber: 1 }],
    ['externalId', { externalId: '' }],
  ])('names the item whose %s is wrong: %p', async (field, changes) =>
    expectError(await sendBatch([batchItem(), batchItem(changes)]), 400, `$[1].${field}`),
  );

  it('refuses an item that is no object', async () =>
    expectError(await sendBatch([batchItem(), 'item']), 400, '$[1]'));

  it('refuses a body that is not JSON by its type', async () =>
    expectError(
      await sendBatch([batchItem()], { ...newKey(), 'content-type': 'text/plain' }),
      415,
    ));
});
