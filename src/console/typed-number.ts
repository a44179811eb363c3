// Reads numbers as people type them, for the request that the API would get.
import { LosslessNumber } from 'lossless-json';

const jsonNumberText = /^-?(0|[1-9]\d*)(\.\d+)?$/;

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
