// Reads the cells of spreadsheets as people in Brazil write them: `1.234,56`, `R$ 149,90`,
// `31/12/2026`. A cell that may mean two amounts is refused: none is read a thousand times too large
// or too small.
import { LosslessNumber } from 'lossless-json';
import { parsePlainDate } from '../brazil/calendar.js';

/** `149.90` or `10`; the number of decimals is checked with the request. */
const withPoint = /^-?\d{1,15}(?:\.\d{1,20})?$/;
/** `149,90` or `1.234,56`, with cents. */
const withComma = /^-?(?:\d{1,15}|\d{1,3}(?:\.\d{3}){1,4}),\d{1,2}$/;
/** `1.234.567`: points that separate thousands, since an amount has one decimal separator. */
const withThousands = /^-?\d{1,3}(?:\.\d{3}){2,4}$/;
/** `1.234`: thousands, or an amount with three decimals. */
const ambiguous = /^-?\d{1,3}\.\d{3}$/;
/** `149.9` or `149.90`: the point is the decimal separator. */
const withCents = /^-?\d{1,15}\.\d{1,2}$/;

/** How a file writes its amounts. All of its cells are observed before the first one is read. */
export class AmountStyle {
  private hasComma = false;
  private hasPoint = false;

  observe(cell: string): void {
    const text = plainAmount(cell);
    if (withComma.test(text) || withThousands.test(text)) this.hasComma = true;
    if (withCents.test(text)) this.hasPoint = true;
  }

  /**
   * The amount of a cell; text that is no amount stays text, which the request refuses. Null if the
   * cell may mean two amounts and the others of the file do not decide which.
   */
  read(cell: string): LosslessNumber | string | null {
    const text = plainAmount(cell);
    if (ambiguous.test(text)) {
      if (this.hasComma === this.hasPoint) return null;
      return new LosslessNumber(this.hasComma ? text.replace('.', '') : text);
    }
    if (withPoint.test(text)) return new LosslessNumber(text);
    if (withComma.test(text) || withThousands.test(text))
      return new LosslessNumber(text.replaceAll('.', '').replace(',', '.'));
    return cell;
  }
}

/** Without the currency, and the spaces that spreadsheets write around it. */
function plainAmount(cell: string): string {
  return cell.replace(/^(-?)\s*R\$\s*/, '$1').trim();
}

/** `31/12/2026` as `2026-12-31`; other text as it is. */
export function readDay(cell: string): string {
  const parts = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(cell.trim());
  if (!parts) return cell;
  const [, day, month, year] = parts;
  return parsePlainDate(`${year}-${month}-${day}`) ?? cell;
}
