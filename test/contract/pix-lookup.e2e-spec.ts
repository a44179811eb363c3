import { parseEndToEndId } from '../../src/brazil/end-to-end-id.js';
import { bankUnderTest, type BankUnderTest } from './bank-under-test.js';
import { expectError } from './samples.js';
import { known, party, transferCalls } from './transfer-samples.js';

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

const { lookUp } = transferCalls(() => bank);

describe('POST /baas/api/v2/pix/dict/payment-initialization', () => {
  it('answers whom the key leads to, with a document that is partly masked', async () => {
    const { status, body } = await lookUp();
    expect(status).toBe(200);
    expect(body).toMatchObject({ key: known.dictKey, beneficiary: party, keyBelongsHolder: false });
    expect(body.beneficiary.holder.document).toContain('*');
    expect(parseEndToEndId(body.endToEndId)).toMatchObject({ kind: 'E' });
  });

  it('tells whether the key belongs to a holder', async () => {
    const own = await lookUp({ key: known.dictKey, holderDocument: known.dictKeyDocument });
    expect(own.body.keyBelongsHolder).toBe(true);
    const other = await lookUp({ key: known.dictKey, holderDocument: '52998224725' });
    expect(other.body.keyBelongsHolder).toBe(false);
  });

  it('gives each look-up an endToEndId of its own, whatever IdempotencyKey it carries', async () => {
    const headers = { IdempotencyKey: '11111111-2222-4333-8444-555555555555' };
    const path = '/baas/api/v2/pix/dict/payment-initialization';
    const again = () => bank.call('POST', path, { body: { key: known.dictKey }, headers });
    const answers = [await again(), await again(), await lookUp()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.endToEndId)).size).toBe(3);
  });

  it('answers 404 for a key that nobody has registered', async () =>
    expectError(await lookUp({ key: `nobody-${Date.now()}@nowhere.example` }), 404));

  it.each([
    ['no key', {}],
    ['an empty key', { key: '' }],
    ['a number', { key: 12345678909 }],
    ['null', { key: null }],
    ['a CPF whose check digits do not hold', { key: '12345678900' }],
    ['a phone without its plus', { key: '11987650001x' }],
    ['a text that is no key', { key: 'not a key' }],
  ])('refuses %s on $.key', async (_, body) => expectError(await lookUp(body), 400, '$.key'));

  it('refuses a character that cannot be stored', async () =>
    expectError(await lookUp({ key: 'a\u0000@b.example' }), 400));

  it.each(['12345678900', 'a', ''])('refuses the holder document %p', async (holderDocument) =>
    expectError(await lookUp({ key: known.dictKey, holderDocument }), 400, '$.holderDocument'),
  );

  it('refuses what is no JSON, no object, or nothing', async () => {
    expectError(await lookUp('{"key":'), 400, '$');
    expectError(await lookUp([]), 400, '$');
    expectError(await lookUp(''), 400, '$');
  });
});
