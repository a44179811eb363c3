import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatReais, formatReaisWithTwoDecimals, parseReais } from './cents.js';

const MAX_CENTS = 99_999_999_999_999n;
const anyCents = fc.bigInt({ min: -MAX_CENTS, max: MAX_CENTS });

describe('parseReais', () => {
  it.each([
    ['10', 1000n],
    ['10.5', 1050n],
    ['10.50', 1050n],
    ['10.500', 1050n],
    ['1e2', 10_000n],
    ['1E+2', 10_000n],
    ['150e-2', 150n],
    ['0.01', 1n],
    ['1000e-5', 1n],
    ['8.95', 895n],
    ['-1', -100n],
    ['-0.05', -5n],
    ['-0', 0n],
    ['0e999999999', 0n],
    ['999999999999.99', MAX_CENTS],
    ['-999999999999.99', -MAX_CENTS],
  ])('reads the value of %s', (text, cents) => {
    expect(parseReais(text)).toEqual({ ok: true, cents });
  });

  it.each(['10.005', '10.000000000000000001', '1e-3', '5e-999999999', '999999999999.991'])(
    'rejects %s, which has more than two decimals',
    (text) => {
      expect(parseReais(text)).toEqual({ ok: false, reason: 'too_many_decimals' });
    },
  );

  it.each(['1000000000000', '-1e12', '1e400', `1e${'9'.repeat(400)}`, '9'.repeat(100_000)])(
    'rejects an amount above the maximum without computing it',
    (text) => {
      expect(parseReais(text)).toEqual({ ok: false, reason: 'too_large' });
    },
  );

  it.each(['', '"10,00"', '10,00', '1.000,00', '+1', '.5', '5.', '010', '1_000', ' 1', '1\n'])(
    'rejects %j, which is not a JSON number',
    (text) => {
      expect(parseReais(text)).toEqual({ ok: false, reason: 'not_a_number' });
    },
  );

  it.each(['NaN', 'Infinity', '0x10', '1n', '١٠', '１０', '1\u0000', 'null', '--1', '1e', '1e1.5'])(
    'rejects %j, which JavaScript or a person might read as a number',
    (text) => {
      expect(parseReais(text)).toEqual({ ok: false, reason: 'not_a_number' });
    },
  );

  it('reads every amount with two decimals and trailing zeros', () => {
    fc.assert(
      fc.property(anyCents, fc.nat({ max: 5 }), (cents, zeros) => {
        const text = formatReaisWithTwoDecimals(cents) + '0'.repeat(zeros);
        expect(parseReais(text)).toEqual({ ok: true, cents });
      }),
    );
  });

  it('accepts the same texts as numbers as JSON.parse', () => {
    const numberLike = fc.string({ unit: fc.constantFrom(...'0123456789.eE+-'), maxLength: 12 });
    fc.assert(
      fc.property(numberLike, (text) => {
        const result = parseReais(text);
        const isRejected = !result.ok && result.reason === 'not_a_number';
        expect(isRejected).toBe(!isJsonNumber(text));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('formatReais', () => {
  it.each([
    [1050n, '10.5'],
    [1000n, '10'],
    [1005n, '10.05'],
    [-5n, '-0.05'],
    [0n, '0'],
    [10_000n, '100'],
    [MAX_CENTS, '999999999999.99'],
  ])('writes %s as %s, the shortest exact JSON number', (cents, text) => {
    expect(formatReais(cents)).toBe(text);
  });

  it('is parsed to the same amount, and is written as JavaScript writes the number', () => {
    fc.assert(
      fc.property(anyCents, (cents) => {
        expect(parseReais(formatReais(cents))).toEqual({ ok: true, cents });
        expect(formatReais(cents)).toBe(String(Number(formatReaisWithTwoDecimals(cents))));
      }),
    );
  });

  it('always writes two decimals where a format requires them', () => {
    expect([1000n, -5n, 123_456n, 0n].map(formatReaisWithTwoDecimals)).toEqual([
      '10.00',
      '-0.05',
      '1234.56',
      '0.00',
    ]);
  });
});

function isJsonNumber(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'number';
  } catch {
    return false;
  }
}
