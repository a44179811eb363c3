// Reads an uploaded file row by row while it arrives: one request per NDJSON line, CSV record or
// row of the first sheet of an XLSX file. A row that is no request is reported as that row's
// problem. A file that cannot be read in its format, or exceeds a limit, is rejected at that place,
// and the rest of it is not read.
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
import { XlsxArchive, XlsxError } from '../platform/xlsx-archive.js';
import { AmountStyle, type Cell } from './spreadsheet-cell.js';
import { readSheetRows, type SheetLimits } from './xlsx-sheet.js';

export type FileFormat = 'ndjson' | 'csv' | 'xlsx';

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
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};

export function formatOf(contentType: string | undefined): FileFormat {
  const format = formats[(contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''];
  if (format) return format;
  throw new AppError('unsupported_media_type', {
    public: 'The file must be application/x-ndjson, text/csv or XLSX, with its content type.',
  });
}

const extensions: Record<string, FileFormat> = {
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  csv: 'csv',
  xlsx: 'xlsx',
};

/** By the ending of a file's name: browsers send other content types with some files. */
export function formatOfName(name: string): FileFormat | null {
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(extensions, extension) ? extensions[extension] : null) ?? null;
}

/** A row is one request, so it may be as long as the body of one. */
const maxRowLength = defaultMaxBodyBytes;
const maxColumns = 200;
/** An XLSX file is unpacked from memory, and its sheet is read while it is unpacked. */
const maxXlsxBytes = 20 * 1_048_576;
const sheetLimits: SheetLimits = {
  sheetBytes: 512 * 1_048_576,
  sharedBytes: 32 * 1_048_576,
  /** Its cells have tags around them. */
  rowCharacters: 4 * maxRowLength,
  columns: maxColumns,
};

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
  let rows = 0;
  for await (const row of rowsOf(format, bytes, style)) {
    rows += 1;
    if (rows > maxRows) throw unreadableFile(`The file has more than ${maxRows} rows.`);
    yield row;
  }
}

function rowsOf(
  format: FileFormat,
  bytes: AsyncIterable<Uint8Array>,
  style: AmountStyle,
): AsyncIterable<FileRow> {
  if (format === 'xlsx') return readSheet(bytes, style);
  return format === 'csv' ? readCsv(textOf(bytes), style) : readLines(textOf(bytes));
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
        columns = columnsOf(record);
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

async function* readSheet(
  bytes: AsyncIterable<Uint8Array>,
  style: AmountStyle,
): AsyncGenerator<FileRow> {
  let columns: Column[] | null = null;
  try {
    const archive = new XlsxArchive(await receiveSheet(bytes));
    for await (const { line, cells } of readSheetRows(archive, sheetLimits)) {
      if (columns === null) {
        columns = columnsOf(cells.map((cell) => (typeof cell === 'string' ? cell : '')));
        continue;
      }
      const fields = columns;
      observeAmounts(fields, cells, style);
      yield { line, read: () => readRecord(fields, cells, style) };
    }
  } catch (error) {
    if (!(error instanceof XlsxError)) throw error;
    throw unreadableFile(error.message);
  }
}

async function receiveSheet(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of bytes) {
    length += piece.length;
    if (length > maxXlsxBytes) throw unreadableFile('An XLSX file must have at most 20 MB.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** The columns of a header row. Throws `validation_failed`. */
function columnsOf(names: readonly string[]): Column[] {
  const header = names.map((name) => name.trim());
  const problem = headerProblem(header);
  if (problem) throw unreadableFile(problem);
  return readColumns(header);
}

function readRecord(
  columns: readonly Column[],
  record: readonly Cell[],
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
