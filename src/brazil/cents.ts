/** An amount of money in centavos. It is never a float: `8.95 * 100` is 894.9999999999999. */
export type Cents = bigint;

export type ParsedReais =
  | { ok: true; cents: Cents }
  | { ok: false; reason: 'not_a_number' | 'too_many_decimals' | 'too_large' };

/** The grammar of a JSON number (RFC 8259 §6): '010', '+1', '.5' and 'NaN' are not numbers. */
const JSON_NUMBER = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** 999,999,999,999.99 reais: far above any payment, far below what a bigint column holds. */
const MAX_INTEGER_DIGITS = 12;

/**
 * Reads an amount in reais from the exact text of a JSON number.
 *
 * The value counts, not its spelling: '10.500' has two decimals, '10.005' has three. An absolute
 * value above 999,999,999,999.99 is 'too_large'. The length and the exponent show that, so
 * '1e999999999' is rejected without computing the number.
 */
export function parseReais(text: string): ParsedReais {
  const number = JSON_NUMBER.exec(text);
  if (number === null) return { ok: false, reason: 'not_a_number' };
  const [, sign, integer = '', fraction = '', exponent = '0'] = number;

  const digits = integer + fraction;
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return { ok: true, cents: 0n };

  // value = significant × 10^scale, and `significant` ends in a digit other than zero.
  const scale = Number(exponent) - fraction.length + (digits.length - end);
  if (end - start + scale > MAX_INTEGER_DIGITS) return { ok: false, reason: 'too_large' };
  if (scale < -2) return { ok: false, reason: 'too_many_decimals' };

  const magnitude = BigInt(digits.slice(start, end)) * 10n ** BigInt(scale + 2);
  return { ok: true, cents: sign === '-' ? -magnitude : magnitude };
}

/** The shortest exact JSON number in reais: 1050n -> '10.5', 1000n -> '10', -5n -> '-0.05'. */
export function formatReais(cents: Cents): string {
  const text = formatReaisWithTwoDecimals(cents);
  if (text.endsWith('.00')) return text.slice(0, -3);
  return text.endsWith('0') ? text.slice(0, -1) : text;
}

/** Reais with a decimal point and always two decimals, as BR Codes and OFX require: '10.50'. */
export function formatReaisWithTwoDecimals(cents: Cents): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
