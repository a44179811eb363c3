// Reads the first sheet of an XLSX file, row by row while it is unpacked. Entities that a document
// declares are not expanded, and formulas are not computed: the stored result of a cell counts.
import { addDays } from '../brazil/calendar.js';
import { pausesBetweenSlices } from '../platform/slots.js';
import { XlsxError, type XlsxArchive } from '../platform/xlsx-archive.js';
import type { Cell } from './spreadsheet-cell.js';

export interface SheetRow {
  /** The number of the row in the sheet, from 1. */
  line: number;
  cells: Cell[];
}

export interface SheetLimits {
  /** Of the sheet when it is unpacked. */
  sheetBytes: number;
  /** Of the texts that cells share, and of the styles. */
  sharedBytes: number;
  rowCharacters: number;
  columns: number;
}

/** Throws XlsxError where the sheet cannot be read, or exceeds a limit. */
export async function* readSheetRows(
  archive: XlsxArchive,
  limits: SheetLimits,
): AsyncGenerator<SheetRow> {
  const workbook = await readWorkbook(archive, limits);
  let [rest, line] = ['', 0];
  const decoder = new TextDecoder('utf-8');
  for await (const piece of archive.read(workbook.sheet, limits.sheetBytes)) {
    rest += decoder.decode(piece, { stream: true });
    for (let end = rowEnd.exec(rest); end; end = rowEnd.exec(rest)) {
      const text = rest.slice(0, end.index + end[0].length);
      rest = rest.slice(text.length);
      if (text.length > limits.rowCharacters) throw rowTooLong(line + 1);
      for (const row of elementsOf(text, 'row')) {
        line = Number(attributeOf(row.attributes, 'r') ?? line + 1);
        const cells = readCells(row.content, workbook, limits.columns, line);
        if (cells.length > 0) yield { line, cells };
      }
    }
    if (rest.length > limits.rowCharacters) throw rowTooLong(line + 1);
  }
}

const rowEnd = /<\/(?:\w+:)?row>/;

function rowTooLong(line: number): XlsxError {
  return new XlsxError(`Line ${line} has too many characters.`);
}

interface Workbook {
  sheet: string;
  texts: readonly string[];
  formats: readonly Format[];
  /** The first day is in 1904, as in files of older Macs. */
  isFrom1904: boolean;
}

async function readWorkbook(archive: XlsxArchive, { sharedBytes }: SheetLimits): Promise<Workbook> {
  const optional = async (name: string) =>
    archive.has(name) ? archive.readText(name, sharedBytes) : '';
  const workbook = await archive.readText('xl/workbook.xml', sharedBytes);
  const relations = await optional('xl/_rels/workbook.xml.rels');
  const [sheet] = elementsOf(workbook, 'sheet');
  const sheetId = attributeOf(sheet?.attributes ?? '', 'r:id');
  const relation = [...elementsOf(relations, 'Relationship')].find(
    ({ attributes }) => attributeOf(attributes, 'Id') === sheetId,
  );
  const target = attributeOf(relation?.attributes ?? '', 'Target') ?? 'worksheets/sheet1.xml';
  return {
    sheet: target.startsWith('/') ? target.slice(1) : `xl/${target}`,
    texts: await readSharedTexts(await optional('xl/sharedStrings.xml')),
    formats: readFormats(await optional('xl/styles.xml')),
    isFrom1904: isTrue(
      attributeOf([...elementsOf(workbook, 'workbookPr')][0]?.attributes ?? '', 'date1904'),
    ),
  };
}

async function readSharedTexts(xml: string): Promise<string[]> {
  const pause = pausesBetweenSlices();
  const texts: string[] = [];
  for (const { content } of elementsOf(xml, 'si')) {
    texts.push(textIn(content));
    await pause();
  }
  return texts;
}

type Format = 'day' | 'other' | { zeros: number };

/** How the styles show a number: as a day, with leading zeros, or otherwise. */
function readFormats(xml: string): Format[] {
  const codes = new Map<string, string>();
  for (const { attributes } of elementsOf(xml, 'numFmt'))
    codes.set(
      attributeOf(attributes, 'numFmtId') ?? '',
      attributeOf(attributes, 'formatCode') ?? '',
    );
  const [cellFormats] = elementsOf(xml, 'cellXfs');
  return [...elementsOf(cellFormats?.content ?? '', 'xf')].map(({ attributes }) => {
    const id = attributeOf(attributes, 'numFmtId') ?? '0';
    return formatOf(Number(id), codes.get(id) ?? '');
  });
}

function formatOf(id: number, code: string): Format {
  if ((id >= 14 && id <= 17) || id === 22) return 'day';
  const shown = code.replace(/"[^"]*"|\[[^\]]*\]|\\./g, '');
  if (/^0{2,20}$/.test(shown)) return { zeros: shown.length };
  return /d/i.test(shown) && /[my]/i.test(shown) ? 'day' : 'other';
}

const isTrue = (value: string | null): boolean => value === '1' || value === 'true';

function readCells(row: string, workbook: Workbook, maxColumns: number, line: number): Cell[] {
  const cells: Cell[] = [];
  for (const { attributes, content } of elementsOf(row, 'c')) {
    const reference = attributeOf(attributes, 'r');
    const at = reference === null ? cells.length : columnOf(reference);
    if (at >= maxColumns) throw new XlsxError(`Line ${line} has more than ${maxColumns} columns.`);
    while (cells.length < at) cells.push('');
    cells[at] = readCell(attributes, content, workbook);
  }
  while (cells.at(-1) === '') cells.pop();
  return cells;
}

function readCell(attributes: string, content: string, workbook: Workbook): Cell {
  const type = attributeOf(attributes, 't') ?? 'n';
  if (type === 'inlineStr') return textIn(content);
  const [stored] = elementsOf(content, 'v');
  const value = unescape(stored?.content ?? '');
  if (type === 's') return workbook.texts[Number(value)] ?? '';
  if (type === 'e') return { error: value };
  if (type === 'd') return { day: value.slice(0, 10) };
  if (type !== 'n' || value === '') return value;
  const format = workbook.formats[Number(attributeOf(attributes, 's') ?? 0)] ?? 'other';
  return numberCell(value, format, workbook.isFrom1904);
}

function numberCell(value: string, format: Format, isFrom1904: boolean): Cell {
  const number = plainNumber(value);
  if (number === null) return { error: value };
  if (format === 'day') {
    const day = dayOfSerial(Math.floor(Number(number)), isFrom1904);
    return day === null ? { error: value } : { day };
  }
  if (typeof format === 'object' && /^\d+$/.test(number)) return number.padStart(format.zeros, '0');
  return { number };
}

/** The digits of a number. Excel shows 15, and may store 149.9 as 149.90000000000001. */
function plainNumber(value: string): string | null {
  const number = Number(value.trim());
  if (!Number.isFinite(number) || Math.abs(number) >= 1e21) return null;
  if (Number.isInteger(number)) return BigInt(number).toString();
  const [digits = '', exponent = '0'] = number.toPrecision(15).split('e');
  if (exponent !== '0') return number.toFixed(20).replace(/0+$/, '');
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
}

/** Day 60 of the calendar from 1900 is 29 February 1900, which did not exist. */
function dayOfSerial(serial: number, isFrom1904: boolean): string | null {
  if (!Number.isSafeInteger(serial) || serial < 1 || serial > 100_000) return null;
  if (isFrom1904) return addDays('1904-01-01', serial);
  if (serial === 60) return null;
  return addDays('1900-01-01', serial < 60 ? serial - 1 : serial - 2);
}

/** `C12` is column 2, counted from 0. */
function columnOf(reference: string): number {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  if (!letters) throw new XlsxError('The file is damaged.');
  return [...letters].reduce((at, letter) => at * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

/** The text of a cell, without the phonetic guide that Japanese files have. */
function textIn(content: string): string {
  return [...elementsOf(content, '(?:t|rPh)')]
    .filter(({ name }) => !name.endsWith('rPh'))
    .map((part) => unescape(part.content))
    .join('');
}

interface XmlElement {
  name: string;
  attributes: string;
  content: string;
}

/** The elements of a name, one after another, each searched once. They contain no others of it. */
function* elementsOf(xml: string, name: string): Generator<XmlElement> {
  const opening = new RegExp(`<((?:\\w+:)?${name})(?=[\\s/>])`, 'g');
  for (let found = opening.exec(xml); found; found = opening.exec(xml)) {
    const [{ length }, tag = ''] = found;
    const from = found.index + length;
    const tagEnd = xml.indexOf('>', from);
    if (tagEnd < 0) throw new XlsxError('The file is damaged.');
    const isEmpty = xml[tagEnd - 1] === '/';
    const closing = `</${tag}>`;
    const close = isEmpty ? tagEnd + 1 : xml.indexOf(closing, tagEnd);
    if (close < 0) throw new XlsxError('The file is damaged.');
    const end = isEmpty ? close : close + closing.length;
    yield {
      name: tag,
      attributes: xml.slice(from, isEmpty ? tagEnd - 1 : tagEnd),
      content: isEmpty ? '' : xml.slice(tagEnd + 1, close),
    };
    opening.lastIndex = end;
  }
}

function attributeOf(tag: string, name: string): string | null {
  const value = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(tag);
  return value ? unescape(value[1] ?? value[2] ?? '') : null;
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescape(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name) return entities[name as string] ?? whole;
    const code = hex ? parseInt(hex as string, 16) : Number(decimal);
    return code > 0x10ffff ? '' : String.fromCodePoint(code);
  });
}
