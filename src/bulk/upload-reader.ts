// Reads an uploaded file row by row: one request per NDJSON line or CSV record. An unreadable row
// is reported as that row's problem. Only a file that cannot be read in its format is rejected.
import { CsvError, parse } from 'csv-parse';
import { AppError, invalidField } from '../platform/errors.js';
import { parseJson } from '../platform/exact-json.js';
import { headerProblem, toRequest } from './csv-record.js';

export type FileFormat = 'ndjson' | 'csv';

/** A row of the file: its request, or why no request can be read from it. */
export type FileRow = { line: number } & ({ request: unknown } | { problem: string });

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

const maxRowBytes = 262_144;

/** Rows in file order. Throws `validation_failed` when the file cannot be read in its format. */
export function readRows(
  format: FileFormat,
  bytes: Buffer,
  maxRows: number,
): AsyncIterable<FileRow> | Iterable<FileRow> {
  let file: string;
  try {
    file = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadableFile('The file must be UTF-8.');
  }
  // Counting NDJSON rows is cheap, so a file with too many rows is rejected before its rows are
  // read.
  if (format === 'ndjson' && (file.match(/\S[^\n]*/g)?.length ?? 0) > maxRows)
    throw unreadableFile(`The file has more than ${maxRows} rows.`);
  return format === 'csv' ? readCsv(file) : readLines(file);
}

export function unreadableFile(problem: string): AppError {
  return invalidField('$', problem);
}

function* readLines(file: string): Generator<FileRow> {
  let [line, start] = [0, 0];
  while (start < file.length) {
    const found = file.indexOf('\n', start);
    const end = found === -1 ? file.length : found;
    const row = file.slice(start, end).trim();
    [line, start] = [line + 1, end + 1];
    if (row !== '') yield { line, ...readLine(row) };
  }
}

function readLine(row: string): { request: unknown } | { problem: string } {
  if (row.length > maxRowBytes)
    return { problem: `The row has more than ${maxRowBytes} characters.` };
  try {
    return { request: parseJson(row) };
  } catch {
    return { problem: 'The row must be a JSON value without duplicate fields.' };
  }
}

async function* readCsv(file: string): AsyncGenerator<FileRow> {
  const records = parse(file, {
    delimiter: delimiterOf(file),
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRowBytes,
  }) as AsyncIterable<{ record: string[]; info: { lines: number } }>;
  let header: string[] | null = null;
  try {
    for await (const { record, info } of records) {
      if (header === null) {
        header = record.map((name) => name.trim());
        const problem = headerProblem(header);
        if (problem) throw unreadableFile(problem);
        continue;
      }
      const line = info.lines;
      if (record.length > header.length)
        yield { line, problem: 'The row has more cells than the header.' };
      else yield { line, request: toRequest(header, record) };
    }
  } catch (error) {
    // The parser's message quotes the file, which may hold personal data.
    if (error instanceof CsvError) throw unreadableFile('The file could not be read as CSV.');
    throw error;
  }
}

/** Field names contain neither delimiter, so a semicolon in the header is the delimiter. */
function delimiterOf(file: string): ',' | ';' {
  const header = file.slice(0, file.indexOf('\n') + 1 || file.length);
  return header.includes(';') ? ';' : ',';
}
