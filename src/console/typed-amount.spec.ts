import { describe, expect, it } from '@jest/globals';
import { readTypedAmount, writeTypedAmount } from './typed-amount.js';

describe('a typed amount', () => {
  it.each([
    ['1.234,56', 123_456n],
    ['R$ 10', 1_000n],
    [' r$ 1.000.000,5', 100_000_050n],
    ['10.50', 1_050n],
    ['0,01', 1n],
    ['007', 700n],
    ['1.234', 123_400n],
    ['1.23.4', null],
    ['10,505', null],
    ['-5', null],
    ['1e3', null],
    ['', null],
    ['9'.repeat(13), null],
  ])('%p is %p cents', (text, cents) => {
    expect(readTypedAmount(text)).toBe(cents);
  });

  it('is written as it is typed', () => {
    expect([writeTypedAmount(123_456n), writeTypedAmount(5n)]).toEqual(['1234,56', '0,05']);
  });
});
