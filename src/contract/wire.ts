// How the contract's values look on the wire and inside: exact JSON numbers become bigint cents or
// integers, so that no amount and no nsu ever passes through a float. Each codec decodes and encodes.
import { isLosslessNumber, LosslessNumber } from 'lossless-json';
import { z } from 'zod';
import { parsePlainDate } from '../brazil/calendar.js';
import { formatReais, parseReais } from '../money/cents.js';

/** A JSON number as its text. */
export const jsonNumber = z
  .custom<LosslessNumber>((value) => isLosslessNumber(value), {
    error: (issue) => (issue.input === undefined ? 'The field is required.' : 'Must be a number.'),
  })
  .meta({ type: 'number' });

const reaisMessages = {
  not_a_number: 'Must be a number.',
  too_many_decimals: 'Must have at most two decimals.',
  too_large: 'Is too large.',
};

/** An amount in reais on the wire (at most two decimals, read from its text), bigint cents inside. */
export const reais = z.codec(jsonNumber, z.bigint(), {
  decode: (number, context) => {
    const parsed = parseReais(number.value);
    if (parsed.ok) return parsed.cents;
    context.issues.push({
      code: 'custom',
      message: reaisMessages[parsed.reason],
      input: number.value,
    });
    return z.NEVER;
  },
  encode: (cents) => new LosslessNumber(formatReais(cents)),
});

/** An amount that someone asks for: more than zero. */
export const positiveReais = reais.refine((cents) => cents > 0n, 'Must be greater than zero.');

const integerText = /^-?(0|[1-9]\d{0,18})$/;
const maxBigInteger = 2n ** 63n - 1n;

/** A whole number of any length a 64-bit column holds (nsu can pass 2^53), bigint inside. */
export const bigInteger = z.codec(jsonNumber.meta({ type: 'integer' }), z.bigint(), {
  decode: (number, context) => {
    const value = integerText.test(number.value) ? BigInt(number.value) : null;
    if (value !== null && value <= maxBigInteger && value >= -maxBigInteger) return value;
    context.issues.push({
      code: 'custom',
      message: 'Must be a whole number.',
      input: number.value,
    });
    return z.NEVER;
  },
  encode: (value) => new LosslessNumber(value.toString()),
});

/** A small whole number (a count, an HTTP status). */
export const integer = z.codec(jsonNumber.meta({ type: 'integer' }), z.int(), {
  decode: (number, context) => {
    const value = Number(number.value);
    if (Number.isSafeInteger(value)) return value;
    context.issues.push({
      code: 'custom',
      message: 'Must be a whole number.',
      input: number.value,
    });
    return z.NEVER;
  },
  encode: (value) => new LosslessNumber(value.toString()),
});

// PostgreSQL's text refuses NUL, and UTF-8 has no lone surrogates; both come in as \u escapes.
const storable = /^(?:[^\0\u{D800}-\u{DFFF}])*$/u;

/** Text that can be stored as it came, of at most `maxLength` characters. */
export const text = (maxLength: number) =>
  z
    .string({
      error: (issue) =>
        issue.input === undefined ? 'The field is required.' : 'Must be a string.',
    })
    .max(maxLength, `Must have at most ${maxLength} characters.`)
    .regex(storable, 'Has a character that cannot be stored.');

/** Text that says something: at least one character that is not white space. */
export const filledText = (maxLength: number) =>
  text(maxLength).refine((value) => value.trim() !== '', 'Must not be empty.');

// An identifier travels in paths, headers and logs: no white space at the ends, no control characters.
const identifierText = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** An id chosen by a client system (correlationId, externalId): printable ASCII, 1 to 100 characters. */
export const clientIdentifier = text(100).regex(
  identifierText,
  'Must be 1 to 100 printable ASCII characters, without white space at its ends.',
);

/** A calendar date `yyyy-mm-dd` that exists (2026-02-30 does not, though `Date` would take it). */
export const plainDate = z
  .string({
    error: (issue) =>
      issue.input === undefined ? 'The field is required.' : 'Must be a date, yyyy-mm-dd.',
  })
  .refine((value) => parsePlainDate(value) !== null, 'Could not be read as a date, yyyy-mm-dd.')
  .meta({ format: 'date' });

/** An ISO 8601 instant as its text; the rooms that need an instant parse it. */
export const timestamp = z.string().meta({ format: 'date-time' });

/** Query values are text: this reads a whole number of at least `minimum` from it. */
export const queryInteger = (minimum: number) =>
  z.codec(z.string(), z.int(), {
    decode: (value, context) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= minimum) return number;
      context.issues.push({
        code: 'custom',
        message: `Must be a whole number of at least ${minimum}.`,
        input: value,
      });
      return z.NEVER;
    },
    encode: (value) => value.toString(),
  });

/** An nsu in a path or query. */
export const queryNsu = z.codec(z.string(), z.bigint(), {
  decode: (value, context) => {
    if (/^\d{1,18}$/.test(value)) return BigInt(value);
    context.issues.push({ code: 'custom', message: 'Must be a whole number.', input: value });
    return z.NEVER;
  },
  encode: (value) => value.toString(),
});

export const queryBoolean = z.codec(z.enum(['true', 'false']), z.boolean(), {
  decode: (value) => value === 'true',
  encode: (value) => (value ? 'true' : 'false'),
});

/** A query parameter that may be repeated: one value or several. */
export const queryList = <Item extends z.ZodType<string, string>>(item: Item) =>
  z.codec(z.union([z.string(), z.array(z.string())]), z.array(item), {
    decode: (value) => (Array.isArray(value) ? value : [value]) as z.input<Item>[],
    encode: (values) => values as string[],
  });
