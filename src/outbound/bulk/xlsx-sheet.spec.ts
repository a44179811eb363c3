import { describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { deflateRawSync } from 'node:zlib';
import {
  uploadedSheet,
  zipFile,
  zipOf,
  type SheetParts,
  type XlsxParts,
  type ZippedPart,
} from '../../../test/support/uploaded-sheet.js';
import { XlsxArchive } from '../../platform/files/xlsx-archive.js';
import { readRows } from './upload-reader.js';
import { readSheetRows, type SheetChoice } from './xlsx-sheet.js';
import { fieldRefusalOf } from '../../../test/support/decoded-request.js';

async function refused(work: Promise<unknown>, problem: string): Promise<void> {
  expect(await fieldRefusalOf(work)).toEqual([400, { $: [expect.stringContaining(problem)] }]);
}

async function* piecesOf(file: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.length; start += 1_000)
    yield file.subarray(start, start + 1_000);
}

async function upload(file: Buffer, choice: SheetChoice = {}): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const { line, read } of readRows({ format: 'xlsx', ...choice }, piecesOf(file), 100))
    rows.push({ line, ...read() });
  return rows;
}

const limits = { sheetBytes: 1e6, sharedBytes: 1e6, rowCharacters: 10_000, markup: 4, columns: 20 };

async function cellsIn(
  file: Buffer,
  changes: Partial<typeof limits> = {},
  choice: SheetChoice = {},
): Promise<unknown[]> {
  const rows: unknown[] = [];
  const archive = await XlsxArchive.open(file);
  for await (const { cells } of readSheetRows(archive, { ...limits, ...changes }, choice))
    rows.push(cells);
  return rows;
}
const cellsOf = (parts: XlsxParts, changes?: Partial<typeof limits>, choice?: SheetChoice) =>
  cellsIn(uploadedSheet(parts), changes, choice);

const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
const header = (...names: string[]) => `<row r="1">${names.map(text).join('')}</row>`;
const oneRow = (value: string): SheetParts => ({ rows: `<row>${text(value)}</row>` });

describe('an XLSX file', () => {
  it('is read row by row, with the numbers of its rows', async () => {
    const rows = `${header('externalId', 'amount', 'dueDate', 'payer.document')}<row r="2"/>
      <row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3"><v>149.90000000000001</v></c>
        <c r="C3" s="1"><v>46387</v></c><c r="D3"><v>1234567890</v></c></row>
      <row r="7"><c r="A7" t="str"><f>"0"&amp;"7"</f><v>07</v></c>
        <c r="B7" t="inlineStr"><is><t>R$ 1.234,56</t></is></c></row>`;
    const sharedStrings =
      '<si><r><t>salary </t></r><r><t xml:space="preserve">1 &amp; 2</t></r></si>';
    const styles = '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>';
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
    ['<c><v>0x10</v></c>', {}, { error: '0x10' }],
    ['<c s="0"><v>42</v></c>', { format: '00000' }, '00042'],
    ['<c s="0"><v>46387.75</v></c>', { format: 'dd/mm/yyyy' }, { day: '2026-12-31' }],
    ['<c s="0"><v>46387</v></c>', { format: '[>0]dd/mm/yyyy;@' }, { day: '2026-12-31' }],
    ['<c s="0"><v>44925</v></c>', { format: 'd-mmm', date1904: true }, { day: '2026-12-31' }],
    ['<c s="0"><v>1234.5</v></c>', { format: '&quot;dmy&quot; #,##0.00' }, { number: '1234.5' }],
    ['<c s="0"><v>60</v></c>', { format: 'dd/mm/yyyy' }, { error: '60' }],
    ['<c t="e"><v>#REF!</v></c>', {}, { error: '#REF!' }],
    ['<c t="str"><v>&#x41;<![CDATA[<b>]]></v></c>', {}, 'A<b>'],
    ['<c t="str"><v>a_x000D_\nb_x005F_x000D_</v></c>', {}, 'a\r\nb_x000D_'],
    ['<c t="inlineStr"><is><t>a</t><rPh><t>b</t></rPh><r><t>c</t></r></is></c>', {}, 'ac'],
    ['<c t="str"><v>a</v><y:v xmlns:y="urn:other">b</y:v></c>', {}, 'a'],
  ])('reads the cell %s (%j) as %j', async (cell, { format, date1904 }: CellStyle, value) => {
    const styles = `<numFmts><numFmt numFmtId="170" formatCode="${format}"/></numFmts>
      <cellXfs><xf numFmtId="${format ? 170 : 0}"/></cellXfs>`;
    const workbookPr = date1904 ? '<workbookPr date1904="1"/>' : '';
    expect(await cellsOf({ rows: `<row>${cell}</row>`, styles, workbookPr })).toEqual([[value]]);
  });

  it('may have any prefixes, encodings and names of parts, also those of the strict form', async () => {
    const relation = (kind: string, target: string) =>
      `<p:Relationships xmlns:p="http://schemas.openxmlformats.org/package/2006/relationships">
       <p:Relationship Target="${target}" Id="a&gt;b"
         Type="http://purl.oclc.org/ooxml/officeDocument/relationships/${kind}"/></p:Relationships>`;
    const strict = 'xmlns:x="http://purl.oclc.org/ooxml/spreadsheetml/main"';
    const sheet = `\uFEFF<x:worksheet ${strict} title="a > b"><x:sheetData><x:row><x:c t='str'
      ><x:v>é</x:v></x:c></x:row></x:sheetData></x:worksheet>`;
    const file = zipFile({
      '_rels/.rels': relation('officeDocument', 'books/Livro%20de%20pagamentos.xml'),
      'books/Livro de pagamentos.xml': `<x:workbook ${strict}
        xmlns:q="http://purl.oclc.org/ooxml/officeDocument/relationships"><x:sheets>
        <x:sheet q:id="a&gt;b" name="P"/></x:sheets></x:workbook>`,
      'books/_rels/livro de pagamentos.xml.rels': relation('worksheet', '../folhas/um.xml'),
      'folhas/um.xml': Buffer.from(sheet, 'utf16le'),
    });
    expect(await cellsIn(file)).toEqual([['é']]);
  });

  it('skips rows without cells, however many there are', async () => {
    const empty = Array.from({ length: 20_000 }, (_, at) => `<row r="${at + 2}" ht="15.75"/>`);
    expect(await cellsOf({ rows: header('a') + empty.join('') })).toEqual([['a']]);
  });

  it('reads the visible sheet only, whatever the hidden ones hold', async () => {
    for (const state of ['hidden', 'veryHidden'])
      expect(await cellsOf({ ...oneRow('old'), state, more: [oneRow('new')] })).toEqual([['new']]);
    const empty = { rows: '<row/>' };
    expect(await cellsOf({ ...oneRow('new'), more: [empty, empty] })).toEqual([['new']]);
    await refused(cellsOf({ ...oneRow('old'), state: 'hidden' }), 'no visible');
  });

  it('of several visible sheets with rows is refused by their names, unless one is named', async () => {
    const book = {
      ...{ ...oneRow('a'), name: 'Maio' },
      more: [
        { ...oneRow('b'), name: 'Junho' },
        { ...oneRow('c'), name: 'Old', state: 'hidden' },
      ],
    };
    await refused(cellsOf(book), '“Maio”, “Junho”');
    expect(await cellsOf(book, {}, { sheet: 'junho' })).toEqual([['b']]);
    expect(await cellsOf(book, {}, { sheet: 'Old' })).toEqual([['c']]);
    await refused(cellsOf(book, {}, { sheet: 'Julho' }), 'It has “Maio”, “Junho”');
  });

  it.each([
    ['a hidden row', '', '<row r="2" hidden="1">', 'Line 2'],
    ['a row without height', '', '<row r="2" ht="0" customHeight="1">', 'Line 2'],
    ['rows hidden by default', '<sheetFormatPr zeroHeight="1"/>', '<row r="2">', 'Line 1'],
    ['a hidden column', '<cols><col min="2" max="9" hidden="true"/></cols>', '<row>', 'Column B'],
    [
      'a column without width',
      '<cols><col min="2" max="2" width="0"/></cols>',
      '<row>',
      'Column B',
    ],
  ])(
    'with %s is refused, unless the request says what becomes of it',
    async (_, before, row, what) => {
      const parts = { before, rows: `<row>${text('a')}</row>${row}${text('b')}${text('c')}</row>` };
      await refused(cellsOf(parts), `${what} of the sheet “S1” is hidden`);
      const all = [['a'], ['b', 'c']];
      expect(await cellsOf(parts, {}, { hidden: 'include' })).toEqual(all);
      expect(await cellsOf(parts, {}, { hidden: 'skip' })).not.toEqual(all);
    },
  );

  it('may hide rows and columns that are empty', async () => {
    const before = '<cols><col min="6" max="16384" hidden="1"/></cols>';
    const rows = `${header('a')}<row r="2" hidden="1"><c r="B2" s="1"/></row>`;
    expect(await cellsOf({ before, rows })).toEqual([['a']]);
  });

  it.each<[string, Buffer, RegExp]>([
    ['no archive', Buffer.from('externalId;amount\n'), /not XLSX/],
    ['no workbook', zipFile({ 'xl/workbook.xml': '<workbook/>' }), /not XLSX/],
    ['a sheet cut off', uploadedSheet({ rows: '<row><c><v>1</row>' }), /damaged/],
    ['bytes that do not inflate', withSheet({ deflated: Buffer.from('x'), size: 9 }), /damaged/],
    [
      'bytes that were changed',
      withSheet({ deflated: deflateRawSync('<worksheet/>'), size: 12, checksum: 1 }),
      /damaged/,
    ],
    ['a part that stands twice', twice('XL/Worksheets/Sheet1.xml'), /damaged/],
    [
      'a text that is not there',
      uploadedSheet({ rows: '<row><c t="s"><v>7</v></c></row>' }),
      /damaged/,
    ],
    ['a row that stands twice', uploadedSheet({ rows: header('a') + header('b') }), /damaged/],
    [
      'a cell that stands twice',
      uploadedSheet({ rows: '<row><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>' }),
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
      /damaged|more than \d+ characters/,
    ],
    ['an invalid header', uploadedSheet({ rows: header('a b') }), /not a valid field name/],
  ])('with %s is refused with 400', async (_, file, problem) => {
    expect(await fieldRefusalOf(upload(file))).toEqual([
      400,
      { $: [expect.stringMatching(problem)] },
    ]);
  });

  it('declares no entities and no document type', async () => {
    const laughs = '<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>';
    const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
    for (const sheet of [
      `${laughs}<worksheet ${main}/>`,
      '<!DOCTYPE w SYSTEM "file:///etc/passwd"><worksheet/>',
      `<worksheet ${main}><sheetData><row><c t="str"><v>&b;</v></c></row></sheetData></worksheet>`,
    ])
      await expect(upload(withSheet(sheet))).rejects.toMatchObject({ status: 400 });
  });

  it('is unpacked no further than its limits, whatever sizes it declares', async () => {
    const rows = `<row>${text('x')}</row>`.repeat(100_000);
    await refused(cellsOf({ rows }, { sheetBytes: 100_000 }), 'too large');
    const texts = { rows: '<row/>', sharedStrings: `<si>${'<t>x</t>'.repeat(100_000)}</si>` };
    await refused(cellsOf(texts, { sharedBytes: 100_000 }), 'too large');
    const size = 50_000_000;
    const deflated = deflateRawSync(Buffer.alloc(size, ' '));
    expect(deflated.length).toBeLessThan(60_000);
    for (const declared of [size, 10])
      await expect(upload(withSheet({ deflated, size: declared }))).rejects.toMatchObject({
        status: 400,
      });
  });

  it('holds no row longer than its limit, however often its cells name a shared text', async () => {
    const sharedStrings = `<si><t>${'x'.repeat(6_000)}</t></si>`;
    const rows = `<row>${'<c t="s"><v>0</v></c>'.repeat(2)}</row>`;
    await refused(cellsOf({ rows, sharedStrings }), 'Line 1 has more than');
  });

  it('is refused with elements in each other without end', async () => {
    await refused(cellsOf({ rows: `<row>${'<c>'.repeat(3_000)}</row>` }), 'damaged');
  });
});

/** A workbook whose sheet is this part. */
function withSheet(sheet: ZippedPart): Buffer {
  return zipFile({ ...partsOf(), 'xl/worksheets/sheet1.xml': sheet });
}

function twice(other: string): Buffer {
  return zipOf([...Object.entries(partsOf()), [other, '<worksheet/>']]);
}

function partsOf(): Record<string, ZippedPart> {
  const documents = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const relation = (kind: string, target: string) =>
    `<Relationships><Relationship Id="a" Type="${documents}/${kind}" Target="${target}"/></Relationships>`;
  return {
    '_rels/.rels': relation('officeDocument', 'xl/workbook.xml'),
    'xl/workbook.xml': `<workbook xmlns:r="${documents}"><sheets><sheet name="S" r:id="a"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relation('worksheet', 'worksheets/sheet1.xml'),
    'xl/worksheets/sheet1.xml': '<worksheet/>',
  };
}

interface CellStyle {
  format?: string;
  date1904?: boolean;
}
