// An amount as people type it.
import { parseReais, type Cents } from '../../money/cents.js';

/**
 * `1.234,56`, `R$ 10` or `10.50` in cents; null for anything else. With a comma the points group
 * thousands. A single point before one or two digits is a decimal point.
 */
export function readTypedAmount(text: string): Cents | null {
  const digits = text.replace(/^\s*R\$/i, '').replace(/\s/g, '');
  const brazilian = /^(\d{1,3}(?:\.\d{3})*|\d+)(?:,(\d{1,2}))?$/.exec(digits);
  const plain = /^(\d+)\.(\d{1,2})$/.exec(digits);
  const [, whole = '', decimals = '0'] = brazilian ?? plain ?? [];
  if (whole === '') return null;
  const integer = whole.replaceAll('.', '').replace(/^0+(?=\d)/, '');
  const parsed = parseReais(`${integer}.${decimals}`);
  return parsed.ok ? parsed.cents : null;
}

/** As a field of a form shows it: `1234,56`. */
export function writeTypedAmount(cents: Cents): string {
  return `${cents / 100n},${String(cents % 100n).padStart(2, '0')}`;
}
