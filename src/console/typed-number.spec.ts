import { describe, expect, it } from '@jest/globals';
import { formatReaisWithTwoDecimals } from '../money/cents.js';
import { writeTypedAmount } from './typed-amount.js';
import { typedNumber } from './typed-number.js';

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
