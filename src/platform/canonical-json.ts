// Canonical JSON by RFC 8785 (JCS): one text for one document, so that others can hash it too.
// Numbers are doubles there; exact amounts and 64-bit numbers are therefore written as strings.

export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | readonly CanonicalValue[]
  | { readonly [key: string]: CanonicalValue };

/** Throws on a number that is not finite and on text with an unpaired surrogate. */
export function toCanonicalJson(value: CanonicalValue): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value as Record<string, CanonicalValue>);
    // The RFC sorts by UTF-16 code units, as `<` does.
    fields.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([key, field]) => `${write(key)}:${toCanonicalJson(field)}`).join(',')}}`;
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
