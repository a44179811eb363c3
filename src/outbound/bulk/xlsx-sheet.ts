// Reads a sheet of an XLSX file, row by row while it is unpacked: the visible one, or the one that
// the request names. What people do not see in their program is never read unasked. Formulas are
// not computed: the stored result of a cell counts.
import { addDays } from '../../brazil/calendar.js';
import {
  columnName,
  damaged,
  XlsxError,
  type XlsxArchive,
} from '../../platform/files/xlsx-archive.js';
import { fieldError } from '../../bank-contract/field-errors.js';
import { XmlReader } from '../../platform/files/xml-reader.js';
import type { Cell } from './spreadsheet-cell.js';
import {
  isTrue,
  readWorkbook,
  unescaped,
  type Format,
  type Sheet,
  type Workbook,
} from './xlsx-workbook.js';

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
  /** Of the cells of a row. With tags around them they may be `markup` times as long. */
  rowCharacters: number;
  markup: number;
  columns: number;
}

/** What the request says of the sheet. */
export interface SheetChoice {
  sheet?: string | undefined;
  /** What becomes of hidden rows and columns. Without it, a file that has some is refused. */
  hidden?: 'include' | 'skip' | undefined;
}

/** Throws XlsxError where the sheet cannot be read, or exceeds a limit. */
export async function* readSheetRows(
  archive: XlsxArchive,
  limits: SheetLimits,
  choice: SheetChoice = {},
): AsyncGenerator<SheetRow> {
  const workbook = await readWorkbook(archive, limits.sharedBytes);
  const hasRows = async (sheet: Sheet) => {
    for await (const _ of rowsOf(archive, limits, { workbook, sheet, hidden: 'include' }))
      return true;
    return false;
  };
  const sheet = await chooseSheet(workbook.sheets, choice.sheet, hasRows);
  yield* rowsOf(archive, limits, { workbook, sheet, hidden: choice.hidden });
}

async function chooseSheet(
  sheets: readonly Sheet[],
  name: string | undefined,
  hasRows: (sheet: Sheet) => Promise<boolean>,
): Promise<Sheet> {
  const visible = sheets.filter(({ isVisible }) => isVisible);
  if (name !== undefined) {
    // Excel takes names that differ by letter case for one.
    const [named, other] = sheets.filter((one) => one.name.toLowerCase() === name.toLowerCase());
    if (!named || other)
      throw new XlsxError(fieldError('no_such_sheet', { sheet: name, sheets: namesOf(visible) }));
    return named;
  }
  const [first, ...others] = visible;
  if (!first) throw new XlsxError(fieldError('no_visible_sheet'));
  if (others.length === 0) return first;
  const withRows: Sheet[] = [];
  for (const sheet of visible) if (await hasRows(sheet)) withRows.push(sheet);
  const [only = first, second] = withRows;
  if (!second) return only;
  throw new XlsxError(fieldError('sheet_needed', { sheets: namesOf(withRows) }));
}

const maxNames = 10;
const maxNameLength = 31;

function namesOf(sheets: readonly Sheet[]): string {
  const names = sheets.slice(0, maxNames).map(({ name }) => `“${name.slice(0, maxNameLength)}”`);
  return names.join(', ') + (sheets.length > maxNames ? ' and others' : '');
}

interface SheetToRead {
  workbook: Workbook;
  sheet: Sheet;
  hidden: SheetChoice['hidden'];
}

async function* rowsOf(
  archive: XlsxArchive,
  limits: SheetLimits,
  read: SheetToRead,
): AsyncGenerator<SheetRow> {
  const rows = new SheetRows(limits, read);
  for await (const piece of archive.read(read.sheet.part, limits.sheetBytes)) {
    rows.write(piece);
    yield* rows.take();
  }
  rows.end();
  yield* rows.take();
}

const row = '/worksheet/sheetData/row';
const maxLine = 1_048_576;

/** The rows of a sheet, as they are complete. */
class SheetRows {
  private readonly xml: XmlReader;
  private readonly maxMarkup: number;
  private complete: SheetRow[] = [];
  private areRowsHidden = false;
  private readonly hiddenColumns: { min: number; max: number }[] = [];

  private line = 0;
  private isInRow = false;
  private rowAt = 0;
  private isRowHidden = false;
  private cells: Cell[] = [];
  private characters = 0;

  private column = 0;
  private type = 'n';
  private style = 0;
  private value = '';

  constructor(
    private readonly limits: SheetLimits,
    private readonly read: SheetToRead,
  ) {
    this.maxMarkup = limits.markup * limits.rowCharacters;
    this.xml = new XmlReader(
      {
        open: (path, attribute) => this.open(path, attribute),
        close: (path, text) => this.close(path, text),
      },
      this.maxMarkup,
    );
  }

  write(piece: Uint8Array): void {
    this.xml.write(piece);
    if (this.isInRow) this.assertShortRow();
  }

  end(): void {
    this.xml.end();
  }

  take(): SheetRow[] {
    const rows = this.complete;
    this.complete = [];
    return rows;
  }

  private open(path: string, attribute: (name: string) => string | undefined): void {
    if (path === `${row}/c`) this.beginCell(attribute('r'), attribute('t'), attribute('s'));
    else if (path === row) {
      const line = Number(attribute('r') ?? this.line + 1);
      // Two rows of one number, or in another order, would be read in another way elsewhere.
      if (!Number.isInteger(line) || line <= this.line || line > maxLine) throw damaged();
      const [isHidden, height] = [attribute('hidden'), attribute('ht')];
      this.isRowHidden =
        isTrue(isHidden) || (height === undefined ? this.areRowsHidden : Number(height) === 0);
      [this.line, this.isInRow, this.rowAt] = [line, true, this.xml.position];
      [this.cells, this.characters] = [[], 0];
    } else if (path === '/worksheet/sheetFormatPr')
      this.areRowsHidden = isTrue(attribute('zeroHeight'));
    else if (path === '/worksheet/cols/col')
      if (isTrue(attribute('hidden')) || Number(attribute('width') ?? 1) === 0)
        this.hiddenColumns.push({ min: Number(attribute('min')), max: Number(attribute('max')) });
  }

  private close(path: string, text: string): void {
    if (path === `${row}/c/v`) this.value = text;
    else if (path === `${row}/c/is/t` || path === `${row}/c/is/r/t`) this.value += text;
    else if (path === `${row}/c`) this.endCell();
    else if (path === row) this.endRow();
  }

  private beginCell(reference?: string, type = 'n', style = '0'): void {
    const at = reference === undefined ? this.cells.length : this.columnOf(reference);
    if (at < this.cells.length) throw damaged();
    if (at >= this.limits.columns) {
      const { columns } = this.limits;
      throw new XlsxError(fieldError('too_many_columns', { line: this.line, most: columns }));
    }
    while (this.cells.length < at) this.cells.push('');
    [this.column, this.type, this.style, this.value] = [at, type, Number(style), ''];
  }

  private endCell(): void {
    const cell = this.readCell();
    this.characters += typeof cell === 'string' ? cell.length : 0;
    if (this.characters > this.limits.rowCharacters) throw this.rowTooLong();
    this.cells.push(cell === '' || !this.isHidden() ? cell : this.hiddenCell(cell));
  }

  private endRow(): void {
    this.isInRow = false;
    this.assertShortRow();
    while (this.cells.at(-1) === '') this.cells.pop();
    if (this.cells.length > 0) this.complete.push({ line: this.line, cells: this.cells });
  }

  private isHidden(): boolean {
    const column = this.column + 1;
    return (
      this.isRowHidden || this.hiddenColumns.some(({ min, max }) => min <= column && column <= max)
    );
  }

  /** Throws XlsxError unless the request says what becomes of it. */
  private hiddenCell(cell: Cell): Cell {
    const { hidden, sheet } = this.read;
    if (hidden !== undefined) return hidden === 'include' ? cell : '';
    const sheetName = namesOf([sheet]);
    throw new XlsxError(
      this.isRowHidden
        ? fieldError('hidden_line', { line: this.line, sheet: sheetName })
        : fieldError('hidden_column', { column: columnName(this.column), sheet: sheetName }),
    );
  }

  private readCell(): Cell {
    const { type, value } = this;
    const { workbook } = this.read;
    if (type === 's') {
      const text = workbook.texts[value.trim() === '' ? NaN : Number(value)];
      if (text === undefined && value !== '') throw damaged();
      return text ?? '';
    }
    if (type === 'e') return { error: value };
    if (type === 'd') return { day: value.slice(0, 10) };
    if (type !== 'n' || value === '') return unescaped(value);
    return numberCell(value, workbook.formats[this.style] ?? 'other', workbook.isFrom1904);
  }

  /** `C12` is column 2, counted from 0. */
  private columnOf(reference: string): number {
    const [, letters = '', line] = /^([A-Z]{1,3})(\d{1,7})?$/i.exec(reference) ?? [];
    if (letters === '' || (line !== undefined && Number(line) !== this.line)) throw damaged();
    const codes = [...letters.toUpperCase()].map((letter) => letter.charCodeAt(0) - 64);
    return codes.reduce((at, code) => at * 26 + code, 0) - 1;
  }

  private assertShortRow(): void {
    if (this.xml.position - this.rowAt > this.maxMarkup) throw this.rowTooLong();
  }

  private rowTooLong(): XlsxError {
    return new XlsxError(
      fieldError('row_too_long', { line: this.line, most: this.limits.rowCharacters }),
    );
  }
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
  const number = /^[-+\d.eE]+$/.test(value.trim()) ? Number(value) : NaN;
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
