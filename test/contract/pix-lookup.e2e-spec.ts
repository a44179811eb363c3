import { parseEndToEndId } from '../../src/brazil/end-to-end-id.js';
import { bankUnderTest, type BankUnderTest } from './bank-under-test.js';
import { expectError } from './samples.js';
import { knownBeneficiaries, partyShape, transferCalls } from './transfer-samples.js';

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

const { lookUp } = transferCalls(() => bank);

describe('POST /baas/api/v2/pix/dict/payment-initialization', () => {
  it('returns the holder of the key with a partly masked document', async () => {
    const { status, body } = await lookUp();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      key: knownBeneficiaries.dictKey,
      beneficiary: partyShape,
      keyBelongsHolder: false,
    });
    expect(body.beneficiary.holder.document).toContain('*');
    expect(parseEndToEndId(body.endToEndId)).toMatchObject({ kind: 'E' });
  });

  it('reports whether the key belongs to a given document', async () => {
    const matching = await lookUp({
      key: knownBeneficiaries.dictKey,
      holderDocument: knownBeneficiaries.dictKeyDocument,
    });
    expect(matching.body.keyBelongsHolder).toBe(true);
    const other = await lookUp({ key: knownBeneficiaries.dictKey, holderDocument: '52998224725' });
    expect(other.body.keyBelongsHolder).toBe(false);
  });

  it('returns a new endToEndId for each look-up, also with a repeated IdempotencyKey', async () => {
    const headers = { IdempotencyKey: '11111111-2222-4333-8444-555555555555' };
    const path = '/baas/api/v2/pix/dict/payment-initialization';
    const lookUpWithSameKey = () =>
      bank.call('POST', path, { body: { key: knownBeneficiaries.dictKey }, headers });
    const responses = [await lookUpWithSameKey(), await lookUpWithSameKey(), await lookUp()];
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(responses.map(({ body }) => body.endToEndId)).size).toBe(3);
  });

  it('returns 404 for a key that is not registered', async () =>
    expectError(await lookUp({ key: `nobody-${Date.now()}@nowhere.example` }), 404));

  it.each([
    ['no key', {}],
    ['an empty key', { key: '' }],
    ['a number', { key: 12345678909 }],
    ['null', { key: null }],
    ['a CPF with wrong check digits', { key: '12345678900' }],
    ['a phone without its plus', { key: '11987650001x' }],
    ['text that is not a key', { key: 'not a key' }],
  ])('rejects %s at $.key', async (_, body) => expectError(await lookUp(body), 400, '$.key'));

  it('rejects a character that cannot be stored', async () =>
    expectError(await lookUp({ key: 'a\u0000@b.example' }), 400));

  it.each(['12345678900', 'a', ' '])('rejects the holder document %p', async (holderDocument) =>
    expectError(
      await lookUp({ key: knownBeneficiaries.dictKey, holderDocument }),
      400,
      '$.holderDocument',
    ),
  );

  it('rejects a body that is not JSON, not an object, or empty', async () => {
    expectError(await lookUp('{"key":'), 400, '$');
    expectError(await lookUp([]), 400, '$');
    expectError(await lookUp(''), 400, '$');
  });
});
