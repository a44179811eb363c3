import { describe, expect, it } from '@jest/globals';
import {
  ColumnValues,
  findHeader,
  guessColumns,
  guessTarget,
  headerOrder,
  kindOfOwnNames,
  plainHeaders,
} from './column-words.js';
import type { Cell } from './spreadsheet-cell.js';

function guess(headers: string[], ...rows: Cell[][]) {
  const values = headers.map((_, at) => {
    const column = new ColumnValues(3);
    for (const row of rows) column.add(row[at] ?? '');
    return column;
  });
  return guessColumns(headers, values);
}
const fieldsOf = (headers: string[], ...rows: Cell[][]) =>
  guess(headers, ...rows).map(({ field }) => field);

const suppliers =
  'Favorecido;CPF/CNPJ;Banco;Agência;Conta;Valor (R$);Data pagamento;Chave Pix;Histórico'.split(
    ';',
  );

describe('guessed columns', () => {
  it('are found by the words of a supplier sheet', () => {
    const row = [
      'Maria',
      '123.456.789-09',
      '341',
      '1',
      '12-3',
      '1.234,56',
      '30/11/2026',
      '',
      'NF 1',
    ];
    expect(guess(suppliers, row).map(({ type, field }) => [type, field])).toEqual([
      ['name', 'name'],
      ['taxId', 'taxId'],
      ['bank', 'bank'],
      ['branch', 'branch'],
      ['account', 'account'],
      ['amount', 'amount'],
      ['day', 'date'],
      ['pixKey', 'key'],
      ['text', 'description'],
    ]);
    expect(guessTarget(suppliers, fieldsOf(suppliers, row))).toBe('transfers');
  });

  it('are found by their values where the words say nothing', () => {
    const rows: Cell[][] = [
      ['a@b.example', '10,50', '31/12/2026', '12345678909', 'x'],
      ['+5511987654321', '1.000,00', { day: '2026-12-01' }, { number: '12345678909' }, 'y'],
    ];
    expect(fieldsOf(['A', 'B', 'C', 'D', 'E'], ...rows)).toEqual([
      ...['key', 'amount', 'date', 'taxId', null],
    ]);
  });

  it('are no amounts, days or tax ids where most values are none', () => {
    expect(fieldsOf(['Valor', 'Data', 'Documento'], ['alto', 'hoje', 'NF 12'])).toEqual([
      ...[null, null, null],
    ]);
  });

  it('give a field to one column, and none to kinds of keys or a status', () => {
    const headers = ['Nome do banco', 'Tipo de chave', 'Valor', 'Valor total', 'Situação do Pix'];
    expect(fieldsOf(headers, ['Itaú', 'CPF', '1,00', '2,00', 'pago'])).toEqual([
      ...['bank', null, 'amount', null, null],
    ]);
  });

  it.each([
    [['Cliente', 'Vencimento', 'Valor'], 'receivables'],
    [['Fornecedor', 'Vencimento', 'Valor'], 'payables'],
    [['Nome', 'Vencimento', 'Valor'], null],
    [['Fornecedor', 'Valor'], null],
  ])('of %j are for %s', (headers, target) => {
    const cells = headers.map((one) => (one === 'Vencimento' ? '31/12/2026' : '1,00'));
    expect(guessTarget(headers, fieldsOf(headers, cells))).toBe(target);
  });
});

describe('the header', () => {
  it('stands below titles, and is found by the cells that it fills', () => {
    const rows = [['Empresa, SA'], ['Pagamentos', 'novembro'], suppliers, suppliers.map(() => '1')];
    expect(findHeader(rows)).toBe(2);
  });

  it.each([
    ['people', [['Maria', '123.456.789-09', '10,00']]],
    ['keys', [['Maria', 'maria@pessoa.example']]],
    ['one column', [['Nome'], ['Maria']]],
    ['nothing', []],
  ])('is no row of %s', (_, rows) => expect(findHeader(rows)).toBeNull());

  it('is the same in any order, with or without accents and points', () => {
    const one = ['Valor (R$)', 'Agência', 'Favorecido'];
    const other = ['favorecido', 'VALOR R$', 'agencia'];
    expect(plainHeaders(one)).toEqual(plainHeaders(other));
    expect(headerOrder(['b', 'a', 'b'])).toEqual([1, 0, 2]);
  });

  it.each([
    ['externalId;amount;key', 'transfers'],
    ['externalId;Amount;beneficiary.number', 'transfers'],
    ['type;correlationId;Amount', 'charges'],
    ['externalId;direction;amount', 'expected_payments'],
    ['amount;key', null],
    ['Nome;Valor;Chave', null],
  ])('%s is of the kind %s', (header, kind) =>
    expect(kindOfOwnNames(header.split(';'))).toBe(kind),
  );
});
