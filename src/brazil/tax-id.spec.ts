import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mod11Remainder } from './check-digit.js';
import { formatTaxId, maskTaxId, parseTaxId } from './tax-id.js';

const text = (characters: string, length: number) =>
  fc.string({ unit: fc.constantFrom(...characters), minLength: length, maxLength: length });
const DIGITS = '0123456789';
const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

const anyCpf = text(DIGITS, 9)
  .filter((base) => !isRepeated(base))
  .map((base) => withCpfDigits(base));
const anyCnpj = text(DIGITS + CAPITALS, 12)
  .filter((base) => !isRepeated(base))
  .map((base) => withCnpjDigits(base));

describe('parseTaxId', () => {
  it.each([
    ['123.456.789-09', 'NATURAL', '12345678909'],
    ['12345678909', 'NATURAL', '12345678909'],
    ['11111111200', 'NATURAL', '11111111200'],
    ['00000000191', 'NATURAL', '00000000191'],
    [' 51998259765\n', 'NATURAL', '51998259765'],
    ['00.000.000/0001-91', 'LEGAL', '00000000000191'],
    ['12.ABC.345/01DE-35', 'LEGAL', '12ABC34501DE35'],
    ['12abc34501de35', 'LEGAL', '12ABC34501DE35'],
    ['AA345678000386', 'LEGAL', 'AA345678000386'],
  ])('parses %j as a %s person', (input, kind, number) => {
    expect(parseTaxId(input)).toEqual({ kind, number });
  });

  it('rejects AA345678/0003-29, which the Receita’s FAQ prints with wrong check digits', () => {
    expect(parseTaxId('AA.345.678/0003-29')).toBeNull();
    expect(parseTaxId('AA345678000329')).toBeNull();
  });

  it('rejects repeated digits although their check digits are right', () => {
    for (const digit of DIGITS) {
      expect(parseTaxId(digit.repeat(11))).toBeNull();
      expect(parseTaxId(digit.repeat(14))).toBeNull();
    }
  });

  it('rejects a number without its leading zeros', () => {
    expect(parseTaxId('191')).toBeNull();
    expect(parseTaxId('0000000191')).toBeNull();
  });

  it.each([
    '123.456.789.09',
    '123456789-09',
    '1234567890 9',
    '12.ABC.345/01DE-3A',
    'CPF 12345678909',
    '١٢٣٤٥٦٧٨٩٠٩',
    '１２３４５６７８９０９',
    '12ABC34501D\u017f35',
    '',
  ])('rejects %j', (input) => {
    expect(parseTaxId(input)).toBeNull();
  });

  it('parses every number with right check digits, numeric or alphanumeric', () => {
    fc.assert(
      fc.property(fc.oneof(anyCpf, anyCnpj), (number) => {
        const taxId = parseTaxId(number);
        expect(taxId).toEqual({ kind: number.length === 11 ? 'NATURAL' : 'LEGAL', number });
        if (taxId !== null) expect(parseTaxId(formatTaxId(taxId).toLowerCase())).toEqual(taxId);
      }),
    );
  });

  it('detects a changed digit of a CNPJ unless both remainders stay within 0 and 1', () => {
    fc.assert(
      fc.property(anyCnpj, fc.nat({ max: 13 }), text(DIGITS, 1), (number, at, digit) => {
        // A letter may differ from a digit by 11 (A is 17, 6 is 6), which modulus 11 cannot detect.
        fc.pre(number[at] !== digit && /[0-9]/.test(number[at] ?? ''));
        const changed = number.slice(0, at) + digit + number.slice(at + 1);
        const isUndetectable =
          at < 12 && withCnpjDigits(changed.slice(0, 12)).slice(12) === number.slice(12);
        const areRemaindersSmall = [number, changed].every(
          (n) => mod11Remainder(n.slice(0, 12)) < 2 && mod11Remainder(n.slice(0, 13)) < 2,
        );
        expect(parseTaxId(changed) === null).toBe(!isUndetectable || isRepeated(changed));
        if (isUndetectable) expect(areRemaindersSmall).toBe(true);
      }),
      { numRuns: 2000 },
    );
    // A (17) and 6 differ by 11: no check digit distinguishes them.
    expect(withCnpjDigits('A23456780001').slice(12)).toBe(withCnpjDigits('623456780001').slice(12));
  });
});

describe('formatTaxId and maskTaxId', () => {
  it('punctuates a CPF and an alphanumeric CNPJ', () => {
    expect(formatTaxId({ kind: 'NATURAL', number: '12345678909' })).toBe('123.456.789-09');
    expect(formatTaxId({ kind: 'LEGAL', number: '12ABC34501DE35' })).toBe('12.ABC.345/01DE-35');
  });

  it('masks a CPF except its six middle digits, and shows a CNPJ in full', () => {
    expect(maskTaxId({ kind: 'NATURAL', number: '12345678909' })).toBe('***.456.789-**');
    expect(maskTaxId({ kind: 'LEGAL', number: '00000000000191' })).toBe('00.000.000/0001-91');
  });

  it('throws for a number that is not of its kind', () => {
    expect(() => formatTaxId({ kind: 'NATURAL', number: '00000000000191' })).toThrow(RangeError);
    expect(() => maskTaxId({ kind: 'LEGAL', number: '12abc34501de35' })).toThrow(RangeError);
  });
});

/** Weights 2 to 10, then 2 to 11, from the right; remainders 0 and 1 give 0. */
function withCpfDigits(base: string): string {
  let number = base;
  for (let i = 0; i < 2; i += 1) {
    const sum = [...number].reduce(
      (total, digit, at) => total + Number(digit) * (number.length + 1 - at),
      0,
    );
    number += sum % 11 < 2 ? 0 : 11 - (sum % 11);
  }
  return number;
}

/** Weights 2 to 9 from the right over ASCII less 48; remainders 0 and 1 give 0. */
function withCnpjDigits(base: string): string {
  let number = base;
  for (let i = 0; i < 2; i += 1) {
    const remainder = mod11Remainder(number);
    number += remainder < 2 ? 0 : 11 - remainder;
  }
  return number;
}

function isRepeated(number: string): boolean {
  return [...number].every((character) => character === number[0]);
}
