import { getPixKeyInfo } from '@brazilian-utils/brazilian-utils';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parsePixKey } from './pix-key.js';

const LONGEST_EMAIL = `${'a'.repeat(65)}@example.com`;

describe('parsePixKey', () => {
  it.each([
    ['123.456.789-09', 'CPF', '12345678909'],
    ['12345678909', 'CPF', '12345678909'],
    ['12.abc.345/01de-35', 'CNPJ', '12ABC34501DE35'],
    ['00000000000191', 'CNPJ', '00000000000191'],
    ['+5510998765432', 'PHONE', '+5510998765432'],
    ['+55 (11) 98765-4321', 'PHONE', '+5511987654321'],
    ['Fulano@Example.COM ', 'EMAIL', 'fulano@example.com'],
    ['pix@bcb.gov.br', 'EMAIL', 'pix@bcb.gov.br'],
    ['123E4567-E12B-12D1-A456-426655440000', 'EVP', '123e4567-e12b-12d1-a456-426655440000'],
    [LONGEST_EMAIL, 'EMAIL', LONGEST_EMAIL],
  ])('parses %s as %s in the form of the DICT', (text, kind, key) => {
    expect(parsePixKey(text)).toEqual({ kind, key });
  });

  it('parses eleven digits as a CPF, and a phone only with its +55', () => {
    expect(parsePixKey('51998259765')?.kind).toBe('CPF');
    expect(parsePixKey('+5551998259765')?.kind).toBe('PHONE');
    expect(parsePixKey('11987654321')).toBeNull();
  });

  it.each([
    '',
    '+',
    '+0511987654321',
    '+5511987654321012345',
    'fulano',
    '@example.com',
    'fulano@',
    'a@b@c.com',
    'fulano@-example.com',
    'fulano@exa..mple.com',
    'josé@example.com',
    '\u212Aelvin@example.com',
    `a${LONGEST_EMAIL}`,
    '123e4567e12b12d1a456426655440000',
    '12345678900',
    '+٥٥١١٩٨٧٦٥٤٣٢١',
  ])('rejects %j', (text) => {
    expect(parsePixKey(text)).toBeNull();
  });

  it('returns a key that it parses to the same key', () => {
    const evp = fc.uuid().map((uuid) => uuid.toUpperCase());
    const phone = fc.stringMatching(/^\+[1-9][0-9]{2,15}$/);
    fc.assert(
      fc.property(fc.oneof(evp, phone, fc.emailAddress({ size: 'small' })), (text) => {
        const key = parsePixKey(text);
        fc.pre(key !== null);
        expect(parsePixKey(key?.key ?? '')).toEqual(key);
      }),
    );
  });

  it('agrees with brazilian-utils on EVP keys and Brazilian mobile phones', () => {
    const mobile = fc
      .tuple(fc.constantFrom('11', '21', '51', '85'), fc.stringMatching(/^9[0-9]{8}$/))
      .map(([area, number]) => `+55${area}${number}`);
    fc.assert(
      fc.property(fc.oneof(fc.uuid(), mobile), (text) => {
        const fromLibrary = getPixKeyInfo(text);
        fc.pre(fromLibrary !== null);
        expect(parsePixKey(text)).toEqual({
          kind: fromLibrary?.type.toUpperCase(),
          key: fromLibrary?.value,
        });
      }),
    );
  });
});
