import { describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { fieldError } from '../../bank-contract/field-errors.js';
import { readColumns, headerProblem, observeCells, toRequest } from './csv-record.js';
import { CellStyle } from './spreadsheet-cell.js';

function requestOf(header: string[], cells: string[]): object {
  const [columns, style] = [readColumns(header), new CellStyle()];
  observeCells(columns, cells, style);
  const read = toRequest(columns, cells, style);
  return 'request' in read ? read.request : read;
}

describe('toRequest', () => {
  it('nests fields with dotted names, and makes lists of fields with numbers as names', () => {
    const header = ['type', 'payer.name', 'payer.address.city', 'discount.items.1.date'];
    expect(
      requestOf([...header, 'discount.items.0.date'], ['A', 'B', 'C', 'second', 'first']),
    ).toEqual({
      type: 'A',
      payer: { name: 'B', address: { city: 'C' } },
      discount: { items: [{ date: 'first' }, { date: 'second' }] },
    });
  });

  it('reads amounts exactly, and leaves every other cell as text', () => {
    const header = ['Amount', 'lateFine.amount', 'payer.document', 'payer.phone.number'];
    expect(requestOf(header, ['149.90', '10.000000000000000001', '00123456789', '0987'])).toEqual({
      Amount: new LosslessNumber('149.90'),
      lateFine: { amount: new LosslessNumber('10.000000000000000001') },
      payer: { document: '00123456789', phone: { number: '0987' } },
    });
  });

  it('reads amounts and days as spreadsheets in Brazil write them', () => {
    const header = ['amount', 'amountFrom', 'dueDate', 'dateTo', 'discount.items.0.date', 'notes'];
    const cells = ['1.234,56', 'R$ 5', '31/12/2026', '01/02/2026', '02/01/2026', '31/12/2026'];
    expect(requestOf(header, cells)).toEqual({
      amount: new LosslessNumber('1234.56'),
      amountFrom: new LosslessNumber('5'),
      dueDate: '2026-12-31',
      dateTo: '2026-02-01',
      discount: { items: [{ date: '2026-01-02' }] },
      notes: '31/12/2026',
    });
  });

  it('refuses an amount that may be thousands or decimals, with the name of its field', () => {
    expect(requestOf(['fine.amount', 'a'], ['1.234', 'x'])).toEqual({
      problem: fieldError('cell_thousands_or_decimals', { field: 'fine.amount' }),
    });
  });

  it.each(['1,234', '1e3', '1.', '.5', '$ 5'])(
    'leaves %p as text instead of guessing an amount',
    (cell) => {
      expect(requestOf(['Amount'], [cell])).toEqual({ Amount: cell });
    },
  );

  it('reads keys of the metadata that are numbers, and refuses __proto__', () => {
    const columns = readColumns(['metadata.1']);
    expect(toRequest(columns, ['x'], new CellStyle())).toEqual({
      request: { metadata: { 1: 'x' } },
    });
    expect(headerProblem(['metadata.__proto__'], 1)).toEqual(
      fieldError('header_field', { line: 1, column: 1 }),
    );
  });

  it('reads every column of the metadata as text, and keys with _ and -', () => {
    const header = ['metadata.amount', 'metadata.order_id', 'metadata.cost-centre'];
    expect(headerProblem(header, 1)).toBeNull();
    expect(headerProblem(['payer.order_id'], 1)).not.toBeNull();
    expect(requestOf(header, ['10.50', '7', 'north'])).toEqual({
      metadata: { amount: '10.50', order_id: '7', 'cost-centre': 'north' },
    });
  });

  it('leaves out fields with empty or missing cells', () => {
    expect(requestOf(['a', 'b.c', 'd'], ['', ''])).toEqual({});
  });

  it('creates fields with the names of inherited properties as own fields', () => {
    const request = requestOf(['constructor.name', 'toString'], ['x', 'y']);
    expect(Object.keys(request)).toEqual(['constructor', 'toString']);
    expect(({} as { name?: string }).name).toBeUndefined();
  });
});

describe('headerProblem', () => {
  it.each([[['a', 'b.c']], [['a.0.b']], [['Amount']]])('accepts %j', (header) => {
    expect(headerProblem(header, 1)).toBeNull();
  });

  it.each([
    [['amount', 'Amount']],
    [['payer.name', 'Payer.document']],
    [[]],
    [['']],
    [['a', 'a']],
    [['a', 'a.b']],
    [['__proto__.x']],
    [['a..b']],
    [['a b']],
    [['a.b.c.d.e.f']],
  ])('rejects %j', (header) => {
    expect(headerProblem(header, 1)).not.toBeNull();
  });
});
