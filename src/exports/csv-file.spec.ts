import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { explainedLine } from '../../test/support/exported-lines.js';
import { csvFile } from './csv-file.js';

const columnCount = 16;
const notesOf = (notes: string) =>
  cellsOf(csvFile('comma').line(explainedLine({ notes })), ',').at(-1) ?? '';

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
    const head = csvFile('comma').head();
    expect(head.startsWith('\u{FEFF}date,occurredAt,nsu,type,direction,amount,balance,')).toBe(
      true,
    );
    expect(cellsOf(head, ',')).toHaveLength(columnCount);
  });

  it('writes a debit as a negative number, with its statement day and its time in UTC', () => {
    const line = explainedLine({
      occurredAt: new Date('2026-03-11T02:59:59.999Z'),
      isCredit: false,
      amountCents: 5n,
      currentBalanceCents: -123_456_789_012_345n,
      typeName: 'DEBIT_PIX',
      state: 'matched',
      rule: 'reference',
      expectedPaymentIds: ['a', 'b'],
    });
    expect(csvFile('comma').line(line)).toBe(
      '2026-03-10,2026-03-11T02:59:59.999Z,101,DEBIT_PIX,debit,-0.05,-1234567890123.45,,,,matched,reference,,,"a b",\r\n',
    );
    expect(csvFile('semicolon').line(line)).toContain(';debit;-0,05;-1234567890123,45;');
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
    const line = explainedLine({ correlationId: '=HYPERLINK("x")', isCredit: false });
    const cells = cellsOf(csvFile('comma').line(line), ',');
    expect([cells[5], cells[7]]).toEqual(['-1234.56', '\'=HYPERLINK("x")']);
  });

  it('has one record for each line, and one cell for each column, whatever the text', () => {
    const text = fc.string({ unit: fc.constantFrom(...'=+-@,;"\'\t\r\n\0 aé\u2028＝') });
    fc.assert(
      fc.property(
        text,
        text,
        fc.constantFrom('comma' as const, 'semicolon' as const),
        (notes, id, delimiter) => {
          const record = csvFile(delimiter).line(explainedLine({ notes, externalId: id }));
          expect(record.slice(0, -2)).not.toMatch(/[\r\n\0\u2028]/);
          const cells = cellsOf(record, delimiter === 'comma' ? ',' : ';');
          expect(cells).toHaveLength(columnCount);
          for (const cell of [cells[9], cells[15]]) expect(cell).not.toMatch(/^\s*[=+\-@＝]/u);
        },
      ),
    );
  });
});
