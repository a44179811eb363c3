import { describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { CellStyle, readCell, type Cell } from './spreadsheet-cell.js';

/** The cell as it is read in a file with these other amounts. */
function read(cell: string, ...others: string[]): unknown {
  const style = new CellStyle();
  for (const each of [...others, cell]) style.observe(each);
  const amount = style.read(cell);
  return amount instanceof LosslessNumber ? amount.value : [amount];
}

describe('an amount', () => {
  it.each([
    ['149,90', '149.90'],
    ['149,9', '149.9'],
    ['1.234,56', '1234.56'],
    ['1.234.567,8', '1234567.8'],
    ['R$ 1.234,56', '1234.56'],
    ['R$\u00a0149,90', '149.90'],
    ['-R$ 5,00', '-5.00'],
    ['1.234.567', '1234567'],
    ['149.90', '149.90'],
    ['1234', '1234'],
    ['1234.567', '1234.567'],
    ['10.000000000000000001', '10.000000000000000001'],
    ['007', '7'],
    ['0149.90', '149.90'],
    ['-007,50', '-7.50'],
    ['0,50', '0.50'],
    ['000', '0'],
  ])('%s is read as %s, whatever the others are', (cell, amount) => {
    for (const others of [[], ['1,50'], ['1.50'], ['1,50', '1.50']])
      expect(read(cell, ...others)).toBe(amount);
  });

  it('with one point and three digits is read as the other amounts of the file', () => {
    expect(read('1.234', '149,90')).toBe('1234');
    expect(read('1.234', '1.234.567')).toBe('1234');
  });

  // As decimals, 1.500 is R$ 1.50: a thousandth of what a person may have meant.
  it.each([[[]], [['10', '2.500']], [['149.90']], [['149,90', '149.90']]])(
    'with one point and three digits is refused beside %j',
    (others) => {
      for (const cell of ['1.234', '1.500']) expect(read(cell, ...others)).toEqual([null]);
    },
  );

  it.each(['0.500', '-0.500', '012.345'])('%s is never thousands', (cell) => {
    for (const others of [[], ['1,50'], ['1.50']]) expect(read(cell, ...others)).toEqual([null]);
  });

  it.each([
    '1,234',
    '1,234.56',
    '1.23,45',
    '12.34.567',
    '0.123.456',
    '0.123,45',
    '1e3',
    '5 reais',
    'US$ 5',
    '1.',
    ',5',
    '--1',
  ])('%s stays text, which the request refuses', (cell) => {
    for (const others of [[], ['1,50'], ['1.50']]) expect(read(cell, ...others)).toEqual([cell]);
  });
});

const text = { isAmount: false, isDay: false, isTaxId: false };
const readAs = (cell: Cell, field: Partial<typeof text>) =>
  readCell(cell, { ...text, ...field }, new CellStyle());

describe('a day', () => {
  it.each([
    ['31/12/2026', '2026-12-31'],
    ['2026-12-31', '2026-12-31'],
    ['31/02/2026', '31/02/2026'],
    ['12/31/2026', '12/31/2026'],
    ['1/2/2026', '1/2/2026'],
  ])('%s is read as %s', (cell, day) =>
    expect(readAs(cell, { isDay: true })).toEqual({ value: day }),
  );
});

describe('a number of a sheet', () => {
  it('is an amount whatever its decimals, and text elsewhere', () => {
    expect(readAs({ number: '1.234' }, { isAmount: true })).toEqual({
      value: new LosslessNumber('1.234'),
    });
    expect(readAs({ number: '1000002' }, {})).toEqual({ value: '1000002' });
    expect(readAs({ day: '2026-12-31' }, { isDay: true })).toEqual({ value: '2026-12-31' });
  });

  it.each([
    ['11144477735', '11144477735'],
    ['1234567890', '01234567890'],
    ['11222333000181', '11222333000181'],
    ['1181', null],
  ])('%s is read as the tax id %s', (number, taxId) => {
    const read = readAs({ number }, { isTaxId: true });
    if (taxId !== null) expect(read).toEqual({ value: taxId });
    else expect(read).toEqual({ problem: 'cell_no_tax_id' });
  });

  it('is no tax id where it may be a CPF and a CNPJ', () =>
    expect(readAs({ number: '191' }, { isTaxId: true })).toEqual({
      problem: 'cell_cpf_or_cnpj',
    }));

  it('is refused with more digits than Excel stores, and as an error', () => {
    expect(readAs({ number: '1234567890123456' }, {})).toHaveProperty('problem');
    expect(readAs({ error: '#REF!' }, { isAmount: true })).toHaveProperty('problem');
  });
});
