// JSON with exact numbers: JSON.parse of Node 20 reads 10.000000000000000001 as 10, which is wrong
// for money.
import { hash } from 'node:crypto';
import { isLosslessNumber } from 'lossless-json';
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
  return textOf(value) ?? 'null';
}

/** Undefined for what JSON cannot write: a field with it is left out. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => textOf(item) ?? 'null').join(',')}]`;
  if (isLosslessNumber(value)) return value.value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return textOf(value.toJSON());
  const fields: string[] = [];
  for (const key of Object.keys(value)) {
    const text = textOf((value as Record<string, unknown>)[key]);
    if (text !== undefined) fields.push(keyText(key) + text);
  }
  return `{${fields.join(',')}}`;
}

/** Text that needs no escapes, which most does: JSON.stringify takes several times as long. */
const plainText = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

const quoted = (text: string): string =>
  plainText.test(text) ? `"${text}"` : JSON.stringify(text);

/** The texts of keys with their colons: documents have the same few keys again and again. */
const keyTexts = new Map<string, string>();
const maxKeyTexts = 1_000;

function keyText(key: string): string {
  const known = keyTexts.get(key);
  if (known !== undefined) return known;
  const text = `${quoted(key)}:`;
  if (keyTexts.size < maxKeyTexts && key.length <= 100) keyTexts.set(key, text);
  return text;
}

/**
 * The same text for equal documents: keys are sorted and numbers are written by value. So a
 * repeated request that differs only in spacing, key order or a trailing zero counts as the same
 * request.
 */
export function canonicalJson(value: unknown): string {
  if (isLosslessNumber(value)) return `"${canonicalNumber(value.value)}"`;
  if (typeof value === 'number' || typeof value === 'bigint')
    return `"${canonicalNumber(`${value}`)}"`;
  // Numbers are written as strings that begin with '#', so a string that begins with '#' gets a
  // prefix of its own.
  if (typeof value === 'string') return quoted(value.startsWith('#') ? `#s${value}` : value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const field = (value as Record<string, unknown>)[key];
    if (field !== undefined) fields.push(keyText(key) + canonicalJson(field));
  }
  return `{${fields.join(',')}}`;
}

const numberParts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A number's value as sign, digits and power of ten: the same for 10, 10.0 and 1e1. */
function canonicalNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent] = numberParts.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const trimmed = withoutTrailingZeros(digits);
  if (trimmed === '') return '#0';
  const shift = digits.length - trimmed.length - fraction.length;
  const power = exponent === undefined ? shift : BigInt(exponent) + BigInt(shift);
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
