// Codecs between the contract's values and the service's values. Exact JSON numbers become bigint
// cents or integers, so that no amount and no nsu passes through a float.
import { isLosslessNumber, LosslessNumber } from 'lossless-json';
import { z } from 'zod';
import { parseRequestedTime } from '../brazil/business-hours.js';
import { parsePlainDate } from '../brazil/calendar.js';
import { formatReais, parseReais } from '../brazil/cents.js';
import { failing, fieldError, refuse, type FieldError } from './field-errors.js';

/** Rejects the value that a codec decodes. */
export function rejectInput(
  { issues }: Pick<z.core.ParsePayload, 'issues'>,
  input: unknown,
  error: FieldError,
): never {
  refuse({ addIssue: (issue) => issues.push({ ...issue, input } as never) }, [], error);
  return z.NEVER;
}

/** A JSON number, as its exact text. */
export const jsonNumber = z
  .custom<LosslessNumber>((value) => isLosslessNumber(value), {
    error: ({ input }) => (input === undefined ? 'required' : 'number'),
  })
  .meta({ type: 'number' });

const reaisErrors = {
  not_a_number: fieldError('number'),
  too_many_decimals: fieldError('two_decimals'),
  too_large: fieldError('too_large'),
};

/**
 * An amount: reais with at most two decimals in JSON, read from the exact text; bigint cents in
 * code.
 */
export const reais = z
  .codec(jsonNumber, z.bigint(), {
    decode: (number, context) => {
      const parsed = parseReais(number.value);
      return parsed.ok
        ? parsed.cents
        : rejectInput(context, number.value, reaisErrors[parsed.reason]);
    },
    encode: (cents) => new LosslessNumber(formatReais(cents)),
  })
  .meta({ id: 'Amount', description: 'Reais, exact, with at most two decimals: `1234.56`.' });

const decimalText = /^(\d{1,12})(?:\.(\d{1,6}))?$/;

/** A number of up to six decimals, which is not negative, in millionths: reais or percent. */
export const millionths = z
  .codec(jsonNumber, z.bigint(), {
    decode: (number, context) => {
      const [, whole, decimals = ''] = decimalText.exec(number.value) ?? [];
      return whole === undefined
        ? rejectInput(context, number.value, 'Must be a number from 0 with at most six decimals.')
        : BigInt(whole + decimals.padEnd(6, '0'));
    },
    encode: (value) => {
      const digits = value.toString().padStart(7, '0');
      const text = `${digits.slice(0, -6)}.${digits.slice(-6)}`;
      return new LosslessNumber(text.replace(/\.?0+$/, ''));
    },
  })
  .meta({ id: 'Decimal', minimum: 0, description: 'Reais or percent, with at most six decimals.' });

/** The millionths of a cent. */
const centMillionths = 10_000n;
export const centsOfMillionths = (value: bigint): bigint | null =>
  value % centMillionths === 0n ? value / centMillionths : null;
export const millionthsOfCents = (cents: bigint): bigint => cents * centMillionths;

/** A requested amount, more than zero. */
export const positiveReais = reais
  .refine((cents) => cents > 0n, failing('positive'))
  .meta({ id: 'PositiveAmount', exclusiveMinimum: 0 });
export const notNegativeReais = reais
  .refine((cents) => cents >= 0n, failing('not_negative'))
  .meta({ id: 'NotNegativeAmount', minimum: 0 });

const integerText = /^-?(0|[1-9]\d{0,18})$/;
const maxBigInteger = 2n ** 63n - 1n;

/** A whole number that a 64-bit column can hold, as bigint. An nsu can exceed 2^53. */
export const bigInteger = z
  .codec(jsonNumber.meta({ type: 'integer' }), z.bigint(), {
    decode: (number, context) => {
      const value = integerText.test(number.value) ? BigInt(number.value) : null;
      if (value !== null && value <= maxBigInteger && value >= -maxBigInteger) return value;
      return rejectInput(context, number.value, fieldError('whole_number'));
    },
    encode: (value) => new LosslessNumber(value.toString()),
  })
  .meta({
    id: 'BigInteger',
    format: 'int64',
    description: 'A whole number that a double may not hold, such as an nsu.',
  });

/** A small whole number (a count, an HTTP status). */
export const integer = z.codec(jsonNumber.meta({ type: 'integer' }), z.int(), {
  decode: (number, context) => {
    const value = Number(number.value);
    if (Number.isSafeInteger(value)) return value;
    return rejectInput(context, number.value, fieldError('whole_number'));
  },
  encode: (value) => new LosslessNumber(value.toString()),
});

export const integerBetween = (least: number, most: number) =>
  integer
    .refine((value) => value >= least && value <= most, failing('between', { least, most }))
    .meta({ minimum: least, maximum: most });

// PostgreSQL cannot store NUL in text, and UTF-8 has no lone surrogates. JSON can contain both as
// \u escapes.
const storable = /^(?:[^\0\u{D800}-\u{DFFF}])*$/u;

/** A text that is too long is not examined further: patterns take time for each character. */
const aborting = { abort: true };

/** Text of at most `maxLength` characters that can be stored unchanged. */
export const text = (maxLength: number) =>
  z.string().max(maxLength, aborting).regex(storable, failing('storable'));

/** Text with at least one character that is not white space. */
export const filledText = (maxLength: number) =>
  text(maxLength)
    .refine((value) => value.trim() !== '', failing('not_empty'))
    .meta({ minLength: 1 });

// Identifiers occur in paths, headers and logs, so they have no control characters, and no white
// space at their ends. In a path, dots alone lead elsewhere.
const identifierText = /^(?!\.+$)[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** As long as an id of a statement line may be. */
export const maxIdLength = 200;

/** An id chosen by a client (correlationId, externalId) in printable ASCII characters. */
export const clientIdentifier = text(maxIdLength)
  .regex(identifierText, failing('identifier'))
  .meta({
    id: 'ClientId',
    description: 'An id that the caller chooses: printable ASCII, not dots alone.',
    pattern: '^[!-~]([ -~]*[!-~])?$',
  });

/** Text that the contract does not bound: the bank knows what is too long for it. */
export const freeText = text(2_000);

/** Text of at most `maxLength` characters that matches a pattern. */
export const patternText = (maxLength: number, pattern: RegExp, message: string) =>
  z
    .string()
    .max(maxLength, { error: message, ...aborting })
    .regex(pattern, message);

/** Text of ASCII digits: `\d` matches no digits of other scripts. */
export const digits = (least: number, most = least) => {
  const count = least === most ? String(least) : `${least} to ${most}`;
  const pattern = `^\\d{${least},${most}}$`;
  return text(20)
    .refine((value) => new RegExp(pattern).test(value), failing('digits', { count }))
    .meta({ pattern });
};

/** Names that a reader which ignores letter case takes for one. `ſ` is an s there, too. */
export const withoutCase = (name: string) => name.toUpperCase().toLowerCase();

/** An id in an answer of the bank, as text: some banks write one id as a number. */
export const answeredId = z.codec(z.union([z.string().min(1), jsonNumber]), z.string(), {
  decode: (id) => (typeof id === 'string' ? id : id.value),
  encode: (id) => id,
});

/**
 * A field of an answer that no rule needs: null where the bank leaves it out or writes something
 * else. The answer is passed on as it came.
 */
export const unneeded = <Field extends z.ZodType>(field: Field) => field.nullish().catch(null);
export const unneededText = unneeded(z.string());
export const unneededId = unneeded(answeredId);

/** A requested time: a day, or a time, in São Paulo unless it has a time zone. */
export const requestedTime = text(40)
  .refine((value) => parseRequestedTime(value) !== null, failing('time'))
  .meta({
    id: 'RequestedTime',
    description: 'A day or an ISO 8601 time, in São Paulo unless it has a time zone.',
  });

/** A calendar date `yyyy-mm-dd` that exists. `Date` would accept 2026-02-30, which does not. */
export const plainDate = z
  .string()
  .max(10, { ...failing('date'), ...aborting })
  .refine((value) => parsePlainDate(value) !== null, failing('date'))
  .meta({ id: 'Day', format: 'date', description: 'A calendar day of São Paulo: `2026-11-29`.' });

/** An ISO 8601 time as text. It is parsed where a time is needed. */
export const timestamp = z
  .string()
  .meta({ id: 'Time', format: 'date-time', description: 'ISO 8601, as it was written.' });

/** A time of the service's own: a Date in code, ISO 8601 in JSON. */
export const instant = z
  .codec(z.string().meta({ format: 'date-time' }), z.date(), {
    decode: (text) => new Date(text),
    encode: (time) => time.toISOString(),
  })
  .meta({ id: 'Instant', description: 'ISO 8601 in UTC, with milliseconds.' });

/** A query parameter that is a whole number of at least `minimum`. */
export const queryInteger = (minimum: number) => {
  const wrong = fieldError('whole_number_from', { least: minimum });
  const number = z.string().max(15).meta({ type: 'integer', minimum });
  return z.codec(number, z.int(), {
    decode: (value, context) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      return number >= minimum ? number : rejectInput(context, value, wrong);
    },
    encode: (value) => value.toString(),
  });
};

const nsuText = z.string().max(18, failing('whole_number')).meta({ type: 'integer', minimum: 0 });

/** An nsu in a path or query. */
export const queryNsu = z.codec(nsuText, z.bigint(), {
  decode: (value, context) => {
    if (/^\d{1,18}$/.test(value)) return BigInt(value);
    return rejectInput(context, value, fieldError('whole_number'));
  },
  encode: (value) => value.toString(),
});

/** `True`, as Python writes it, is meant so. */
export const queryBoolean = z.codec(
  z
    .string()
    .regex(/^(?:true|false)$/i, failing('boolean'))
    .meta({ type: 'boolean' }),
  z.boolean(),
  {
    decode: (value) => value.toLowerCase() === 'true',
    encode: (value) => (value ? 'true' : 'false'),
  },
);

const maxRepeats = 100;
const repeatedText = z.string().max(1_000);

/** A query parameter that may be repeated. */
export const queryList = <Item extends z.ZodType<string, string>>(item: Item) =>
  z.codec(
    z.union(
      [repeatedText, z.array(repeatedText).max(maxRepeats)],
      `Must have at most ${maxRepeats} values.`,
    ),
    z.array(item),
    {
      decode: (value) => (Array.isArray(value) ? value : [value]) as z.input<Item>[],
      encode: (values) => values as string[],
    },
  );

/** A field that is refused: the API reference lacks it. */
export const notGiven = (message: string) => z.undefined(message).optional().meta({ not: {} });

/** What only the bank knows the form of; it is passed on as it came. */
export const ofTheBank = z
  .unknown()
  .describe('Any JSON that the bank writes, passed on as it came.');

const referenceForms = new WeakMap<z.core.$ZodType, z.ZodType>();

/** What the API reference describes in place of the schema. */
export const referenceFormOf = (schema: z.core.$ZodType): z.ZodType | undefined =>
  referenceForms.get(schema) ??
  // What `describe` returns.
  (schema._zod.parent && referenceForms.get(schema._zod.parent));

/** Lets the API reference describe a schema as `form`, by which nothing is read or refused. */
export function describeAs<Schema extends z.ZodType>(schema: Schema, form: z.ZodType): Schema {
  referenceForms.set(schema, form);
  return schema;
}

/** Stored JSON, which is passed on as it is. */
export const passedOn = (form: z.ZodType) => describeAs(z.unknown(), form);

/** A stored word, of these. */
export const storedWord = (words: readonly string[]) => describeAs(z.string(), z.enum(words));

/** Under which name the API reference describes each schema, once for all its uses. */
export function nameSchemas(schemas: Record<string, z.ZodType>): void {
  for (const [id, schema] of Object.entries(schemas)) schema.register(z.globalRegistry, { id });
}
