import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isMultipartForm, readMultipartForm, type MultipartForm } from './multipart-form.js';

const boundary = '----WebKitFormBoundaryXyZ0123456789';
const contentType = `multipart/form-data; boundary=${boundary}`;
const field = (name: string, value: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const disposition = (parameters: string) =>
  `--${boundary}\r\nContent-Disposition: form-data${parameters}\r\n\r\n`;
const fileHead = (name: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
  'Content-Type: text/csv\r\n\r\n';
const end = `\r\n--${boundary}--\r\n`;

/** The bytes in pieces of these lengths, again and again. */
function inPieces(bytes: Buffer, lengths: readonly number[]): Readable {
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return Readable.from(pieces, { objectMode: false });
}

const read = (text: string | Buffer, lengths = [7]) =>
  readMultipartForm(contentType, inPieces(Buffer.from(text as string), lengths));
const contentOf = async ({ file }: MultipartForm) =>
  Buffer.concat(await (file?.body ?? Readable.from([])).toArray());

describe('a form with a file', () => {
  it('has the fields before the file, the name of the file and its bytes', async () => {
    const form = await read(
      `${field('csrf', 'abc')}${field('kind', 'cobrança')}${fileHead('ações.csv')}a;b\r\n1;2${end}`,
    );
    expect([...form.fields]).toEqual([
      ['csrf', 'abc'],
      ['kind', 'cobrança'],
    ]);
    expect(form.file?.name).toBe('ações.csv');
    expect((await contentOf(form)).toString()).toBe('a;b\r\n1;2');
  });

  it('has the same bytes in whatever pieces it arrives', async () => {
    const anyBytes = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
        fc.constantFrom('\r\n', '--', `\r\n--`, `\r\n--${boundary.slice(0, 9)}`).map(Buffer.from),
      ),
    );
    const lengths = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(anyBytes, lengths, async (parts, pieces) => {
        const content = Buffer.concat(parts);
        const head = Buffer.from(`${field('csrf', 'abc')}${fileHead('x.xlsx')}`);
        const form = await read(Buffer.concat([head, content, Buffer.from(end)]), pieces);
        expect((await contentOf(form)).equals(content)).toBe(true);
      }),
    );
  });

  it('ignores what follows the file, and is read to its end', async () => {
    const body = inPieces(
      Buffer.from(`${fileHead('x.csv')}a\r\n${field('csrf', 'late')}--${boundary}--\r\n`),
      [5],
    );
    const form = await readMultipartForm(contentType, body);
    expect((await contentOf(form)).toString()).toBe('a');
    expect(form.fields.has('csrf')).toBe(false);
    await finished(body);
  });

  it('has no file where none was sent, and an unnamed one where none was chosen', async () => {
    expect((await read(`${field('csrf', 'abc')}--${boundary}--`)).file).toBeNull();
    const form = await read(`${fileHead('')}${end}`);
    expect([form.file?.name, (await contentOf(form)).length]).toEqual(['', 0]);
  });

  it('has no file in a part without a file name, whatever its type', async () => {
    const type = 'Content-Type: application/octet-stream';
    const part = `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n${type}\r\n\r\nz`;
    const form = await read(`${part}${end}`);
    expect([[...form.fields], form.file]).toEqual([[['a', 'z']], null]);
  });

  it('has no field of a part without a disposition', async () => {
    const form = await read(`--${boundary}\r\nX: y\r\n\r\nz\r\n--${boundary}--`);
    expect([[...form.fields], form.file]).toEqual([[], null]);
  });

  it.each([
    ['without a boundary', 'multipart/form-data', `${field('a', 'b')}${end}`],
    ['cut off in a field', contentType, field('csrf', 'abc').slice(0, -4)],
    ['cut off before its end', contentType, field('csrf', 'abc')],
    ['with a field without a name', contentType, `${disposition('')}z${end}`],
    ['with a file without a name', contentType, `${disposition('; filename="a"')}z${end}`],
    ['with more than 100 fields', contentType, field('a', 'b').repeat(101)],
  ])('is malformed %s', async (_, type, text) => {
    const body = inPieces(Buffer.from(text), [50]);
    await expect(readMultipartForm(type, body)).rejects.toMatchObject({ code: 'malformed_body' });
  });

  it('fails when its file is cut off', async () => {
    const form = await read(`${fileHead('x.csv')}a,b\r\n1,2`);
    await expect(contentOf(form)).rejects.toMatchObject({ code: 'malformed_body' });
  });

  it.each([
    ['one', field('csrf', 'x'.repeat(70_000))],
    ['many', field('csrf', 'x'.repeat(10_000)).repeat(7)],
  ])('is too large with %s long fields, and the rest of it is dropped', async (_, text) => {
    const body = inPieces(
      Buffer.from(`${text}${fileHead('x')}${'y'.repeat(200_000)}${end}`),
      [4_096],
    );
    await expect(readMultipartForm(contentType, body)).rejects.toMatchObject({
      code: 'body_too_large',
    });
    await finished(body);
  });

  it('drops its file when it is discarded', async () => {
    const body = inPieces(Buffer.from(`${fileHead('x')}${'y'.repeat(200_000)}${end}`), [4_096]);
    const form = await readMultipartForm(contentType, body);
    form.discard();
    await finished(body);
  });
});

it('is recognised by its content type', () => {
  const types = ['multipart/form-data; boundary=x', 'Multipart/Form-Data', 'multipart/form-datax'];
  expect(types.map(isMultipartForm)).toEqual([true, true, false]);
});
