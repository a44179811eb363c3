// Canonical JSON by RFC 8785 (JCS): one text for one document, so that others can hash it too.
// Numbers are doubles there; exact amounts and 64-bit numbers are therefore written as strings.
import { textWithoutEscapes } from './exact-json.js';

export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | readonly CanonicalValue[]
  | { readonly [key: string]: CanonicalValue };

/** Throws on a number that is not finite and on text with an unpaired surrogate. */
export function toCanonicalJson(value: CanonicalValue): string {
  // The same text, in a fraction of the time.
  if (isInOrder(value)) {
    const text = JSON.stringify(value);
    if (!mayBeUnpaired.test(text)) return text;
  }
  return writeInOrder(value);
}

/** How `JSON.stringify` writes an unpaired surrogate. A backslash in the text may look so too. */
const mayBeUnpaired = /\\ud[89a-f]/;

/** Whether all keys stand in their order already, and all numbers are finite. */
function isInOrder(value: CanonicalValue): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  let before: string | null = null;
  const fields = value as Record<string, CanonicalValue>;
  for (const key of Object.keys(fields)) {
    if ((before !== null && before >= key) || !isInOrder(fields[key]!)) return false;
    before = key;
  }
  return true;
}

/** The canonical JSON of a text, or `null`. Throws on text with an unpaired surrogate. */
export function canonicalText(text: string | null): string {
  if (text === null) return 'null';
  return textWithoutEscapes.test(text) ? `"${text}"` : write(text);
}

function writeInOrder(value: CanonicalValue): string {
  if (Array.isArray(value)) return `[${value.map(writeInOrder).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value as Record<string, CanonicalValue>);
    // The RFC sorts by UTF-16 code units, as `<` does.
    fields.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([key, field]) => `${write(key)}:${writeInOrder(field)}`).join(',')}}`;
  }
  return write(value as string | number | boolean | null);
}

/** JSON.stringify writes numbers and escapes as the RFC demands. */
function write(value: string | number | boolean | null): string {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new RangeError('canonical JSON has no number for it');
  if (typeof value === 'string' && /\p{Surrogate}/u.test(value))
    throw new RangeError('canonical JSON has no text with an unpaired surrogate');
  return JSON.stringify(value);
}
