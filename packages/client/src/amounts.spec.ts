import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decimalText, fromCents, toCents } from './amounts.js';

describe('an amount', () => {
  it.each([
    ['292.51', 29251n],
    ['292.5', 29250n],
    ['292', 29200n],
    ['292.5100', 29251n],
    ['-0.01', -1n],
    ['9007199254740993.01', 900719925474099301n],
  ])('%s is %s cents', (amount, cents) => expect(toCents(amount)).toBe(cents));

  it.each(['0.001', '1e2', '.5', '', '1,50', '01.00', ' 1', 'NaN'])('is not %p', (amount) =>
    expect(() => toCents(amount)).toThrow(RangeError),
  );

  it('is the same after it was cents', () =>
    fc.assert(fc.property(fc.bigInt(), (cents) => expect(toCents(fromCents(cents))).toBe(cents))));
});

describe('the text of a number', () => {
  it.each([
    ['292.5', '292.50'],
    ['292', '292.00'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['9007199254740993.01', '9007199254740993.01'],
    ['2.9251e2', '292.51'],
    ['29251E-2', '292.51'],
    ['5e-3', '0.005'],
    ['12e3', '12000.00'],
    ['-1.500', '-1.50'],
    ['-0.00', '0.00'],
    ['0e5', '0.00'],
    ['1e999', '1e999'],
  ])('%s is %s', (number, text) => expect(decimalText(number)).toBe(text));

  it('is the number that it was', () =>
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) =>
        expect(Number(decimalText(String(number)))).toBe(number === 0 ? 0 : number),
      ),
    ));
});
