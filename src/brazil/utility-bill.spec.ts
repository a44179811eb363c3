import { getBoletoInfo, isValidBoleto } from '@brazilian-utils/brazilian-utils';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mod11Remainder } from './check-digit.js';
import {
  buildUtilityBill,
  formatUtilityBillLine,
  parseUtilityBill,
  type UtilityBill,
  type UtilityBillFields,
} from './utility-bill.js';

/** Lines of modulus 10 and modulus 11 that many public test suites contain. */
const MOD10_LINE = '84610000000-5 24610029110-2 00546033900-4 69589506108-0';
const MOD11_LINE = '85890000460-9 52460179160-5 60759305086-5 83148300001-0';

const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length });
const anyFields: fc.Arbitrary<UtilityBillFields> = fc
  .record({
    segment: fc.constantFrom('CITY_HALL', 'WATER', 'GOVERNMENT', 'OTHER_COMPANY', 'BANK_USE'),
    valueKind: fc.constantFrom('REAIS', 'QUANTITY'),
    modulus: fc.constantFrom(10, 11),
    value: fc.bigInt({ min: 0n, max: 99_999_999_999n }),
    company: digits(29),
  } as const)
  .map(({ company, ...fields }) => {
    const length = fields.segment === 'OTHER_COMPANY' ? 8 : 4;
    return { ...fields, companyCode: company.slice(0, length), freeField: company.slice(length) };
  });

describe('utility bill', () => {
  it('is parsed for published bills of both moduli', () => {
    expect(read(MOD10_LINE)).toEqual({
      barCode: '84610000000246100291100054603390069589506108',
      digitableLine: '846100000005246100291102005460339004695895061080',
      segment: 'TELECOM',
      valueKind: 'REAIS',
      modulus: 10,
      value: 2461n,
      amountCents: 2461n,
      companyCode: '0029',
      freeField: '1100054603390069589506108',
    });
    expect(read(MOD11_LINE)).toMatchObject({
      barCode: '85890000460524601791606075930508683148300001',
      segment: 'GOVERNMENT',
      modulus: 11,
      amountCents: 4_605_246n,
    });
    for (const line of [
      '836200000005667800481000180975657313001589636081',
      '836400000011331201380002812884627116080136181551',
    ]) {
      expect(read(line)).toMatchObject({ segment: 'ENERGY', digitableLine: line });
    }
  });

  it('has block check digits by the modulus of position 3 of its bar code', () => {
    for (const line of [MOD10_LINE, MOD11_LINE]) {
      const { barCode } = read(line);
      expect(formatUtilityBillLine(read(barCode).digitableLine)).toBe(line);
    }
  });

  it('is parsed to the fields that it was built from, also by brazilian-utils', () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const { barCode, digitableLine } = buildUtilityBill(fields);
        const bill = read(barCode);
        expect(bill).toMatchObject({ ...fields, barCode, digitableLine });
        expect(read(digitableLine)).toEqual(bill);
        expect(read(formatUtilityBillLine(digitableLine))).toEqual(bill);
        expect(isValidBoleto(digitableLine)).toBe(true);
        expect(getBoletoInfo(barCode)).toMatchObject({
          amount: Number(fields.value),
          hasEffectiveValue: fields.valueKind === 'REAIS',
        });
      }),
    );
  });

  it('has no amount when its value is a quantity', () => {
    const quantity = buildUtilityBill({ ...WATER, valueKind: 'QUANTITY' });
    expect(read(quantity.barCode)).toMatchObject({ value: 100n, amountCents: null });
  });

  it('has the eight-digit CNPJ root as company code in segment 6', () => {
    const bill = buildUtilityBill({
      ...WATER,
      segment: 'OTHER_COMPANY',
      companyCode: '12345678',
      freeField: '0'.repeat(21),
    });
    expect(bill.barCode.slice(15, 23)).toBe('12345678');
    expect(read(bill.barCode).companyCode).toBe('12345678');
  });

  it.each(['0', '8'])('is rejected with segment %s, which does not exist', (segment) => {
    const { barCode } = buildUtilityBill(WATER);
    const changed = `8${segment}${barCode.slice(2)}`;
    expect(parseUtilityBill(changed)).toEqual({ ok: false, reason: 'malformed' });
  });

  it.each(['0', '1', '2', '3', '4', '5'])('is rejected with the obsolete value id %s', (id) => {
    const { barCode } = buildUtilityBill(WATER);
    const changed = barCode.slice(0, 2) + id + barCode.slice(3);
    expect(parseUtilityBill(changed)).toEqual({ ok: false, reason: 'malformed' });
  });

  it('is rejected when a digit of a modulus 10 bill is changed', () => {
    fc.assert(
      fc.property(
        anyFields.map((fields) => buildUtilityBill({ ...fields, modulus: 10 })),
        fc.nat({ max: 40 }),
        fc.integer({ min: 1, max: 9 }),
        (bill, at, by) => {
          for (const code of [bill.barCode, bill.digitableLine]) {
            expect(parseUtilityBill(changeDigit(code, at + 3, by))).toEqual({
              ok: false,
              reason: 'wrong_check_digit',
            });
          }
        },
      ),
    );
  });

  it('of modulus 11 hides a changed digit only between the remainders 0 and 1', () => {
    fc.assert(
      fc.property(
        anyFields.map((fields) => buildUtilityBill({ ...fields, modulus: 11 })),
        fc.nat({ max: 39 }),
        fc.integer({ min: 1, max: 9 }),
        ({ barCode }, at, by) => {
          const changed = changeDigit(barCode, at + 4, by);
          const isUndetectable = [barCode, changed].every(
            (code) => mod11Remainder(code.slice(0, 3) + code.slice(4)) < 2,
          );
          expect(parseUtilityBill(changed).ok).toBe(isUndetectable);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['a value of twelve digits', { value: 100_000_000_000n }],
    ['a negative value', { value: -1n }],
    ['a short company code', { companyCode: '123' }],
    ['a company code of letters', { companyCode: 'ABCD' }],
    ['a short free field', { freeField: '0' }],
    [
      'a company code of segment 6 in another segment',
      { companyCode: '12345678', freeField: '1'.repeat(21) },
    ],
  ])('is not built with %s', (_, wrong) => {
    expect(() => buildUtilityBill({ ...WATER, ...wrong })).toThrow(RangeError);
  });

  it('is never parsed from a bank slip', () => {
    expect(parseUtilityBill('00190000090114971860168524522114675860000102656')).toEqual({
      ok: false,
      reason: 'malformed',
    });
  });
});

const WATER: UtilityBillFields = {
  segment: 'WATER',
  valueKind: 'REAIS',
  modulus: 11,
  value: 100n,
  companyCode: '0097',
  freeField: '1'.repeat(25),
};

function read(text: string): UtilityBill {
  const parsed = parseUtilityBill(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.bill;
}

function changeDigit(text: string, at: number, by: number): string {
  return text.slice(0, at) + ((Number(text[at]) + by) % 10) + text.slice(at + 1);
}
