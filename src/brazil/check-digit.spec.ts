import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  bankSlipMod11CheckDigit,
  mod10CheckDigit,
  mod11Remainder,
  utilityBillMod11CheckDigit,
} from './check-digit.js';

const anyDigits = fc.string({
  unit: fc.constantFrom(...'0123456789'),
  minLength: 1,
  maxLength: 60,
});

/** Digits, and the same digits with exactly one changed. */
const oneChange = anyDigits.chain((digits) =>
  fc
    .record({ at: fc.nat({ max: digits.length - 1 }), by: fc.integer({ min: 1, max: 9 }) })
    .map(({ at, by }) => {
      const changed = (Number(digits[at]) + by) % 10;
      return { digits, changed: digits.slice(0, at) + changed + digits.slice(at + 1) };
    }),
);

describe('modulus 10', () => {
  it.each([
    // Fields of 00190.00009 01149.718601 68524.522114, a slip of Banco do Brasil.
    ['001900000', 9],
    ['0114971860', 1],
    ['6852452211', 4],
    // 01230067896 is the example of FEBRABAN's layout v07.
    ['01230067896', 3],
    ['0', 0],
  ])('computes the printed check digit of %s', (digits, digit) => {
    expect(mod10CheckDigit(digits)).toBe(digit);
  });

  it('detects every change of one digit', () => {
    fc.assert(
      fc.property(oneChange, ({ digits, changed }) => {
        expect(mod10CheckDigit(changed)).not.toBe(mod10CheckDigit(digits));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('modulus 11', () => {
  // The smallest number with each remainder.
  const byRemainder = new Map<number, string>();
  for (let n = 0; byRemainder.size < 11; n += 1) {
    const remainder = mod11Remainder(String(n));
    if (!byRemainder.has(remainder)) byRemainder.set(remainder, String(n));
  }
  const table = (digit: (digits: string) => number) =>
    Array.from({ length: 11 }, (_, remainder) => digit(byRemainder.get(remainder) ?? ''));

  it('gives a bank slip 1 for the remainders 0, 1 and 10, and never 0', () => {
    expect(table(bankSlipMod11CheckDigit)).toEqual([1, 1, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  it('gives a utility bill 0 for the remainders 0 and 1, and 1 for 10', () => {
    expect(table(utilityBillMod11CheckDigit)).toEqual([0, 0, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  it('has the weights 2 to 9 from the right, repeated', () => {
    expect(mod11Remainder('1000000000')).toBe(3);
    expect(mod11Remainder('100000000')).toBe(2);
    expect(mod11Remainder('10000000')).toBe(9);
    // 01230067896 is the example of FEBRABAN's layout v07.
    expect(utilityBillMod11CheckDigit('01230067896')).toBe(0);
  });

  it('misses a changed digit of a bank slip only between the remainders 0, 1 and 10', () => {
    fc.assert(
      fc.property(oneChange, ({ digits, changed }) => {
        const isUndetectable = [digits, changed].every((d) =>
          [0, 1, 10].includes(mod11Remainder(d)),
        );
        expect(mod11Remainder(changed)).not.toBe(mod11Remainder(digits));
        expect(bankSlipMod11CheckDigit(changed) === bankSlipMod11CheckDigit(digits)).toBe(
          isUndetectable,
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('misses a changed digit of a utility bill only between the remainders 0 and 1', () => {
    fc.assert(
      fc.property(oneChange, ({ digits, changed }) => {
        const isUndetectable = [digits, changed].every((d) => mod11Remainder(d) < 2);
        const isMissed = utilityBillMod11CheckDigit(changed) === utilityBillMod11CheckDigit(digits);
        expect(isMissed).toBe(isUndetectable);
      }),
      { numRuns: 2000 },
    );
  });
});
