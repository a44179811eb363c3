import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { unknownCounterparty } from '../../access/counterparties/resolution.js';
import { exportedLine } from '../../../test/support/exported-lines.js';
import { csvFile } from './csv-file.js';
import { statementTable } from './statement-table.js';

const columnCount = statementTable.columns.length;
const positionOf = (name: string) => statementTable.columns.findIndex((one) => one.name === name);
const notesOf = (notes: string) =>
  cellsOf(csvFile(statementTable, 'comma').row(exportedLine({ notes })), ',').at(-1) ?? '';

/** Reads one record by RFC 4180. */
function cellsOf(record: string, separator: string): string[] {
  expect(record.endsWith('\r\n')).toBe(true);
  const cells: string[] = [];
  const text = record.slice(0, -2);
  let at = 0;
  do {
    if (text[at] === '"') {
      const end = /^"((?:[^"]|"")*)"/.exec(text.slice(at));
      cells.push((end?.[1] ?? '').replaceAll('""', '"'));
      at += end?.[0].length ?? 1;
    } else {
      const end = text.indexOf(separator, at);
      cells.push(text.slice(at, end === -1 ? undefined : end));
      at = end === -1 ? text.length : end;
    }
    at += 1;
  } while (at <= text.length);
  return cells;
}

describe('a CSV file of the statement', () => {
  it('starts with a byte order mark and the column names', () => {
    const head = csvFile(statementTable, 'comma').head();
    expect(head.startsWith('\u{FEFF}date,occurredAt,nsu,type,direction,amount,balance,')).toBe(
      true,
    );
    expect(cellsOf(head, ',')).toHaveLength(columnCount);
  });

  it('writes a debit as a negative number, with its statement day and its time in UTC', () => {
    const line = exportedLine({
      occurredAt: new Date('2026-03-11T02:59:59.999Z'),
      isCredit: false,
      amountCents: 5n,
      currentBalanceCents: -123_456_789_012_345n,
      typeName: 'DEBIT_PIX',
      counterparty: {
        ...unknownCounterparty,
        ...{ name: 'Maria, a Silva', taxId: '***.456.789-**' },
        ...{ ispb: '00000001', branch: '0001', account: '123-4' },
      },
      clientReference: 'order 7',
      state: 'matched',
      rule: 'reference',
      expectedPaymentIds: ['a', 'b'],
      feeCents: 425n,
      metadata: [{ shop: '2', orderId: '1' }, { orderId: '1' }],
    });
    expect(csvFile(statementTable, 'comma').row(line)).toBe(
      '2026-03-10,2026-03-11T02:59:59.999Z,101,DEBIT_PIX,debit,-0.05,-1234567890123.45,' +
        '"Maria, a Silva",***.456.789-**,00000001,0001,123-4,"order 7",,,,' +
        'matched,reference,,,,,"a b",4.25,"orderId=1; shop=2",,\r\n',
    );
    expect(csvFile(statementTable, 'semicolon').row(line)).toContain(
      ';debit;-0,05;-1234567890123,45;',
    );
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+55 11', "'+55 11"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'=1"],
    ['\r=1', "'=1"],
    ['\tharmless', "'harmless"],
    ['  =1', "'=1"],
    ['\u200b=1', "'=1"],
    ['＝1', "'＝1"],
    ['a;=cmd()', "a;'=cmd()"],
    ['a", =cmd()', 'a",\' =cmd()'],
    ['a\r\n=cmd()', 'a =cmd()'],
    ['nota 5, obrigado', 'nota 5, obrigado'],
    ['diz "oi"', 'diz "oi"'],
    ['a\u0000b\u2028c', 'a b c'],
  ])('writes %j so that no spreadsheet runs it: %j', (notes, cell) =>
    expect(notesOf(notes)).toBe(cell),
  );

  it('escapes ids too, and keeps amounts as numbers', () => {
    const line = exportedLine({ correlationId: '=HYPERLINK("x")', isCredit: false });
    const cells = cellsOf(csvFile(statementTable, 'comma').row(line), ',');
    expect([cells[positionOf('amount')], cells[positionOf('correlationId')]]).toEqual([
      ...['-1234.56', '\'=HYPERLINK("x")'],
    ]);
  });

  it('has one record for each line, and one cell for each column, whatever the text', () => {
    const text = fc.string({ unit: fc.constantFrom(...'=+-@,;"\'\t\r\n\0 aé\u2028＝') });
    fc.assert(
      fc.property(
        text,
        text,
        fc.constantFrom('comma' as const, 'semicolon' as const),
        (notes, id, delimiter) => {
          const { counterparty } = exportedLine();
          const line = { notes, externalId: id, counterparty: { ...counterparty, name: notes } };
          const record = csvFile(statementTable, delimiter).row(exportedLine(line));
          expect(record.slice(0, -2)).not.toMatch(/[\r\n\0\u2028]/);
          const cells = cellsOf(record, delimiter === 'comma' ? ',' : ';');
          expect(cells).toHaveLength(columnCount);
          for (const name of ['externalId', 'counterpartyName', 'notes'])
            expect(cells[positionOf(name)]).not.toMatch(/^\s*[=+\-@＝]/u);
        },
      ),
    );
  });
});
