// Amounts as exact decimal texts. A float cannot hold most of them: 0.1 + 0.2 is not 0.3.

const plain = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?$/;

/** Whether a text can stand for a number of JSON as it is: `292.51`, and not `1e3` or `.5`. */
export function isDecimal(text: string): boolean {
  return plain.test(text);
}

/** `'292.51'` is `29251n`. Throws RangeError where the amount has a part of a cent. */
export function toCents(amount: string): bigint {
  const [, sign, whole, fraction = ''] = plain.exec(amount) ?? [];
  if (whole === undefined || /[1-9]/.test(fraction.slice(2)))
    throw new RangeError(`an amount must have at most two decimals, got ${amount}`);
  const cents = BigInt(whole + fraction.slice(0, 2).padEnd(2, '0'));
  return sign ? -cents : cents;
}

/** `29251n` is `'292.51'`. */
export function fromCents(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** No amount has so many digits. */
const mostDigits = 400;

/**
 * The text of a number of JSON with two decimals, or more where it has them, so that equal numbers
 * have equal texts: `292.5` and `2.925e2` are `292.50`.
 */
export function decimalText(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const shift = Number(exponent);
  if (whole === '' || Math.abs(shift) > mostDigits) return number;
  const left = (whole + fraction).padEnd(whole.length + shift, '0');
  const digits = '0'.repeat(Math.max(0, 1 - whole.length - shift)) + left;
  const point = Math.max(1, whole.length + shift);
  const [before, after] = [digits.slice(0, point), digits.slice(point)];
  const text = `${before.replace(/^0+(?=\d)/, '')}.${after.replace(/0+$/, '').padEnd(2, '0')}`;
  return /[1-9]/.test(text) ? sign + text : text;
}
