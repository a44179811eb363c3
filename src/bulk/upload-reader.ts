// Reads an uploaded file row by row while it arrives: one request per NDJSON line or CSV record. A
// row that is no request is reported as that row's problem. A file that cannot be read in its
// format, or exceeds a limit, is rejected at that place, and the rest of it is not read.
import { CsvError } from 'csv-parse';
import { defaultMaxBodyBytes } from '../contract/route.js';
import { readCsvRecords } from '../platform/csv.js';
import { AppError, invalidField } from '../platform/errors.js';
import { parseJson, requestJson } from '../platform/exact-json.js';
import {
  readColumns,
  headerProblem,
  observeAmounts,
  toRequest,
  type Column,
} from './csv-record.js';
import { AmountStyle } from './spreadsheet-cell.js';

export type FileFormat = 'ndjson' | 'csv';

/** The request of a row, or why no request can be read from it. */
export type RowContent = { request: unknown } | { problem: string };

export interface FileRow {
  line: number;
  read: () => RowContent;
}

const formats: Record<string, FileFormat> = {
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
};

export function formatOf(contentType: string | undefined): FileFormat {
  const format = formats[(contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''];
  if (format) return format;
  throw new AppError('unsupported_media_type', {
    public: 'The file must be application/x-ndjson or text/csv.',
  });
}

/** A row is one request, so it may be as long as the body of one. */
const maxRowLength = defaultMaxBodyBytes;
const maxColumns = 200;

/**
 * Rows in file order. Throws `validation_failed` where the file cannot be read further. `style` has
 * seen the amounts of the file so far: rows are read after all of them were listed once.
 */
export async function* readRows(
  format: FileFormat,
  bytes: AsyncIterable<Uint8Array>,
  maxRows: number,
  style = new AmountStyle(),
): AsyncGenerator<FileRow> {
  const text = textOf(bytes);
  let rows = 0;
  for await (const row of format === 'csv' ? readCsv(text, style) : readLines(text)) {
    rows += 1;
    if (rows > maxRows) throw unreadableFile(`The file has more than ${maxRows} rows.`);
    yield row;
  }
}

export function unreadableFile(problem: string): AppError {
  return invalidField('$', problem);
}

/** The file as text, in the same pieces. */
async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (piece?: Uint8Array): string => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
    } catch {
      throw unreadableFile('The file must be UTF-8: save it as “CSV UTF-8”.');
    }
  };
  for await (const piece of bytes) yield decode(piece);
  yield decode();
}

function rowTooLong(line: number): AppError {
  return unreadableFile(`Line ${line} has more than ${maxRowLength} characters.`);
}

async function* readLines(pieces: AsyncIterable<string>): AsyncGenerator<FileRow> {
  let [line, rest] = [0, ''];
  for await (const piece of pieces) {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      line += 1;
      const row = rowOf(line, text);
      if (row) yield row;
    }
    if (rest.length > maxRowLength) throw rowTooLong(line + 1);
  }
  const last = rowOf(line + 1, rest);
  if (last) yield last;
}

/** Null for a blank line. */
function rowOf(line: number, text: string): FileRow | null {
  if (text.length > maxRowLength) throw rowTooLong(line);
  const row = text.trim();
  return row === '' ? null : { line, read: () => readLine(row) };
}

function readLine(row: string): RowContent {
  try {
    return { request: parseJson(row, requestJson) };
  } catch {
    return { problem: 'The row must be a JSON value without duplicate fields.' };
  }
}

async function* readCsv(
  pieces: AsyncIterable<string>,
  style: AmountStyle,
): AsyncGenerator<FileRow> {
  const { start, all } = await readStart(pieces);
  let columns: Column[] | null = null;
  try {
    for await (const { record, info } of readCsvRecords(all, delimiterOf(start), maxRowLength)) {
      const { lines: line } = info;
      if (record.length > maxColumns)
        throw unreadableFile(`Line ${line} has more than ${maxColumns} columns.`);
      if (columns === null) {
        const header = record.map((name) => name.trim());
        const problem = headerProblem(header);
        if (problem) throw unreadableFile(problem);
        columns = readColumns(header);
        continue;
      }
      const fields = columns;
      observeAmounts(fields, record, style);
      yield { line, read: () => readRecord(fields, record, style) };
    }
  } catch (error) {
    // The parser's message quotes the file, which may hold personal data.
    if (!(error instanceof CsvError)) throw error;
    if (error.code === 'CSV_MAX_RECORD_SIZE') throw rowTooLong(Number(error.lines));
    throw unreadableFile('The file could not be read as CSV.');
  }
}

function readRecord(
  columns: readonly Column[],
  record: readonly string[],
  style: AmountStyle,
): RowContent {
  return record.length > columns.length
    ? { problem: 'The row has more cells than the header.' }
    : toRequest(columns, record, style);
}

/** The text up to the end of the first line or more, and all the text from its beginning. */
async function readStart(
  pieces: AsyncIterable<string>,
): Promise<{ start: string; all: AsyncIterable<string> }> {
  const reading = pieces[Symbol.asyncIterator]();
  let start = '';
  while (!/[\r\n]/.test(start) && start.length <= maxRowLength) {
    const { value, done } = await reading.next();
    if (done === true) break;
    start += value;
  }
  const rest = { [Symbol.asyncIterator]: () => reading };
  return {
    start,
    all: (async function* () {
      yield start;
      yield* rest;
    })(),
  };
}

/** Field names contain neither delimiter, so a semicolon in the header is the delimiter. */
function delimiterOf(start: string): ',' | ';' {
  return start.split(/[\r\n]/, 1)[0]?.includes(';') ? ';' : ',';
}
