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

/**
 * Throws a CsvError where the text is not CSV, or a record has more than `maxLength` bytes. `pass`
 * gets the line of each record, also of those that an error takes back.
 */
export function readCsvRecords(
  pieces: AsyncIterable<string>,
  delimiter: string,
  maxLength: number,
  pass: (line: number) => void,
): AsyncIterable<CsvRecord> {
  const parser = parse({
    delimiter,
    info: true,
    relax_column_count: true,
    // Programs write their own line ends, and empty records where cells were emptied.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: maxLength,
    on_record: (record: string[], { lines }: { lines: number }) => {
      pass(lines);
      return record;
    },
  });
  // An error of the pieces reaches the reader of the records through the parser.
  pipeline(Readable.from(pieces, { highWaterMark: 1 }), parser, () => undefined);
  return parser;
}
