// Amounts and numbers as people type them.
import { LosslessNumber } from 'lossless-json';
import { parseReais, type Cents } from '../brazil/cents.js';

const jsonNumberText = /^-?(0|[1-9]\d*)(\.\d+)?$/;

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

/**
 * The exact number of a text such as `1.234,56`, `1234.56` or `1234`, as JSON has it. With a comma,
 * points separate thousands; without one, they do where groups of three digits follow. Undefined
 * for an empty text. What is no number stays text, which the schema of the request refuses.
 */
export function typedNumber(text: string | undefined): LosslessNumber | string | undefined {
  const typed = (text ?? '').replace(/\s|R\$/g, '');
  if (typed === '') return undefined;
  const isGrouped = typed.includes(',') || /^-?\d{1,3}(\.\d{3})+$/.test(typed);
  const plain = isGrouped ? typed.replaceAll('.', '').replace(',', '.') : typed;
  return jsonNumberText.test(plain) ? new LosslessNumber(plain) : typed;
}
