import { describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { deflateRawSync } from 'node:zlib';
import { uploadedSheet, zipFile, type XlsxParts } from '../../test/support/uploaded-sheet.js';
import { XlsxArchive } from '../platform/xlsx-archive.js';
import { readRows } from './upload-reader.js';
import { readSheetRows } from './xlsx-sheet.js';

async function* piecesOf(file: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.length; start += 1_000)
    yield file.subarray(start, start + 1_000);
}

async function upload(file: Buffer): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const { line, read } of readRows('xlsx', piecesOf(file), 100))
    rows.push({ line, ...read() });
  return rows;
}

const limits = { sheetBytes: 1e6, sharedBytes: 1e6, rowCharacters: 10_000, columns: 20 };

async function cellsOf(parts: XlsxParts, changes: Partial<typeof limits> = {}): Promise<unknown> {
  const rows: unknown[] = [];
  const archive = new XlsxArchive(uploadedSheet(parts));
  for await (const { cells } of readSheetRows(archive, { ...limits, ...changes })) rows.push(cells);
  return rows;
}

const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
const header = (...names: string[]) => `<row r="1">${names.map(text).join('')}</row>`;

describe('an XLSX file', () => {
  it('is read row by row, with the numbers of its rows', async () => {
    const rows = `${header('externalId', 'amount', 'dueDate', 'payer.document')}<row r="2"/>
      <row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3"><v>149.90000000000001</v></c>
        <c r="C3" s="1"><v>46387</v></c><c r="D3"><v>1234567890</v></c></row>
      <row r="7"><c r="A7" t="str"><f>"0"&amp;"7"</f><v>07</v></c>
        <c r="B7" t="inlineStr"><is><t>R$ 1.234,56</t></is></c></row>`;
    const sharedStrings =
      '<sst><si><r><t>salary </t></r><r><t xml:space="preserve">1 &amp; 2</t></r></si></sst>';
    const styles =
      '<styleSheet><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>';
    expect(await upload(uploadedSheet({ rows, sharedStrings, styles }))).toEqual([
      {
        line: 3,
        request: {
          externalId: 'salary 1 & 2',
          amount: new LosslessNumber('149.9'),
          dueDate: '2026-12-31',
          payer: { document: '01234567890' },
        },
      },
      { line: 7, request: { externalId: '07', amount: new LosslessNumber('1234.56') } },
    ]);
  });

  it.each([
    ['<c><v>1.5E3</v></c>', {}, { number: '1500' }],
    ['<c><v>1E-2</v></c>', {}, { number: '0.01' }],
    ['<c><v>0.29999999999999999</v></c>', {}, { number: '0.3' }],
    ['<c s="0"><v>42</v></c>', { format: '00000' }, '00042'],
    ['<c s="0"><v>46387.75</v></c>', { format: 'dd/mm/yyyy' }, { day: '2026-12-31' }],
    ['<c s="0"><v>44925</v></c>', { format: 'd-mmm', date1904: true }, { day: '2026-12-31' }],
    ['<c s="0"><v>1234.5</v></c>', { format: '&quot;dmy&quot; #,##0.00' }, { number: '1234.5' }],
    ['<c s="0"><v>60</v></c>', { format: 'dd/mm/yyyy' }, { error: '60' }],
    ['<c t="e"><v>#REF!</v></c>', {}, { error: '#REF!' }],
    ['<x:c t="str"><x:v>&#x41;&unknown;</x:v></x:c>', {}, 'A&unknown;'],
    ['<c t="inlineStr"><is><t>a</t><rPh><t>b</t></rPh></is></c>', {}, 'a'],
  ])('reads the cell %s (%j) as %j', async (cell, { format, date1904 }: CellStyle, value) => {
    const styles = `<numFmts><numFmt numFmtId="170" formatCode="${format}"/></numFmts>
      <cellXfs><xf numFmtId="${format ? 170 : 0}"/></cellXfs>`;
    const workbookPr = date1904 ? '<workbookPr date1904="1"/>' : '';
    expect(await cellsOf({ rows: `<row>${cell}</row>`, styles, workbookPr })).toEqual([[value]]);
  });

  it.each<[string, Buffer, RegExp]>([
    ['no archive', Buffer.from('externalId;amount\n'), /not XLSX/],
    ['no sheet', zipFile({ 'xl/workbook.xml': '<workbook/>' }), /no sheet/],
    ['a sheet cut off', uploadedSheet({ rows: '<row><c><v>1</row>' }), /damaged/],
    [
      'bytes that do not inflate',
      zipFile({ 'xl/workbook.xml': { deflated: Buffer.from('x') } }),
      /damaged/,
    ],
    [
      '201 columns',
      uploadedSheet({ rows: '<row><c r="GS1"><v>1</v></c></row>' }),
      /more than 200 columns/,
    ],
    [
      'a column that does not exist',
      uploadedSheet({ rows: '<row><c r="1"><v>1</v></c></row>' }),
      /damaged/,
    ],
    [
      'a row without end',
      uploadedSheet({ rows: `<row>${text('x'.repeat(300_000))}</row>` }),
      /too many characters/,
    ],
    ['an invalid header', uploadedSheet({ rows: header('a b') }), /not a valid field name/],
  ])('with %s is refused with 400', async (_, file, problem) => {
    await expect(upload(file)).rejects.toMatchObject({
      status: 400,
      details: { errors: { $: [expect.stringMatching(problem)] } },
    });
  });

  it('is unpacked no further than its limits, whatever sizes it declares', async () => {
    const rows = text('x').repeat(100_000);
    await expect(cellsOf({ rows }, { sheetBytes: 100_000, rowCharacters: 1e9 })).rejects.toThrow(
      'too large',
    );
    const texts = { rows: '<row/>', sharedStrings: `<si>${'<t>x</t>'.repeat(100_000)}</si>` };
    await expect(cellsOf(texts, { sharedBytes: 100_000 })).rejects.toThrow('too large');
    const bomb = deflateRawSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(60_000);
    const parts = {
      'xl/workbook.xml': '<workbook/>',
      'xl/worksheets/sheet1.xml': { deflated: bomb },
    };
    await expect(upload(zipFile(parts))).rejects.toMatchObject({ status: 400 });
  });

  it('is searched once, however many tags are not closed', async () => {
    const rows = `<row>${'<c>'.repeat(3_000)}</row>`;
    await expect(cellsOf({ rows })).rejects.toThrow('damaged');
  });
});

interface CellStyle {
  format?: string;
  date1904?: boolean;
}
