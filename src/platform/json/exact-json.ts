// JSON with exact numbers: JSON.parse of Node 20 reads 10.000000000000000001 as 10, which is wrong
// for money.
import { hash } from 'node:crypto';
import { isLosslessNumber } from 'lossless-json';
import { AppError } from '../errors.js';
import { JsonExcess, JsonReader, sourceOf, type JsonParseOptions } from './json-reader.js';

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

/** For what business systems request. */
export const requestBodyJson: JsonParseOptions = { ...requestJson, refusesCaseTwins: true };

/**
 * For the bank's responses: one malformed statement line must not make the whole response
 * unreadable. The text of a line is stored as it was sent: `itemText` returns it.
 */
export const tolerantJson: JsonParseOptions = {
  ...strictJson,
  maxDepth: 512,
  onDuplicateKey: ({ newValue }) => newValue,
  keepsSources: true,
};

/** Throws on bytes that are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string => utf8.decode(bytes);

/** Reads JSON text or UTF-8 bytes. Numbers are LosslessNumbers. Throws `malformed_body`. */
export function parseJson(
  source: string | Uint8Array,
  options: JsonParseOptions = strictJson,
): unknown {
  let problem = 'The body must be valid JSON.';
  try {
    return new JsonReader(typeof source === 'string' ? source : decodeUtf8(source), options).read();
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

/**
 * The JSON text of an item of an array that was read with `tolerantJson`: the text that it was read
 * from, unless that has line breaks.
 */
export function itemText(item: unknown): string {
  const source = sourceOf(item);
  return source === undefined || /[\r\n]/.test(source) ? stringifyJson(item) : source;
}

/**
 * Undefined for what JSON cannot write: a field with it is left out. Texts are concatenated, since
 * arrays of their parts, with sorting and numbers, were a third of what an import allocated.
 */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => textOf(item) ?? 'null').join(',')}]`;
  if (isLosslessNumber(value)) return value.value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return textOf(value.toJSON());
  return objectText(value, Object.keys(value), textOf);
}

/** An object with these of its fields, of which those are left out that have no text. */
function objectText(
  object: object,
  keys: string[],
  write: (value: unknown) => string | undefined,
): string {
  let text = '{';
  for (const key of keys) {
    const field = write((object as Record<string, unknown>)[key]);
    if (field === undefined) continue;
    if (text !== '{') text += ',';
    text += keyText(key) + field;
  }
  return `${text}}`;
}

/** Text that needs no escapes, which most does: JSON.stringify takes several times as long. */
export const textWithoutEscapes = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

const quoted = (text: string): string =>
  textWithoutEscapes.test(text) ? `"${text}"` : JSON.stringify(text);

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
  return canonicalTextOf(value) ?? 'null';
}

function canonicalTextOf(value: unknown): string | undefined {
  // Numbers are written as strings that begin with '#', so a string that begins with '#' gets a
  // prefix of its own.
  if (typeof value === 'string') return quoted(value.startsWith('#') ? `#s${value}` : value);
  if (typeof value === 'number' || typeof value === 'bigint') return numberText(`${value}`);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isLosslessNumber(value)) return numberText(value.value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  return objectText(value, inOrder(Object.keys(value)), canonicalTextOf);
}

/** Sorts by code units, as `sort` does, which allocates a kilobyte for the shortest of lists. */
function inOrder(keys: string[]): string[] {
  if (keys.length > 32) return keys.sort();
  for (let at = 1; at < keys.length; at += 1) {
    const key = keys[at]!;
    let to = at;
    for (; to > 0 && keys[to - 1]! > key; to -= 1) keys[to] = keys[to - 1]!;
    keys[to] = key;
  }
  return keys;
}

/**
 * A number's value as sign, digits and power of ten: the same for 10, 10.0 and 1e1. There are no
 * regular expressions with groups: what they return is allocated for each number of an import.
 */
function numberText(number: string): string {
  const sign = number.startsWith('-') ? '-' : '';
  const mark = number.search(/e/i);
  const decimal = number.slice(sign.length, mark < 0 ? undefined : mark);
  const point = decimal.indexOf('.');
  const digits = point < 0 ? decimal : decimal.slice(0, point) + decimal.slice(point + 1);
  let [start, end] = [0, digits.length];
  while (digits[start] === '0') start += 1;
  if (start === end) return '"#0"';
  while (digits[end - 1] === '0') end -= 1;
  const shift = (point < 0 ? digits.length : point) - end;
  const power = mark < 0 ? shift : BigInt(number.slice(mark + 1)) + BigInt(shift);
  return `"#${sign}${digits.slice(start, end)}e${power}"`;
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
