import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatReaisWithTwoDecimals } from '../brazil/cents.js';
import { readTypedAmount, typedNumber, writeTypedAmount } from './typed-amount.js';

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

describe('a typed number', () => {
  it.each([
    ['1.234,56', '1234.56'],
    ['1234,5', '1234.5'],
    ['1234.56', '1234.56'],
    ['1.234', '1234'],
    ['1.234.567', '1234567'],
    ['12.34', '12.34'],
    ['0,10', '0.10'],
    [' R$ 10 ', '10'],
    ['999999999999,99', '999999999999.99'],
  ])('%s is read exactly', (typed, exact) => {
    expect(String(typedNumber(typed))).toBe(exact);
    expect(typedNumber(typed)).not.toBe(exact);
  });

  it.each(['abc', '1e5', '--1', '1,2,3', '01', '٣'])('%s stays text, which is refused', (typed) => {
    expect(typeof typedNumber(typed)).toBe('string');
  });

  it.each([undefined, '', '  '])('%p is absent', (typed) => {
    expect(typedNumber(typed)).toBeUndefined();
  });

  it.each([0n, 5n, 123_456n, 100_000_000_000n])('of %p cents is read as it is written', (cents) => {
    expect(String(typedNumber(writeTypedAmount(cents)))).toBe(formatReaisWithTwoDecimals(cents));
  });
});
