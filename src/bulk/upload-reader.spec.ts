import { describe, expect, it } from '@jest/globals';
import { formatOf, readRows, type FileFormat, type ReadRow } from './upload-reader.js';

async function read(format: FileFormat, file: string | Buffer): Promise<ReadRow[]> {
  const rows: ReadRow[] = [];
  for await (const row of readRows(format, Buffer.from(file as string), 3)) rows.push(row);
  return rows;
}

describe('NDJSON', () => {
  it('is one request a line, with the line that it stands on', async () => {
    expect(await read('ndjson', '\uFEFF{"a":"x"}\r\n\r\n{"a":"y"}')).toEqual([
      { line: 1, request: { a: 'x' } },
      { line: 3, request: { a: 'y' } },
    ]);
  });

  it('has as many rows as it may, blank lines apart', async () => {
    expect(await read('ndjson', '{}\n\n{}\n  \n{}\n')).toHaveLength(3);
    await expect(read('ndjson', '{}\n{}\n{}\n{}')).rejects.toMatchObject({ status: 400 });
  });

  it('tells of a line that is none, and goes on', async () => {
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

  it('keeps what stands between quotes, also the end of a line', async () => {
    const [row] = await read('csv', 'a;b\n"one; ""two""\nthree";y\n');
    expect(row).toMatchObject({ request: { a: 'one; "two"\nthree', b: 'y' } });
  });

  it('tells of a row with more cells than the header, and goes on', async () => {
    const rows = await read('csv', 'a,b\n1,2,3\n4,5\n');
    expect(rows).toEqual([
      { line: 2, problem: 'Has more cells than the header.' },
      { line: 3, request: { a: '4', b: '5' } },
    ]);
  });

  it.each([
    ['a header that is none', 'a b,c\n1,2\n'],
    ['a quote that never ends', 'a,b\n"1,2\n3,4\n'],
    ['bytes that are no text', Buffer.from([0x61, 0x0a, 0xff, 0xfe])],
  ])('is refused with %s, and its content is not told', async (_, file) => {
    await expect((async () => read('csv', file))()).rejects.toMatchObject({
      code: 'validation_failed',
      message: 'validation_failed',
    });
  });
});

describe('formatOf', () => {
  it('knows a file by its type alone', () => {
    expect(formatOf('text/csv; charset=utf-8')).toBe('csv');
    expect(formatOf('Application/X-NDJSON')).toBe('ndjson');
    for (const type of [undefined, 'application/json', 'text/plain'])
      expect(() => formatOf(type)).toThrow(expect.objectContaining({ status: 415 }));
  });
});
