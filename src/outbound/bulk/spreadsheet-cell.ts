// Reads the cells of spreadsheets as people in Brazil write them: `1.234,56`, `R$ 149,90`,
// `31/12/2026`. A cell that may mean two amounts is refused: none is read a thousand times too
// large or too small.
import { LosslessNumber } from 'lossless-json';
import type { FieldReason } from '../../bank-contract/field-errors.js';
import { parsePlainDate } from '../../brazil/calendar.js';
import { parseTaxId } from '../../brazil/tax-id.js';

/** `149.90` or `10`; the number of decimals is checked with the request. */
const withPoint = /^-?\d{1,15}(?:\.\d{1,20})?$/;
/** `149,90` or `1.234,56`, with cents. */
const withComma = /^-?(?:\d{1,15}|[1-9]\d{0,2}(?:\.\d{3}){1,4}),\d{1,2}$/;
/** `1.234.567`: points that separate thousands, since an amount has one decimal separator. */
const withThousands = /^-?[1-9]\d{0,2}(?:\.\d{3}){2,4}$/;
/** `1.234`: thousands, or an amount with three decimals. `0.500` is no amount in thousands. */
const ambiguous = /^-?\d{1,3}\.\d{3}$/;
/** `149.9` or `149.90`: the point is the decimal separator. */
const withCents = /^-?\d{1,15}\.\d{1,2}$/;

/** How a file writes its amounts and days. All of its cells are observed before any is read. */
export class CellStyle {
  private hasComma = false;
  private hasPoint = false;
  private hasMonthFirst = false;
  private hasAmbiguous = false;

  observe(cell: string): void {
    const text = plainAmount(cell);
    if (withComma.test(text) || withThousands.test(text)) this.hasComma = true;
    if (withCents.test(text)) this.hasPoint = true;
    if (ambiguous.test(text)) this.hasAmbiguous = true;
  }

  /** What its cells show of all; null where they show nothing that others may doubt. */
  get shown(): 'comma' | 'point' | 'unclear' | 'month_first' | null {
    if (this.hasMonthFirst) return 'month_first';
    if (this.hasAmbiguous && (!this.hasComma || this.hasPoint)) return 'unclear';
    return this.hasComma ? 'comma' : this.hasPoint ? 'point' : null;
  }

  observeDay(cell: string): void {
    const [, first = '', second = ''] = slashedDay.exec(cell.trim()) ?? [];
    if (Number(second) > 12 && Number(first) <= 12) this.hasMonthFirst = true;
  }

  /** `31/12/2026` as `2026-12-31`; other text as it is. Null beside days such as `12/31/2026`. */
  readDay(cell: string): string | null {
    const parts = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(cell.trim());
    if (!parts) return cell;
    if (this.hasMonthFirst) return null;
    const [, day, month, year] = parts;
    return parsePlainDate(`${year}-${month}-${day}`) ?? cell;
  }

  /**
   * The amount of a cell; text that is no amount stays text, which the request refuses. Null if the
   * cell may mean two amounts, unless the others of the file show that its point is of thousands.
   */
  read(cell: string): LosslessNumber | string | null {
    const text = plainAmount(cell);
    if (ambiguous.test(text)) {
      const isThousands = this.hasComma && !this.hasPoint && /^-?[1-9]/.test(text);
      return isThousands ? new LosslessNumber(text.replace('.', '')) : null;
    }
    if (withPoint.test(text)) return numberOf(text);
    if (withComma.test(text) || withThousands.test(text))
      return numberOf(text.replaceAll('.', '').replace(',', '.'));
    return cell;
  }
}

/** Without zeros the month may stand first, as programs in English write it: it is not read. */
const slashedDay = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;

/** Whether a column of amounts may hold the text. */
export function isAmountText(cell: string): boolean {
  const text = plainAmount(cell);
  return [withPoint, withComma, withThousands].some((one) => one.test(text));
}

export function isDayText(text: string): boolean {
  return slashedDay.test(text) || parsePlainDate(text) !== null;
}

/** In small letters, without accents and punctuation. */
export function plainWords(text: string): string {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
}

/** A number in JSON has no leading zeros. */
const numberOf = (text: string) => new LosslessNumber(text.replace(/^(-?)0+(?=\d)/, '$1'));

/** Without the currency, and the spaces that spreadsheets write around it. */
function plainAmount(cell: string): string {
  return cell.replace(/^(-?)\s*R\$\s*/, '$1').trim();
}

/**
 * Text as it stands in the file. Of XLSX also a number, with its digits; a day; and an error, such
 * as `#REF!`.
 */
export type Cell = string | { number: string } | { day: string } | { error: string };

/** Why a cell cannot be read: each names the field. */
type CellProblem = Extract<FieldReason, `cell_${string}`>;
export type CellValue = { value: LosslessNumber | string; problem?: undefined } | ProblemOfCell;
interface ProblemOfCell {
  value?: undefined;
  problem: CellProblem;
}

interface CellField {
  isAmount: boolean;
  isDay: boolean;
  isTaxId: boolean;
}

/** The value of a cell that is not empty, or why it cannot be read. */
export function readCell(
  cell: Cell,
  { isAmount, isDay, isTaxId }: CellField,
  style: CellStyle,
): CellValue {
  if (typeof cell !== 'string') return readTypedCell(cell, isAmount, isTaxId);
  const value = isDay ? style.readDay(cell) : isAmount ? style.read(cell) : cell;
  if (value !== null) return { value };
  return { problem: isDay ? 'cell_day_or_month' : 'cell_thousands_or_decimals' };
}

function readTypedCell(
  cell: Exclude<Cell, string>,
  isAmount: boolean,
  isTaxId: boolean,
): CellValue {
  if ('error' in cell) return { problem: 'cell_error' };
  if ('day' in cell) return { value: cell.day };
  const { number } = cell;
  if (number.replace(/\D/g, '').length > maxNumberDigits) return { problem: 'cell_long_number' };
  if (isAmount) return { value: new LosslessNumber(number) };
  return isTaxId ? readTaxId(number) : { value: number };
}

/** Excel stores no more digits of a number. */
const maxNumberDigits = 15;

/** A number has lost the leading zeros of the tax id: they are added where one tax id results. */
function readTaxId(number: string): CellValue {
  const padded = [11, 14]
    .filter((length) => number.length <= length)
    .map((length) => number.padStart(length, '0'))
    .filter((text) => /^\d+$/.test(text) && parseTaxId(text) !== null);
  const [value] = padded;
  if (value !== undefined && padded.length === 1) return { value };
  return { problem: value === undefined ? 'cell_no_tax_id' : 'cell_cpf_or_cnpj' };
}
