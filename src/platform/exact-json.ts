// JSON whose numbers keep their text: Node 20 reads 10.000000000000000001 as 10, and money may not.
import { createHash } from 'node:crypto';
import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { AppError } from './errors.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Deeper documents are refused: each level costs stack, and no body of the contract needs a tenth. */
const maxDepth = 64;

/** Reads JSON text or bytes; numbers come as LosslessNumber. Throws `malformed_body`. */
export function parseJson(source: string | Uint8Array): unknown {
  try {
    const text = typeof source === 'string' ? source : utf8.decode(source);
    assertShallow(text);
    return parse(text, null, refuseDuplicates);
  } catch {
    // The parser's own message quotes the body, which may hold personal data: it goes no further.
    throw new AppError('malformed_body', {
      errors: { $: ['The body is not JSON that can be read.'] },
      internal: 'malformed JSON',
    });
  }
}

const refuseDuplicates = {
  onDuplicateKey: () => {
    throw new SyntaxError('duplicate key');
  },
};

function assertShallow(text: string): void {
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
  const trimmed = digits.replace(/0+$/, '');
  if (trimmed === '') return '#0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - trimmed.length);
  return `#${sign}${trimmed}e${power}`;
}

/** SHA-256 of a text, in lower-case hex. */
export function sha256(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}
