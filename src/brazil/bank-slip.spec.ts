import { getBoletoInfo, isValidBoleto } from '@brazilian-utils/brazilian-utils';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  bankSlipDigitableLine,
  buildBankSlip,
  formatDigitableLine,
  parseBankSlip,
  type BankSlip,
} from './bank-slip.js';
import { addDays } from './calendar.js';
import { bankSlipMod11CheckDigit, mod11Remainder } from './check-digit.js';

/** A slip of Banco do Brasil, published by brazilian-utils: due 2018-07-15, R$ 1,026.56. */
const BB_LINE = '00190000090114971860168524522114675860000102656';
/** A slip of Santander, published by br-validators: second cycle of due dates, R$ 996.68. */
const SANTANDER_LINE = '03399.02579 08991.834006 71742.301014 6 14500000099668';

const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length });
const anyFields = fc.record({
  bankCode: digits(3).filter((code) => code[0] !== '8'),
  amountCents: fc.bigInt({ min: 0n, max: 9_999_999_999n }),
  dueDate: fc.option(fc.nat({ max: 17_999 }).map((days) => addDays('2000-07-03', days))),
  freeField: digits(25),
});
const anySlip = anyFields.map(buildBankSlip);

describe('bank slip', () => {
  it('parses published slips of both due date cycles', () => {
    expect(read(BB_LINE, '2018-07-01')).toEqual({
      barCode: '00196758600001026560000001149718606852452211',
      digitableLine: BB_LINE,
      bankCode: '001',
      amountCents: 102_656n,
      dueDate: '2018-07-15',
      possibleDueDates: ['2018-07-15', '2043-03-06'],
      issuerIspb: null,
      freeField: '0000001149718606852452211',
    });
    expect(read(SANTANDER_LINE, '2026-11-21')).toMatchObject({
      bankCode: '033',
      amountCents: 99_668n,
      dueDate: '2026-05-18',
    });
  });

  it('builds published slips digit for digit', () => {
    const { barCode, digitableLine } = buildBankSlip({
      bankCode: '033',
      amountCents: 99_668n,
      dueDate: '2026-05-18',
      freeField: read(SANTANDER_LINE).freeField,
    });
    expect(formatDigitableLine(digitableLine)).toBe(SANTANDER_LINE);
    expect(bankSlipDigitableLine(barCode)).toBe(digitableLine);
  });

  it('parses the bar codes and the digitable lines that it builds', () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const { barCode, digitableLine } = buildBankSlip(fields);
        const reference = fields.dueDate ?? '2026-11-21';
        const fromBarCode = read(barCode, reference);
        expect(fromBarCode).toMatchObject({ ...fields, barCode, digitableLine });
        expect(read(digitableLine, reference)).toEqual(fromBarCode);
        expect(read(formatDigitableLine(digitableLine), reference)).toEqual(fromBarCode);
      }),
    );
  });

  it('agrees with brazilian-utils on lines, amounts and due dates', () => {
    fc.assert(
      fc.property(anyFields, ({ dueDate, ...fields }) => {
        const line = buildBankSlip({ ...fields, dueDate }).digitableLine;
        expect(isValidBoleto(line)).toBe(true);
        const [year, month, day] = (dueDate ?? '2026-11-21').split('-').map(Number);
        const referenceDate = new Date(year ?? 0, (month ?? 0) - 1, day);
        const fromLibrary = getBoletoInfo(line, { referenceDate });
        expect(fromLibrary).toMatchObject({
          amount: Number(fields.amountCents),
          bankCode: fields.bankCode,
          expirationDate: dueDate === null ? null : referenceDate,
        });
      }),
    );
  });

  it('has no due date but both possible due dates when no reference date is given', () => {
    expect(read(BB_LINE)).toMatchObject({
      dueDate: null,
      possibleDueDates: ['2018-07-15', '2043-03-06'],
    });
  });

  it('leaves out the due date for an amount above 99,999,999.99 reais', () => {
    const slip = buildBankSlip({
      bankCode: '341',
      amountCents: 10_000_000_000n,
      dueDate: '2026-12-01',
      freeField: '1'.repeat(25),
    });
    expect(slip.barCode.slice(5, 19)).toBe('00010000000000');
    expect(read(slip.barCode, '2026-11-21')).toMatchObject({
      amountCents: 10_000_000_000n,
      dueDate: null,
      possibleDueDates: [],
    });
    expect(
      read(buildBankSlip({ ...ZEROS, amountCents: 9_999_999_999_999n }).barCode),
    ).toMatchObject({ amountCents: 9_999_999_999_999n });
  });

  it('parses zeros as no due date and an open amount', () => {
    expect(read(buildBankSlip(ZEROS).digitableLine, '2026-11-21')).toMatchObject({
      amountCents: 0n,
      dueDate: null,
      possibleDueDates: [],
    });
  });

  it('never parses the ISPB of an FB-0061 "Situação 2" slip as an amount', () => {
    const barCode = withGeneralDigit('9880', `${'0000'}${'0012345678'}${'7'.repeat(25)}`);
    expect(read(barCode, '2026-11-21')).toMatchObject({
      bankCode: '988',
      amountCents: null,
      dueDate: null,
      issuerIspb: '12345678',
    });
    expect(read(bankSlipDigitableLine(barCode))).toEqual(read(barCode));
    // The library reads it as R$ 123,456.78.
    expect(getBoletoInfo(bankSlipDigitableLine(barCode))?.amount).toBe(12_345_678);
  });

  it.each(['0010', '0018', '9881'])(
    'rejects a slip that begins with %s, which is not in reais',
    (head) => {
      const barCode = withGeneralDigit(head, '1000' + '0'.repeat(35));
      expect(parseBankSlip(barCode)).toEqual({ ok: false, reason: 'unknown_currency' });
    },
  );

  it('rejects a utility bill with its own reason', () => {
    const bill = '846100000005246100291102005460339004695895061080';
    expect(parseBankSlip(bill)).toEqual({ ok: false, reason: 'utility_bill' });
  });

  it('detects every changed digit in the first three fields of a digitable line', () => {
    fc.assert(
      fc.property(anySlip, fc.nat({ max: 31 }), fc.integer({ min: 1, max: 9 }), (slip, at, by) => {
        const changed = changeDigit(slip.digitableLine, at, by);
        fc.pre(changed[0] !== '8');
        expect(parseBankSlip(changed)).toEqual({ ok: false, reason: 'wrong_check_digit' });
      }),
    );
  });

  it('misses a changed digit of a bar code only between the remainders 0, 1 and 10', () => {
    fc.assert(
      fc.property(anySlip, fc.nat({ max: 43 }), fc.integer({ min: 1, max: 9 }), (slip, at, by) => {
        const changed = changeDigit(slip.barCode, at, by);
        fc.pre(changed[0] !== '8' && at !== 3);
        const isUndetectable = [slip.barCode, changed].every((code) =>
          [0, 1, 10].includes(mod11Remainder(code.slice(0, 4) + code.slice(5))),
        );
        expect(parseBankSlip(changed).ok).toBe(isUndetectable && at !== 4);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['a bank code of a utility bill', { bankCode: '801' }],
    ['a short bank code', { bankCode: '1' }],
    ['a negative amount', { amountCents: -1n }],
    ['an amount above fourteen places', { amountCents: 10_000_000_000_000n }],
    ['a short free field', { freeField: '1' }],
    ['a due date without a factor', { dueDate: '2050-01-01' }],
    ['a due date that does not exist', { dueDate: '2026-02-30' }],
  ])('refuses to build %s', (_, wrong) => {
    expect(() => buildBankSlip({ ...ZEROS, ...wrong })).toThrow(RangeError);
  });

  it.each(['', '1', '1'.repeat(45), `${BB_LINE}0`, BB_LINE.replaceAll('0', '٠'), `x${BB_LINE}`])(
    'rejects %j as malformed',
    (text) => {
      expect(parseBankSlip(text)).toEqual({ ok: false, reason: 'malformed' });
    },
  );
});

const ZEROS = { bankCode: '237', amountCents: 0n, dueDate: null, freeField: '0'.repeat(25) };

function read(text: string, referenceDate?: string): BankSlip {
  const parsed = parseBankSlip(text, referenceDate);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.slip;
}

function withGeneralDigit(head: string, tail: string): string {
  return head + bankSlipMod11CheckDigit(head + tail) + tail;
}

function changeDigit(text: string, at: number, by: number): string {
  return text.slice(0, at) + ((Number(text[at]) + by) % 10) + text.slice(at + 1);
}
