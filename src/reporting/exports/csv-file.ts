// Writes CSV files by RFC 4180 for spreadsheets: a byte order mark, and one record for each row. No
// cell is text that a spreadsheet would run as a formula.
import { formatReaisWithTwoDecimals } from '../../brazil/cents.js';
import { unreachable } from '../../platform/errors.js';
import { onOneLine, type ExportFile } from './exported-line.js';
import type { Table, TableColumn } from './table.js';

export type Delimiter = 'comma' | 'semicolon';

export function csvFile<Row>({ columns }: Table<Row>, delimiter: Delimiter): ExportFile<Row> {
  const separator = delimiter === 'comma' ? ',' : ';';
  const record = (cells: string[]) => `${cells.join(separator)}\r\n`;
  return {
    contentType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    encoding: 'utf8',
    head: () => `\u{FEFF}${record(columns.map(({ name }) => name))}`,
    row: (row) => record(columns.map((column) => cellOf(column, row, delimiter))),
    foot: () => '',
  };
}

function cellOf<Row>(column: TableColumn<Row>, row: Row, delimiter: Delimiter): string {
  switch (column.kind) {
    case 'text':
      return textCell(column.value(row));
    case 'stranger':
      return strangerCell(column.value(row));
    case 'money':
      return moneyCell(column.value(row), delimiter);
    case 'number':
      return column.value(row)?.toString() ?? '';
    case 'day':
      return column.value(row) ?? '';
    case 'instant':
      return column.value(row)?.toISOString() ?? '';
    default:
      return unreachable(column);
  }
}

/** Spreadsheets in Brazil separate cells by semicolons and decimals by a comma. */
function moneyCell(cents: bigint | null, delimiter: Delimiter): string {
  const text = cents === null ? '' : formatReaisWithTwoDecimals(cents);
  return delimiter === 'comma' ? text : text.replace('.', ',');
}

/** The start of a formula, also in full-width characters and after spaces. */
const formulaStart = /^\s*[=+\-@＝＋－＠]/u;
/** A character that some program may read as a cell separator, with a formula after it. */
const innerFormula = /([,;|"])(?=\s*[=+\-@＝＋－＠])/gu;

function textCell(text: string | null): string {
  return cell(text ?? '', onOneLine(text ?? ''));
}

/**
 * The text of a stranger, such as a payer's notes. No formula may be found in it, even by a program
 * that separates cells at other characters.
 */
function strangerCell(text: string | null): string {
  return cell(text ?? '', onOneLine(text ?? '').replace(innerFormula, "$1'"));
}

/** A text that started with a tab or line break is escaped too, although it was removed before. */
function cell(original: string, plain: string): string {
  const safe = formulaStart.test(plain) || /^[\t\r\n]/.test(original) ? `'${plain}` : plain;
  return /[",;|\s]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
