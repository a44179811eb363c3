import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readTypedAmount, writeTypedAmount } from './typed-amount.js';

describe('a typed amount', () => {
  it.each([
    ['10', 1_000n],
    ['R$ 10', 1_000n],
    ['r$10,5', 1_050n],
    ['1.234,56', 123_456n],
    ['1.234', 123_400n],
    ['1234,56', 123_456n],
    ['10.50', 1_050n],
    ['10.5', 1_050n],
    [' r$ 1.000.000,5', 100_000_050n],
    ['R$\u00a01.000.000,00', 100_000_000n],
    ['0,01', 1n],
    ['007', 700n],
  ])('%j is %s cents', (text, cents) => expect(readTypedAmount(text)).toBe(cents));

  it.each([
    '',
    ' ',
    '-1',
    '1,234',
    '1,234.56',
    '1.23.4',
    '10,505',
    '1e3',
    'dez',
    '١٠',
    '9'.repeat(13),
    '9'.repeat(20),
  ])('%j is none', (text) => expect(readTypedAmount(text)).toBeNull());

  it('is written as it is typed', () => {
    expect([writeTypedAmount(123_456n), writeTypedAmount(5n)]).toEqual(['1234,56', '0,05']);
  });

  it('is read as it is written', () =>
    fc.assert(
      fc.property(fc.bigInt(0n, 99_999_999_999_999n), (cents) => {
        expect(readTypedAmount(writeTypedAmount(cents))).toBe(cents);
      }),
    ));
});
