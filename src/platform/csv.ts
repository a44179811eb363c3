// Reads CSV while it arrives, record by record.
import { pipeline, Readable } from 'node:stream';
import { parse } from 'csv-parse';

export interface CsvRecord {
  record: string[];
  info: {
    /** The number of the line on which the record ends, from 1. */
    lines: number;
  };
}

/** Throws a CsvError where the text is not CSV, or a record has more than `maxLength` bytes. */
export function readCsvRecords(
  pieces: AsyncIterable<string>,
  delimiter: ',' | ';',
  maxLength: number,
): AsyncIterable<CsvRecord> {
  const parser = parse({
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxLength,
  });
  // An error of the pieces reaches the reader of the records through the parser.
  pipeline(Readable.from(pieces, { highWaterMark: 1 }), parser, () => undefined);
  return parser;
}
