// CSV per RFC 4180, for spreadsheets: with a byte order mark, one record a line, and no cell that a spreadsheet
// would run as a formula.
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
  // Where cells are parted by semicolons, decimals are by a comma: so the spreadsheets of Brazil read them.
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

/** What a spreadsheet takes for the beginning of a formula, also in its full-width form and after spaces. */
const formulaStart = /^\s*[=+\-@＝＋－＠]/u;
/** What some program may take for the border of a cell: then a formula could begin behind it. */
const innerFormula = /([,;|"])(?=\s*[=+\-@＝＋－＠])/gu;

function textCell(text: string | null): string {
  return cell(text ?? '', onOneLine(text ?? ''));
}

/** Notes are written by whoever pays: a reader that parts cells elsewhere finds no formula in them either. */
function notesCell(notes: string | null): string {
  return cell(notes ?? '', onOneLine(notes ?? '').replace(innerFormula, "$1'"));
}

/** A tab or a line break at the beginning of what came is guarded too, though it is gone by now. */
function cell(came: string, plain: string): string {
  const safe = formulaStart.test(plain) || /^[\t\r\n]/.test(came) ? `'${plain}` : plain;
  return /[",;|\s]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
