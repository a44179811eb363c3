// JSON with exact numbers: JSON.parse of Node 20 reads 10.000000000000000001 as 10, which is wrong
// for money.
import { hash } from 'node:crypto';
import { isLosslessNumber, stringify } from 'lossless-json';
import { AppError } from './errors.js';
import { JsonExcess, JsonReader, type JsonParseOptions } from './json-reader.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Of what the service stored. A duplicate key is an error, because its two values may differ. */
export const strictJson: JsonParseOptions = {
  maxDepth: 64,
  maxEntries: Infinity,
  maxValues: Infinity,
  onDuplicateKey: () => {
    throw new SyntaxError('duplicate key');
  },
};

/**
 * For requests and webhooks. A document within these limits takes a fraction of the 100 ms that one
 * request may delay the others.
 */
export const requestJson: JsonParseOptions = {
  ...strictJson,
  maxEntries: 1_000,
  maxValues: 20_000,
};

/**
 * For the bank's responses: one malformed statement line must not make the whole response
 * unreadable.
 */
export const tolerantJson: JsonParseOptions = {
  ...strictJson,
  maxDepth: 512,
  onDuplicateKey: ({ newValue }) => newValue,
};

/** Reads JSON text or UTF-8 bytes. Numbers are LosslessNumbers. Throws `malformed_body`. */
export function parseJson(
  source: string | Uint8Array,
  options: JsonParseOptions = strictJson,
): unknown {
  let problem = 'The body must be valid JSON.';
  try {
    return new JsonReader(
      typeof source === 'string' ? source : utf8.decode(source),
      options,
    ).read();
  } catch (error) {
    // A message may quote the body, which may hold personal data, so it is not set as the cause.
    if (error instanceof JsonExcess) problem = error.message;
  }
  throw new AppError('malformed_body', {
    errors: { $: [problem] },
    internal: 'malformed JSON',
  });
}

/**
 * Writes JSON. A bigint or LosslessNumber becomes an exact number; undefined fields are left out.
 */
export function stringifyJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

/**
 * The same text for equal documents: keys are sorted and numbers are written by value. So a
 * repeated request that differs only in spacing, key order or a trailing zero counts as the same
 * request.
 */
export function canonicalJson(value: unknown): string {
  return stringifyJson(canonical(value));
}

function canonical(value: unknown): unknown {
  if (isLosslessNumber(value)) return canonicalNumber(value.value);
  if (typeof value === 'number' || typeof value === 'bigint') return canonicalNumber(`${value}`);
  if (Array.isArray(value)) return value.map(canonical);
  // Numbers are written as strings that begin with '#', so a string that begins with '#' gets a
  // prefix of its own.
  if (typeof value === 'string' && value.startsWith('#')) return `#s${value}`;
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, field]) => field !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, field]) => [key, canonical(field)]),
    );
  }
  return value;
}

const numberParts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A number's value as sign, digits and power of ten: the same for 10, 10.0 and 1e1. */
function canonicalNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = numberParts.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const trimmed = withoutTrailingZeros(digits);
  if (trimmed === '') return '#0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - trimmed.length);
  return `#${sign}${trimmed}e${power}`;
}

/** Without a regular expression: the time of /0+$/ is quadratic in the zeros in the middle. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/**
 * Whether a parsed value is a JSON object. Arrays and LosslessNumbers are objects in JavaScript
 * only.
 */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value)
  );
}

/** SHA-256 of a text, in lower-case hex. */
export function sha256(text: string | Uint8Array): string {
  return hash('sha256', text, 'hex');
}
