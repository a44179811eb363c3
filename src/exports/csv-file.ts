// Writes CSV files by RFC 4180 for spreadsheets, with a byte order mark and one record for each
// statement line. No cell is text that a spreadsheet would run as a formula.
import { statementDayOf } from '../brazil/statement-day.js';
import { formatReaisWithTwoDecimals } from '../money/cents.js';
import { onOneLine, signedCents, type ExplainedLine, type StatementFile } from './exported-line.js';

export type Delimiter = 'comma' | 'semicolon';

const columns = [
  ...['date', 'occurredAt', 'nsu', 'type', 'direction', 'amount', 'balance'],
  ...['correlationId', 'endToEndId', 'externalId', 'explanation', 'rule', 'category'],
  ...['breakKind', 'expectedPaymentIds', 'notes'],
];

export function csvFile(delimiter: Delimiter): StatementFile<ExplainedLine> {
  const separator = delimiter === 'comma' ? ',' : ';';
  const record = (cells: string[]) => `${cells.join(separator)}\r\n`;
  // Spreadsheets in Brazil separate cells by semicolons and decimals by a comma.
  const money = (cents: bigint) => {
    const text = formatReaisWithTwoDecimals(cents);
    return delimiter === 'comma' ? text : text.replace('.', ',');
  };
  return {
    contentType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    encoding: 'utf8',
    head: () => `\u{FEFF}${record(columns)}`,
    line: (line) =>
      record([
        statementDayOf(line.occurredAt),
        line.occurredAt.toISOString(),
        line.nsu.toString(),
        textCell(line.typeName),
        line.isCredit ? 'credit' : 'debit',
        money(signedCents(line)),
        money(line.currentBalanceCents),
        textCell(line.correlationId),
        textCell(line.endToEndId),
        textCell(line.externalId),
        textCell(line.state),
        textCell(line.rule),
        textCell(line.category),
        textCell(line.breakKind),
        textCell(line.expectedPaymentIds.join(' ')),
        notesCell(line.notes),
      ]),
    foot: () => '',
  };
}

/** The start of a formula, also in full-width characters and after spaces. */
const formulaStart = /^\s*[=+\-@＝＋－＠]/u;
/** A character that some program may read as a cell separator, with a formula after it. */
const innerFormula = /([,;|"])(?=\s*[=+\-@＝＋－＠])/gu;

function textCell(text: string | null): string {
  return cell(text ?? '', onOneLine(text ?? ''));
}

/**
 * Payers write the notes. No formula may be found in them, even by a program that separates cells
 * at other characters.
 */
function notesCell(notes: string | null): string {
  return cell(notes ?? '', onOneLine(notes ?? '').replace(innerFormula, "$1'"));
}

/** A text that started with a tab or line break is escaped too, although it was removed before. */
function cell(original: string, plain: string): string {
  const safe = formulaStart.test(plain) || /^[\t\r\n]/.test(original) ? `'${plain}` : plain;
  return /[",;|\s]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
