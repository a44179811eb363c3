// JSON with exact numbers: JSON.parse of Node 20 reads 10.000000000000000001 as 10, which is wrong
// for money.
import { createHash } from 'node:crypto';
import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { AppError } from './errors.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface JsonParseOptions {
  /**
   * A deeper document is an error: each level uses stack. No body of the contract needs a tenth of
   * this depth.
   */
  maxDepth: number;
  /** The most entries of one array or object. */
  maxEntries: number;
  /** The most values of the document: reading, validating and hashing take time for each. */
  maxValues: number;
  /**
   * Returns the value of a key that occurs twice in an object, or throws. JSON.parse takes the last
   * value.
   */
  onDuplicateKey: (duplicate: { newValue: unknown }) => unknown;
}

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
  let problem: string | null = null;
  try {
    const text = typeof source === 'string' ? source : utf8.decode(source);
    problem = findExcess(text, options);
    if (problem === null) return parse(text, null, options);
  } catch {
    // The parser's message quotes the body, which may hold personal data, so it is not set as the
    // cause.
  }
  throw new AppError('malformed_body', {
    errors: { $: [problem ?? 'The body must be valid JSON.'] },
    internal: 'malformed JSON',
  });
}

/** Which limit the document exceeds; null if none. It is found before any value is read. */
function findExcess(text: string, options: JsonParseOptions): string | null {
  const { maxDepth, maxEntries, maxValues } = options;
  // The entries of each array or object that is open, the outermost first.
  const entries: number[] = [];
  let values = 1;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      values += 1;
      if (entries.push(1) > maxDepth) return `The body must have at most ${maxDepth} levels.`;
    } else if (character === '}' || character === ']') entries.pop();
    else if (character === ',' && entries.length > 0) {
      values += 1;
      const count = (entries.at(-1) ?? 0) + 1;
      entries[entries.length - 1] = count;
      if (count > maxEntries)
        return `An array or object of the body must have at most ${maxEntries} entries.`;
    }
    if (values > maxValues) return `The body must have at most ${maxValues} values.`;
  }
  return null;
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
  return createHash('sha256').update(text).digest('hex');
}
