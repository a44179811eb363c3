import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { until } from '../../../test/support/until.js';
import { fieldError } from '../../bank-contract/field-errors.js';
import { CellStyle } from './spreadsheet-cell.js';
import { formatOf, readRows, type FileFormat, type RowContent } from './upload-reader.js';
import { fieldRefusalOf } from '../../../test/support/decoded-request.js';

/** The file in pieces that cut lines and characters. */
async function* piecesOf(file: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.length; start += 3) yield file.subarray(start, start + 3);
}

type ReadRow = { line: number } & RowContent;

async function read(format: FileFormat, file: string | Buffer): Promise<ReadRow[]> {
  const rows: ReadRow[] = [];
  for await (const row of readRows({ format }, piecesOf(Buffer.from(file as string)), 3))
    rows.push({ line: row.line, ...row.read() });
  return rows;
}

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = [];
  for await (const value of values) list.push(value);
  return list;
}

describe('NDJSON', () => {
  it('is read as one request per line, with its line number', async () => {
    expect(await read('ndjson', '\uFEFF{"a":"x"}\r\n\r\n{"a":"y"}')).toEqual([
      { line: 1, request: { a: 'x' } },
      { line: 3, request: { a: 'y' } },
    ]);
  });

  it('is rejected with too many rows, not counting blank lines', async () => {
    expect(await read('ndjson', '{}\n\n{}\n  \n{}\n')).toHaveLength(3);
    await expect(read('ndjson', '{}\n{}\n{}\n{}')).rejects.toMatchObject({ status: 400 });
  });

  it('reports a line that is not valid JSON and continues with the next', async () => {
    const rows = await read('ndjson', '{"a":\n{"a":"y"}\n{"a":1,"a":2}\n');
    expect(rows.map((row) => 'problem' in row)).toEqual([true, false, true]);
  });
});

describe('CSV', () => {
  it.each([
    ['commas', 'a,b.c\r\nx,y\r\n'],
    ['semicolons', 'a;b.c\nx;y'],
    ['a byte order mark', '\uFEFFa,b.c\nx,y\n'],
    ['quotes', '"a","b.c"\n"x","y"\n'],
  ])('is read with %s', async (_, file) => {
    expect(await read('csv', file)).toEqual([{ line: 2, request: { a: 'x', b: { c: 'y' } } }]);
  });

  it('preserves quoted cells, including line breaks', async () => {
    const [row] = await read('csv', 'a;b\n"one; ""two""\nthree";y\n');
    expect(row).toMatchObject({ request: { a: 'one; "two"\nthree', b: 'y' } });
  });

  it.each([
    ['a delimiter after each line', 'a;b;\r\nx;y;\r\n', 2],
    ['emptied records', 'a;b\r\n;;\r\n;;;;\r\nx;y;;;\r\n;\r\n', 4],
    ['empty cells beyond the header', 'a;b\nx;y;;\n', 2],
    ['the declaration of Excel', 'sep=;\r\na;b\r\nx;y\r\n', 3],
    ['a declared comma and delimiters after it', '"sep=,",,\na,b\nx,y\n', 3],
    ['tabs', 'a\tb\nx\ty\n', 2],
    ['ends of lines of three systems', '\r\na;b\rx;y\n', 3],
  ])('is read with %s', async (_, file, line) => {
    expect(await read('csv', file)).toEqual([{ line, request: { a: 'x', b: 'y' } }]);
  });

  it('is read in the encodings of Excel', async () => {
    const file = 'a;b\nJoão;São Luís\n';
    const rows = [{ line: 2, request: { a: 'João', b: 'São Luís' } }];
    expect(await read('csv', Buffer.from(file, 'latin1'))).toEqual(rows);
    const utf16 = Buffer.from(`\uFEFF${file}`, 'utf16le');
    expect(await read('csv', utf16)).toEqual(rows);
    expect(await read('csv', utf16.swap16())).toEqual(rows);
    const dashed = Buffer.from('a\nCafé – 5º\n', 'latin1').fill(0x96, 7, 8);
    expect(await read('csv', dashed)).toEqual([{ line: 2, request: { a: 'Café – 5º' } }]);
  });

  it.each([
    ['both UTF-8 and other bytes', [...Buffer.from('a\né\n'), 0xe9], 3],
    ['letters of DOS', [0x61, 0x0a, 0x4a, 0x6f, 0xc6, 0x6f], 2],
    ['a letter that may be another one', [...Buffer.from('a\nx\nMA'), 0xc7, 0x41], 3],
    ['half of a character at its end', [0x61, 0x0a, 0xe2, 0x82], 2],
    ['half of a character of UTF-16', [0xff, 0xfe, 0x61, 0x00, 0x0a], 1],
  ])('with %s is refused with the line', async (_, bytes, line) => {
    const refused = fieldRefusalOf(read('csv', Buffer.from(bytes)));
    expect(await refused).toEqual([400, { $: [expect.stringContaining(`UTF-8 (line ${line})`)] }]);
  });

  it.each([
    ['a quotation mark in a cell', 'a;b\nx;y\nz;Bar do "Ze"\n', 'Line 3 could not be read'],
    ['text after a quoted cell', 'a;b\n"x"y;z\n', 'Line 2 could not be read'],
    ['a quotation mark that is not closed', 'a;b\nx;y\n"z;1\n2;3\n', 'Line 3 could not be read'],
    ['a field name that is none', '\na;b c\n1;2\n', 'Line 2: Column 2 of the header'],
    ['too many rows', 'a\n1\n2\n\n3\n4\n', 'more than 3 rows (line 6)'],
  ])('with %s is refused with the line', async (_, file, problem) => {
    const refused = fieldRefusalOf(read('csv', file));
    expect(await refused).toEqual([400, { $: [expect.stringContaining(problem)] }]);
  });

  it('reports a row with more cells than the header and continues with the next', async () => {
    const rows = await read('csv', 'a,b\n1,2,3\n4,5\n');
    expect(rows).toEqual([
      { line: 2, problem: fieldError('row_too_wide') },
      { line: 3, request: { a: '4', b: '5' } },
    ]);
  });

  it('reads amounts with a comma, quoted where the comma is the delimiter', async () => {
    const files = ['a,amount\n"x","1.149,90"\n', 'a;amount\nx;1.149,90\n'];
    for (const file of files)
      expect(await read('csv', file)).toEqual([
        { line: 2, request: { a: 'x', amount: new LosslessNumber('1149.90') } },
      ]);
  });

  it('decides an amount with one point by the amounts of the whole file', async () => {
    const file = Buffer.from('amount\n1.234\n"5,00"\n');
    const style = new CellStyle();
    for await (const _ of readRows({ format: 'csv' }, piecesOf(file), 3, style));
    const [row] = await all(readRows({ format: 'csv' }, piecesOf(file), 3, style));
    expect(row?.read()).toEqual({ request: { amount: new LosslessNumber('1234') } });
    const [alone] = await read('csv', 'amount\n1.234\n');
    expect(alone).toMatchObject({ problem: { reason: 'cell_thousands_or_decimals' } });
  });

  it.each([
    ['an invalid header', 'a b,c\n1,2\n'],
    ['an unclosed quote', 'a,b\n"1,2\n3,4\n'],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0x0a, 0xff, 0xfe])],
  ])('is rejected with %s, without quoting its content', async (_, file) => {
    await expect((async () => read('csv', file))()).rejects.toMatchObject({
      code: 'validation_failed',
      message: 'validation_failed',
    });
  });
});

describe('a file without end', () => {
  /** Repeats `text` after `start` for ever, until its reader stops. */
  const endless = (start: string, text: string) => {
    const state = { isStopped: false };
    async function* pieces(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from(start);
        for (;;) yield Buffer.from(text.repeat(1_000));
      } finally {
        state.isStopped = true;
      }
    }
    return { pieces: pieces(), state };
  };

  it.each<[string, FileFormat, string, string, RegExp]>([
    ['one-character rows', 'csv', '', '1\n', /more than 3 rows/],
    ['one-character lines', 'ndjson', '', '1\n', /more than 3 rows/],
    ['one line', 'csv', 'a,b\n', 'x', /Line 2 has more than 65536/],
    ['one line', 'ndjson', '{}\n', 'x', /Line 2 has more than 65536/],
    ['a header', 'csv', '', 'a,', /Line 1 has more than 65536/],
    ['a quote that is never closed', 'csv', 'a,b\n"', 'x\n', /has more than 65536/],
    ['too many columns', 'csv', `a\n${'1,'.repeat(200)}1\n`, '1\n', /Line 2 .* 200 columns/],
  ])('of %s (%s) is read no further than its limit', async (_, format, start, text, problem) => {
    const { pieces, state } = endless(start, text);
    const reading = (async () => {
      for await (const row of readRows({ format }, pieces, 3)) expect(row.line).toBeLessThan(5);
    })();
    expect(await fieldRefusalOf(reading)).toEqual([400, { $: [expect.stringMatching(problem)] }]);
    await until('the source is closed', () => state.isStopped);
  });
});

describe('formatOf', () => {
  it('accepts only the content types of CSV, NDJSON and XLSX', () => {
    expect(formatOf('text/csv; charset=utf-8')).toBe('csv');
    expect(formatOf('Application/X-NDJSON')).toBe('ndjson');
    expect(formatOf('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet')).toBe(
      'xlsx',
    );
    for (const type of [undefined, 'application/json', 'text/plain'])
      expect(() => formatOf(type)).toThrow(expect.objectContaining({ status: 415 }));
  });
});

describe('a foreign table', () => {
  const file =
    'Empresa, SA\n\nNome;Valor;Data;Chave\nA;1.234,56;1;a@x.example\nA;1.234,56;1;a@x.example\n';
  const mapping = {
    ...({ target: 'transfers', line: 3 } as const),
    fields: ['name', 'amount', null, 'key'],
  } as const;
  const requestsOf = async (day: string, text = file) => {
    const reading = { format: 'csv', mapping, day } as const;
    const requests: unknown[] = [];
    for await (const row of readRows(reading, Readable.from([Buffer.from(text)]), 10)) {
      const read = row.read();
      requests.push('request' in read ? read.request : read);
    }
    return requests as { externalId: string }[];
  };

  it('is read by its mapping from below its header, past titles', async () => {
    const [first, second, ...others] = await requestsOf('2026-11-30');
    expect(first).toMatchObject({ amount: { value: '1234.56' }, key: 'a@x.example' });
    expect([second?.externalId, others]).toEqual([`${first?.externalId}-2`, []]);
  });

  it('identifies a transfer by its cells and the day, wherever it stands', async () => {
    const [first] = await requestsOf('2026-11-30');
    const [, moved] = await requestsOf(
      '2026-11-30',
      file.replace('A;', 'B;2,00;1;b@x.example\nA;'),
    );
    const [later] = await requestsOf('2026-12-01');
    expect([moved?.externalId, later?.externalId === first?.externalId]).toEqual([
      ...[first?.externalId, false],
    ]);
  });

  it('with days of both orders leaves none to a guess', async () => {
    const dated = { target: 'payables', line: 1, fields: ['amount', 'date'] } as const;
    const text = 'Valor;Dia\n1,00;11/05/2026\n1,00;11/30/2026\n';
    const reading = { format: 'csv', mapping: dated } as const;
    const style = new CellStyle();
    const rows = async () => {
      const read = [];
      for await (const row of readRows(reading, Readable.from([Buffer.from(text)]), 9, style))
        read.push(row);
      return read;
    };
    await rows();
    expect((await rows()).map((row) => row.read())).toEqual([
      ...[1, 2].map(() => ({ problem: fieldError('cell_day_or_month', { field: 'Dia' }) })),
    ]);
  });
});
