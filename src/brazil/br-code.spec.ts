import { generatePixPayload, getPixPayloadInfo } from '@brazilian-utils/brazilian-utils';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldToAscii, readFields } from './br-code-fields.js';
import {
  additionalInformationSpace,
  buildStaticBrCode,
  parseBrCode,
  type BrCode,
} from './br-code.js';
import { parsePixKey } from './pix-key.js';

const EVP = '123e4567-e12b-12d1-a456-426655440000';
/** The example of the central bank's manual. */
const MANUAL =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000' +
  '5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D';
const MERCHANT = { pixKey: EVP, merchantName: 'Fulano de Tal', merchantCity: 'BRASILIA' };

const asciiText = (maxLength: number) =>
  fc
    .string({ unit: 'grapheme-ascii', maxLength })
    .map((text) => foldToAscii(text) || 'X')
    .filter((text) => text.length <= maxLength);
const fieldsOf = (pixKey: string) =>
  fc.record(
    {
      pixKey: fc.constant(pixKey),
      merchantName: asciiText(25),
      merchantCity: asciiText(15),
      amountCents: fc.bigInt({ min: 1n, max: 999_999_999_999n }),
      txid: fc.stringMatching(/^[A-Za-z0-9]{1,25}$/),
      additionalInformation: asciiText(additionalInformationSpace(pixKey)),
      postalCode: fc.stringMatching(/^[0-9]{8}$/),
    },
    { requiredKeys: ['pixKey', 'merchantName', 'merchantCity'] },
  );
const keys = [EVP, '12345678909', '12ABC34501DE35', '+5511987654321', 'a@b.br'];
// Each key has its generators once: fc.stringMatching takes milliseconds to prepare.
const anyFields = fc.oneof(...keys.map(fieldsOf));

describe('building a static code', () => {
  it('builds the example of the manual character for character', () => {
    expect(buildStaticBrCode(MERCHANT)).toBe(MANUAL);
  });

  it('builds the same code as brazilian-utils', () => {
    fc.assert(
      fc.property(anyFields, ({ postalCode: _, ...fields }) => {
        const fromLibrary = generatePixPayload({
          key: fields.pixKey,
          merchantName: fields.merchantName,
          merchantCity: fields.merchantCity,
          amount: fields.amountCents === undefined ? undefined : Number(fields.amountCents) / 100,
          txid: fields.txid,
          description: fields.additionalInformation,
        });
        expect(buildStaticBrCode(fields)).toBe(fromLibrary);
      }),
    );
  });

  it('builds codes that this parser and brazilian-utils parse to the same fields', () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const payload = buildStaticBrCode(fields);
        expect(read(payload)).toEqual({
          kind: 'STATIC',
          url: null,
          recurrenceUrl: null,
          withdrawalIspb: null,
          amountCents: null,
          txid: null,
          additionalInformation: null,
          postalCode: null,
          ...fields,
        });
        expect(getPixPayloadInfo(payload)?.key).toBe(fields.pixKey);
      }),
    );
  });

  it('removes accents, then cuts the name to 25 characters and the city to 15', () => {
    const code = read(
      buildStaticBrCode({
        ...MERCHANT,
        merchantName: 'Associação de Pães & Cafés São José Ltda.',
        merchantCity: 'São José dos Campos',
        additionalInformation: 'Maçã\u00a0–\n pêra 🍎',
      }),
    );
    expect(code.merchantName).toBe('Associacao de Paes & Cafe');
    expect(code.merchantCity).toBe('Sao Jose dos Ca');
    expect(code.additionalInformation).toBe('Maca pera');
  });

  it('writes the amount with two decimals, and leaves out an open amount', () => {
    expect(buildStaticBrCode({ ...MERCHANT, amountCents: 1000n })).toContain('540510.00');
    expect(buildStaticBrCode({ ...MERCHANT, amountCents: 1n })).toContain('54040.01');
    expect(buildStaticBrCode({ ...MERCHANT, amountCents: 999_999_999_999n })).toContain(
      '54139999999999.99',
    );
    expect(readFields(buildStaticBrCode(MERCHANT))?.has('54')).toBe(false);
  });

  it('writes the key in its DICT form, and the CEP without its dash', () => {
    const payload = buildStaticBrCode({
      ...MERCHANT,
      pixKey: '123.456.789-09',
      postalCode: '01310-100',
    });
    expect(read(payload)).toMatchObject({ pixKey: '12345678909', postalCode: '01310100' });
  });

  it.each([
    [EVP, 37],
    ['12345678909', 62],
    ['123.456.789-09', 62],
    ['+551198765432', 60],
    [`${'a'.repeat(12)}@mail.br`, 53],
    [`${'a'.repeat(65)}@example.com`, 0],
  ])('with the key %s has space for %i characters of information', (pixKey, space) => {
    expect(additionalInformationSpace(pixKey)).toBe(space);
    const written = (length: number) =>
      read(buildStaticBrCode({ ...MERCHANT, pixKey, additionalInformation: 'x'.repeat(length) }));
    expect(written(space).pixKey).toBe(parsePixKey(pixKey)?.key);
    for (const length of [space, space + 1, 64])
      expect(written(length).additionalInformation).toBe(
        'x'.repeat(Math.min(length, space)) || null,
      );
  });

  it('cuts the 64 characters of information that the contract allows beside an EVP key', () => {
    const additionalInformation = `${'Pedido 42 '.repeat(6)}fim!`;
    const payload = buildStaticBrCode({ ...MERCHANT, additionalInformation });
    expect(additionalInformation).toHaveLength(64);
    expect(read(payload).additionalInformation).toBe('Pedido 42 Pedido 42 Pedido 42 Pedido');
    expect(readFields(payload)?.get('26')).toHaveLength(98);
  });

  it.each([
    ['an amount of zero', { amountCents: 0n }],
    ['a negative amount', { amountCents: -1n }],
    ['an amount of fourteen characters', { amountCents: 1_000_000_000_000n }],
    ['a GUID as txid', { txid: EVP }],
    ['the placeholder *** as txid', { txid: '***' }],
    ['an invalid key', { pixKey: '11987654321' }],
    ['a name without printable ASCII', { merchantName: '株式会社' }],
    ['an empty city', { merchantCity: ' ' }],
    ['a CEP of seven digits', { postalCode: '1310100' }],
  ])('refuses to build %s', (_, wrong) => {
    expect(() => buildStaticBrCode({ ...MERCHANT, ...wrong })).toThrow(RangeError);
  });

  it('detects every changed character', () => {
    fc.assert(
      fc.property(
        anyFields,
        fc.nat(),
        fc.string({ minLength: 1, maxLength: 1, unit: 'grapheme-ascii' }),
        (fields, position, character) => {
          const payload = buildStaticBrCode(fields);
          const at = position % payload.length;
          const changed = payload.slice(0, at) + character + payload.slice(at + 1);
          // A lower case letter in the CRC, or white space at either end, does not change the code.
          const code = changed.trim();
          fc.pre(code.slice(0, -4) + code.slice(-4).toUpperCase() !== payload);
          expect(parseBrCode(changed).ok).toBe(false);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

function read(payload: string): BrCode {
  const parsed = parseBrCode(payload);
  if (!parsed.ok) throw new Error(`${parsed.reason}: ${payload}`);
  return parsed.brCode;
}
