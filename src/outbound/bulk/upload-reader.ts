// Reads an uploaded file row by row while it arrives: one request per NDJSON line, CSV record or
// row of a sheet of an XLSX file. A row that is no request is reported as that row's
// problem. A file that cannot be read in its format, or exceeds a limit, is rejected at that place,
// and the rest of it is not read.
import { CsvError } from 'csv-parse';
import { fieldError, type FieldError, type FieldErrors } from '../../bank-contract/field-errors.js';
import { defaultMaxBodyBytes } from '../../bank-contract/route.js';
import { readCsvRecords } from '../../platform/files/csv.js';
import { AppError, invalidField } from '../../platform/errors.js';
import { parseJson, requestBodyJson } from '../../platform/json/exact-json.js';
import { sha256, stringifyJson } from '../../platform/json/exact-json.js';
import { XlsxArchive } from '../../platform/files/xlsx-archive.js';
import { mappedRequest, namedErrors, type ColumnMapping } from './column-mapping.js';
import {
  mappedColumns,
  readColumns,
  headerProblem,
  observeCells,
  toRequest,
  type Column,
} from './csv-record.js';
import { CellStyle, type Cell } from './spreadsheet-cell.js';
import { textOf, unreadableFile } from './upload-text.js';
import { readSheetRows, type SheetChoice, type SheetLimits, type SheetRow } from './xlsx-sheet.js';

export type FileFormat = 'ndjson' | 'csv' | 'xlsx';

/** The request of a row, or why no request can be read from it. */
export type RowContent = { request: unknown } | { problem: FieldError };

export interface FileRow {
  line: number;
  read: () => RowContent;
  /** The errors of its request by the columns of a foreign table. */
  named?: (errors: FieldErrors) => FieldErrors;
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
  rowCharacters: maxRowLength,
  markup: 4,
  columns: maxColumns,
};

/** A file's format, what of a workbook is read, and what the columns of a foreign table are. */
export interface FileReading extends SheetChoice {
  format: FileFormat;
  mapping?: ColumnMapping;
  /** When the file was chosen: transfers without an id are the same payments on that day only. */
  day?: string;
}

/** Throws `validation_failed` where a sheet is chosen of a file that has none. */
export function refuseChoiceOfSheet({ format, sheet, hidden }: FileReading): void {
  const field = sheet === undefined ? 'hidden' : 'sheet';
  if (format !== 'xlsx' && (sheet ?? hidden) !== undefined)
    throw invalidField(`$.${field}`, fieldError('xlsx_only'));
}

/**
 * Rows in file order. Throws `validation_failed` where the file cannot be read further. `style` has
 * seen the amounts of the file so far: rows are read after all of them were listed once.
 */
export async function* readRows(
  reading: FileReading,
  bytes: AsyncIterable<Uint8Array>,
  maxRows: number,
  style = new CellStyle(),
): AsyncGenerator<FileRow> {
  let rows = 0;
  for await (const row of rowsOf(reading, bytes, style)) {
    rows += 1;
    if (rows > maxRows)
      throw unreadableFile(fieldError('too_many_rows', { most: maxRows, line: row.line }));
    yield row;
  }
}

async function* rowsOf(
  reading: FileReading,
  bytes: AsyncIterable<Uint8Array>,
  style: CellStyle,
): AsyncIterable<FileRow> {
  if (reading.format === 'ndjson') return yield* readLines(textOf(bytes));
  const table = new Table(style, reading);
  for await (const { line, cells } of readTableRows(reading, bytes)) {
    const row = table.read(line, cells);
    if (row) yield row;
  }
}

/** The rows of CSV or XLSX, with those above its header. Throws like `readRows`. */
export async function* readTableRows(
  { format, sheet, hidden }: FileReading,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<SheetRow> {
  const rows = format === 'xlsx' ? readSheet(bytes, { sheet, hidden }) : readCsv(textOf(bytes));
  for await (const { line, cells: all } of rows) {
    const last = all.findLastIndex((cell) => typeof cell !== 'string' || cell.trim() !== '');
    if (last >= maxColumns)
      throw unreadableFile(fieldError('too_many_columns', { line, most: maxColumns }));
    yield { line, cells: all.slice(0, last + 1) };
  }
}

function rowTooLong(line: number): AppError {
  return unreadableFile(fieldError('row_too_long', { line, most: maxRowLength }));
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
    return { request: parseJson(row, requestBodyJson) };
  } catch {
    return { problem: fieldError('row_not_json') };
  }
}

async function* readCsv(pieces: AsyncIterable<string>): AsyncGenerator<SheetRow> {
  const { start, all } = await readStart(pieces);
  const { delimiter, isDeclared } = delimiterOf(start);
  let [records, lastLine] = [0, 0];
  const pass = (line: number) => {
    lastLine = line;
  };
  try {
    for await (const { record, info } of readCsvRecords(all, delimiter, maxRowLength, pass)) {
      records += 1;
      if (records > 1 || !isDeclared) yield { line: info.lines, cells: record };
    }
  } catch (error) {
    // The parser's message quotes the file, which may hold personal data.
    if (!(error instanceof CsvError)) throw error;
    if (error.code === 'CSV_MAX_RECORD_SIZE') throw rowTooLong(lastLine + 1);
    const line = error.code === 'CSV_QUOTE_NOT_CLOSED' ? lastLine + 1 : Number(error.lines);
    throw unreadableFile(fieldError('not_csv', { line }));
  }
}

async function* readSheet(
  bytes: AsyncIterable<Uint8Array>,
  choice: SheetChoice,
): AsyncGenerator<SheetRow> {
  const archive = await XlsxArchive.open(await receiveSheet(bytes));
  yield* readSheetRows(archive, sheetLimits, choice);
}

/** The rows of a table under its header. Empty cells at the end of a row count for nothing. */
class Table {
  private columns: readonly (Column | null)[] | null = null;
  /** How many rows of the same cells there were. */
  private readonly same = new Map<string, number>();

  constructor(
    private readonly style: CellStyle,
    private readonly reading: FileReading,
  ) {}

  /** Null: the header, or above it. Throws `validation_failed`. */
  read(line: number, cells: readonly Cell[]): FileRow | null {
    const { mapping } = this.reading;
    if (mapping) return this.readMapped(mapping, line, cells);
    const { columns, style } = this;
    if (columns === null) {
      this.columns = columnsOf(line, cells);
      return null;
    }
    observeCells(columns, cells, style);
    const read = () => toRequest(columns, cells, style);
    return { line, read: () => (cells.length > columns.length ? tooWide : read()) };
  }

  private readMapped(
    { target, line: headerLine, fields }: ColumnMapping,
    line: number,
    given: readonly Cell[],
  ): FileRow | null {
    if (line < headerLine) return null;
    const cells = given.map((cell) => (typeof cell === 'string' ? cell.trim() : cell));
    const { columns, style } = this;
    if (columns === null) {
      this.columns = mappedColumns(fields, cells);
      return null;
    }
    observeCells(columns, cells, style);
    const id = this.idOf(target === 'transfers' ? this.reading.day : undefined, cells);
    const read = (): RowContent => {
      const row = toRequest(columns, cells, style);
      return 'problem' in row ? row : mappedRequest(target, row.request, id);
    };
    const named = (errors: FieldErrors) => namedErrors(errors, columns);
    return { line, named, read: () => (cells.length > columns.length ? tooWide : read()) };
  }

  /**
   * The same for the same cells, also in a changed file: a row that was sent is not sent again.
   * Transfers have no day of their own, and the same one may be due again on another day.
   */
  private idOf(day: string | undefined, cells: readonly Cell[]): string {
    const content = sha256(stringifyJson([day ?? null, cells]));
    const count = (this.same.get(content) ?? 0) + 1;
    this.same.set(content, count);
    return `row-${content.slice(0, 32)}${count > 1 ? `-${count}` : ''}`;
  }
}

const tooWide: RowContent = { problem: fieldError('row_too_wide') };

async function receiveSheet(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of bytes) {
    length += piece.length;
    if (length > maxXlsxBytes) throw unreadableFile(fieldError('xlsx_size', { most: 20 }));
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** The columns of a header row. Throws `validation_failed`. */
function columnsOf(line: number, cells: readonly Cell[]): Column[] {
  const header = cells.map((cell) => (typeof cell === 'string' ? cell.trim() : ''));
  const problem = headerProblem(header, line);
  if (problem) throw unreadableFile(problem);
  return readColumns(header);
}

/** Titles may stand above the header. */
const maxFirstLines = 20;

/** The text up to the end of the first lines, and all the text from its beginning. */
async function readStart(
  pieces: AsyncIterable<string>,
): Promise<{ start: string; all: AsyncIterable<string> }> {
  const reading = pieces[Symbol.asyncIterator]();
  let start = '';
  while (
    start.trimStart().split(/[\r\n]+/, maxFirstLines + 1).length <= maxFirstLines &&
    start.length <= maxRowLength
  ) {
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

/** As Excel declares it: a line `sep=;` before the header. */
const declaration = /^"?sep=([,;\t])"?[,;\t]*$/i;

/**
 * Field names contain no delimiter, so the one that the first line contains is that of the file.
 * A comma may be one of a title: not where the lines below it have more semicolons or tabs.
 */
function delimiterOf(start: string): { delimiter: string; isDeclared: boolean } {
  const lines = start.trimStart().split(/[\r\n]+/, maxFirstLines);
  const [line = '', ...others] = lines.slice(0, lines.length > 1 ? -1 : undefined);
  const declared = declaration.exec(line)?.[1];
  if (declared !== undefined) return { delimiter: declared, isDeclared: true };
  const count = (text: string, one: string) => text.split(one).length - 1;
  const delimiter = [';', '\t'].find((one) => {
    const most = others.map((other) => count(other, one)).sort((a, b) => a - b);
    return line.includes(one) || (most[Math.floor(most.length / 2)] ?? 0) > count(line, ',');
  });
  return { delimiter: delimiter ?? ',', isDeclared: false };
}
