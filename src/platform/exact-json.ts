// JSON whose numbers keep their text: Node 20 reads 10.000000000000000001 as 10, and money may not.
import { createHash } from 'node:crypto';
import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { AppError } from './errors.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface JsonReading {
  /** Deeper documents are refused: each level costs stack, and no body of the contract needs a tenth. */
  maxDepth: number;
  /** A key that comes twice says two things: refused, or the last is taken, as JSON.parse does. */
  onDuplicateKey: (duplicate: { newValue: unknown }) => unknown;
}

export const strict: JsonReading = {
  maxDepth: 64,
  onDuplicateKey: () => {
    throw new SyntaxError('duplicate key');
  },
};

/** For the bank's answers: one odd line of a statement must not hide its neighbours. */
export const tolerant: JsonReading = {
  maxDepth: 512,
  onDuplicateKey: ({ newValue }) => newValue,
};

/** Reads JSON text or bytes; numbers come as LosslessNumber. Throws `malformed_body`. */
export function parseJson(source: string | Uint8Array, reading: JsonReading = strict): unknown {
  try {
    const text = typeof source === 'string' ? source : utf8.decode(source);
    assertShallow(text, reading.maxDepth);
    return parse(text, null, reading);
  } catch {
    // The parser's own message quotes the body, which may hold personal data: it goes no further.
    throw new AppError('malformed_body', {
      errors: { $: ['The body is not JSON that can be read.'] },
      internal: 'malformed JSON',
    });
  }
}

function assertShallow(text: string, maxDepth: number): void {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > maxDepth) throw new SyntaxError('too deep');
    } else if (character === '}' || character === ']') depth -= 1;
  }
}

/** Writes JSON; bigint and LosslessNumber are written as exact numbers, undefined is left out. */
export function stringifyJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

/**
 * One text for equal documents: keys sorted, numbers by value, so that a repeat that only differs in
 * spacing, key order or a trailing zero is the same request.
 */
export function canonicalJson(value: unknown): string {
  return stringifyJson(canonical(value));
}

function canonical(value: unknown): unknown {
  if (isLosslessNumber(value)) return canonicalNumber(value.value);
  if (Array.isArray(value)) return value.map(canonical);
  // Numbers are written as #-texts: a text that begins so is told apart.
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

/** A number's value as sign, digits and power of ten: 10, 10.0 and 1e1 are one. */
function canonicalNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = numberParts.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const trimmed = withoutTrailingZeros(digits);
  if (trimmed === '') return '#0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - trimmed.length);
  return `#${sign}${trimmed}e${power}`;
}

/** Not by a regular expression: /0+$/ costs the square of the zeros in the middle. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** Whether a read value is a JSON object: neither an array nor a number, which is an object here too. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value)
  );
}

/** SHA-256 of a text, in lower-case hex. */
export function sha256(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}
