// Writes CSV files by RFC 4180 for spreadsheets: a byte order mark, and one record for each row. No
// cell is text that a spreadsheet would run as a formula. Files for people have Portuguese titles,
// labels, days and times, semicolons and decimal commas.
import { formatReaisWithTwoDecimals } from '../../brazil/cents.js';
import { printDay, printTime } from '../../brazil/printed-text.js';
import { unreachable } from '../../platform/errors.js';
import { onOneLine, type ExportFile } from './exported-line.js';
import type { Table, TableColumn } from './table.js';

export type Delimiter = 'comma' | 'semicolon';

export function csvFile<Row>(
  { columns }: Table<Row>,
  style: Delimiter | 'people',
): ExportFile<Row> {
  const separator = style === 'comma' ? ',' : ';';
  const record = (cells: string[]) => `${cells.join(separator)}\r\n`;
  return {
    contentType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    encoding: 'utf8',
    head: () =>
      `\u{FEFF}${record(columns.map(({ name, title }) => (style === 'people' ? title : name)))}`,
    row: (row) => record(columns.map((column) => cellOf(column, row, style))),
    foot: () => '',
  };
}

function cellOf<Row>(column: TableColumn<Row>, row: Row, style: Delimiter | 'people'): string {
  const isForPeople = style === 'people';
  switch (column.kind) {
    case 'text':
    case 'stranger': {
      const value = column.value(row);
      const text = (isForPeople && value !== null && column.labels?.[value]) || value;
      return column.kind === 'text' ? textCell(text) : strangerCell(text);
    }
    case 'money':
      return moneyCell(column.value(row), style);
    case 'number':
      return column.value(row)?.toString() ?? '';
    case 'day':
      return shown(column.value(row), isForPeople ? printDay : String);
    case 'instant':
      return shown(column.value(row), (at) => (isForPeople ? printTime(at) : at.toISOString()));
    default:
      return unreachable(column);
  }
}

const shown = <Value>(value: Value | null, show: (value: Value) => string): string =>
  value === null ? '' : show(value);

/** Spreadsheets in Brazil separate cells by semicolons and decimals by a comma. */
export function moneyCell(cents: bigint | null, style: Delimiter | 'people'): string {
  const text = cents === null ? '' : formatReaisWithTwoDecimals(cents);
  return style === 'comma' ? text : text.replace('.', ',');
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
