import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { buildBankSlip, formatDigitableLine } from './bank-slip.js';
import { hasBarCodeLength, parseBillCode } from './bill-code.js';
import { buildUtilityBill, formatUtilityBillLine } from './utility-bill.js';

const digits = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .map((all) => all.join(''));
const slips = fc
  .tuple(fc.bigInt({ min: 0n, max: 9_999_999_999n }), digits(25))
  .map(([amountCents, freeField]) =>
    buildBankSlip({ bankCode: '237', amountCents, dueDate: '2026-12-01', freeField }),
  );
const utilityBills = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 99_999_999_999n }),
    digits(25),
    fc.constantFrom('REAIS' as const, 'QUANTITY' as const),
    fc.constantFrom(10 as const, 11 as const),
  )
  .map(([value, freeField, valueKind, modulus]) =>
    buildUtilityBill({
      segment: 'ENERGY',
      valueKind,
      modulus,
      value,
      companyCode: '0179',
      freeField,
    }),
  );

describe('the code of a bill', () => {
  it('is the same for the bar code and the digitable line, with and without punctuation', () => {
    fc.assert(
      fc.property(slips, ({ barCode, digitableLine }) => {
        for (const text of [barCode, digitableLine, formatDigitableLine(digitableLine)])
          expect(parseBillCode(text)).toMatchObject({
            ok: true,
            code: { type: 'BANKSLIP', barCode, digitableLine },
          });
      }),
    );
    fc.assert(
      fc.property(utilityBills, ({ barCode, digitableLine }) => {
        for (const text of [barCode, digitableLine, formatUtilityBillLine(digitableLine)])
          expect(parseBillCode(text)).toMatchObject({
            ok: true,
            code: { type: 'TAXES', barCode, digitableLine },
          });
      }),
    );
  });

  it('is rejected when a digit of a modulus 10 line is changed', () => {
    const { digitableLine } = buildUtilityBill({
      segment: 'WATER',
      valueKind: 'REAIS',
      modulus: 10,
      value: 12_345n,
      companyCode: '0001',
      freeField: '0123456789012345678901234',
    });
    for (let at = 3; at < digitableLine.length; at += 1) {
      const other = (Number(digitableLine[at]) + 1) % 10;
      const wrong = digitableLine.slice(0, at) + other + digitableLine.slice(at + 1);
      expect(parseBillCode(wrong)).toEqual({ ok: false, reason: 'wrong_check_digit' });
    }
  });

  it.each([
    '',
    '1',
    '8'.repeat(44),
    '1'.repeat(43),
    '1'.repeat(45),
    '1'.repeat(48),
    '8'.repeat(47),
    '0019050095401448160690680935031433737000000010O',
    '٠'.repeat(44),
    ' '.repeat(200),
  ])('is not read from the malformed text %j', (text) => {
    expect(parseBillCode(text).ok).toBe(false);
  });

  it('contains the issuer of a slip without an amount, and rejects a slip without a currency', () => {
    // By FB-0061/2021: bank 988, currency 0, no due date factor, the ISPB instead of the amount.
    const withIspb = findSlip('9880', `000000${'12345678'}${'0'.repeat(25)}`);
    expect(parseBillCode(withIspb)).toMatchObject({ ok: true, code: { issuerIspb: '12345678' } });
    const withoutCurrency = findSlip('2370', `10000000012345${'0'.repeat(25)}`);
    expect(parseBillCode(withoutCurrency)).toEqual({ ok: false, reason: 'unknown_currency' });
  });
});

it('distinguishes a bar code from a digitable line by its length', () => {
  expect(hasBarCodeLength('1'.repeat(44))).toBe(true);
  expect(hasBarCodeLength(`${'1'.repeat(22)} ${'1'.repeat(22)}`)).toBe(true);
  expect(hasBarCodeLength('1'.repeat(47))).toBe(false);
});

/**
 * The bar code with this head and tail. Its general check digit is found by trying all nine digits.
 */
function findSlip(head: string, tail: string): string {
  const codes = Array.from({ length: 9 }, (_, digit) => `${head}${digit + 1}${tail}`);
  const valid = codes.find((code) => {
    const parsed = parseBillCode(code);
    return parsed.ok || parsed.reason !== 'wrong_check_digit';
  });
  if (!valid) throw new Error('none of the nine check digits is valid');
  return valid;
}
