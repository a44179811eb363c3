// Reads an uploaded file row by row: one request a line of NDJSON, or one a record of CSV. What is wrong with a row is
// told with the row; only a file that is no such file at all is refused.
import { CsvError, parse } from 'csv-parse';
import { AppError } from '../platform/errors.js';
import { parseJson } from '../platform/exact-json.js';
import { headerProblem, toRequest } from './csv-record.js';

export type FileFormat = 'ndjson' | 'csv';

/** A row as it was read: its request, or why it is none. */
export type ReadRow = { line: number } & ({ request: unknown } | { problem: string });

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

/** The rows in the order of the file. Throws `validation_failed` when it cannot be read as a file of its kind. */
export function readRows(
  format: FileFormat,
  bytes: Buffer,
  maxRows: number,
): AsyncIterable<ReadRow> | Iterable<ReadRow> {
  let file: string;
  try {
    file = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable('The file is not UTF-8.');
  }
  // Told before the rows are read, where that is cheap.
  if (format === 'ndjson' && (file.match(/\S[^\n]*/g)?.length ?? 0) > maxRows)
    throw unreadable(`Has more than ${maxRows} rows.`);
  return format === 'csv' ? readCsv(file) : readLines(file);
}

export function unreadable(problem: string): AppError {
  return new AppError('validation_failed', { errors: { $: [problem] } });
}

function* readLines(file: string): Generator<ReadRow> {
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
  if (row.length > maxRowBytes) return { problem: 'The row is too long.' };
  try {
    return { request: parseJson(row) };
  } catch {
    return { problem: 'Could not be read as JSON.' };
  }
}

async function* readCsv(file: string): AsyncGenerator<ReadRow> {
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
        if (problem) throw unreadable(problem);
        continue;
      }
      const line = info.lines;
      if (record.length > header.length) yield { line, problem: 'Has more cells than the header.' };
      else yield { line, request: toRequest(header, record) };
    }
  } catch (error) {
    // The parser's own message quotes the file.
    if (error instanceof CsvError) throw unreadable('The file could not be read as CSV.');
    throw error;
  }
}

/** Names of fields hold neither: what stands in the header parts the cells. */
function delimiterOf(file: string): ',' | ';' {
  const header = file.slice(0, file.indexOf('\n') + 1 || file.length);
  return header.includes(';') ? ';' : ',';
}
