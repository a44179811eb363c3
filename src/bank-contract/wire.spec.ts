import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LosslessNumber, parse, stringify } from 'lossless-json';
import { z } from 'zod';
import { anyText } from '../../test/support/any-text.js';
import {
  bigInteger,
  clientIdentifier,
  filledText,
  integer,
  plainDate,
  positiveReais,
  queryBoolean,
  queryInteger,
  queryList,
  queryNsu,
  reais,
  text,
} from './wire.js';
import { fieldError, fieldErrorOf, fieldMessage, readingFields } from './field-errors.js';

/** Decodes JSON text with a schema. Returns the value, or the error messages. */
function decode<Schema extends z.ZodType>(
  schema: Schema,
  json: string,
): z.output<Schema> | string[] {
  const result = z.safeDecode(schema, parse(json) as never, readingFields);
  return result.success
    ? result.data
    : result.error.issues.map((issue) => fieldMessage(fieldErrorOf(issue)));
}
const encode = (schema: z.ZodType, value: unknown) => stringify(z.encode(schema, value as never));

const anyCents = fc.bigInt({ min: -99_999_999_999_999n, max: 99_999_999_999_999n });
const anyInteger = fc.bigInt({ min: -999_999_999_999_999_999n, max: 999_999_999_999_999_999n });

describe('an amount', () => {
  it.each([
    ['10', 1_000n],
    ['10.5', 1_050n],
    ['10.50', 1_050n],
    ['1e1', 1_000n],
    ['0.1', 10n],
    ['-0.05', -5n],
    ['0', 0n],
  ])('%s is decoded from its exact text', (json, cents) => expect(decode(reais, json)).toBe(cents));

  it.each([
    ['10.005', 'Must have at most two decimals.'],
    ['10.000000000000000001', 'Must have at most two decimals.'],
    ['1e12', 'Is too large.'],
    ['1e400', 'Is too large.'],
    ['"ten"', 'Must be a number.'],
    ['"10.00"', 'Must be a number.'],
    ['"10,00"', 'Must be a number.'],
    ['null', 'Must be a number.'],
    ['true', 'Must be a number.'],
    ['[10]', 'Must be a number.'],
    ['{"value":"10","isLosslessNumber":true}', 'Must be a number.'],
  ])('%s is rejected with a message', (json, message) =>
    expect(decode(reais, json)).toEqual([message]),
  );

  it.each(['0', '-0', '-1', '-0.01'])('%s cannot be requested', (json) => {
    expect(decode(positiveReais, json)).toEqual(['Must be greater than zero.']);
  });

  it('is encoded and decoded to the cent', () => {
    fc.assert(
      fc.property(anyCents, (cents) =>
        expect(decode(reais, encode(reais, cents) ?? '')).toBe(cents),
      ),
    );
  });

  it('is never decoded from a JavaScript number', () => {
    expect(z.safeDecode(reais, 10.5 as never).success).toBe(false);
    expect(z.safeDecode(reais, new LosslessNumber('10.5')).data).toBe(1_050n);
  });
});

describe('a whole number', () => {
  it('of up to 18 digits is decoded and encoded exactly', () => {
    fc.assert(
      fc.property(anyInteger, (value) => {
        expect(decode(bigInteger, String(value))).toBe(value);
        expect(encode(bigInteger, value)).toBe(String(value));
      }),
    );
  });

  it('is decoded up to the limit of a 64-bit column', () => {
    expect(decode(bigInteger, '9223372036854775807')).toBe(9_223_372_036_854_775_807n);
    expect(decode(bigInteger, '9223372036854775808')).toEqual(['Must be a whole number.']);
    expect(decode(bigInteger, '-9223372036854775807')).toBe(-9_223_372_036_854_775_807n);
  });

  it.each(['1.5', '1e3', '1.0', '1e400'])('is not decoded from %s', (json) => {
    expect(decode(bigInteger, json)).toEqual(['Must be a whole number.']);
  });

  it.each([
    ['400', 400],
    ['-1', -1],
    ['4e2', 400],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('that is small is decoded from %s', (json, value) =>
    expect(decode(integer, json)).toBe(value),
  );

  it.each(['1.5', '9007199254740993', '1e400'])('that is small is not decoded from %s', (json) => {
    expect(decode(integer, json)).toEqual(['Must be a whole number.']);
  });
});

describe('text', () => {
  it.each(['', 'a', 'maçã 😀', 'a\nb', "'; DROP TABLE", '=1+1', 'é'.repeat(10)])(
    '%j is accepted unchanged',
    (value) => expect(z.safeDecode(text(10 + 10), value).data).toBe(value),
  );

  it.each(['a\0b', '\ud800', 'a\udc00', '\udc00\ud800'])(
    '%j is rejected, because PostgreSQL cannot store it',
    (value) => {
      expect(z.safeDecode(text(10), value).success).toBe(false);
    },
  );

  it('has a maximum length, and must be a string', () => {
    expect(decode(text(3), '"abcd"')).toEqual(['Must have at most 3 characters.']);
    expect(decode(text(3), '5')).toEqual(['Must be a string.']);
    const absent = z.safeDecode(text(3), undefined as never, readingFields);
    expect(absent.error?.issues.map(fieldErrorOf)).toEqual([fieldError('required')]);
  });

  it.each(['', ' ', '\t\n\u00a0'])('that is blank (%j) is not filled text', (value) => {
    expect(z.safeDecode(filledText(10), value).success).toBe(false);
  });

  it('is accepted exactly if it can be stored', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const isStorable = Buffer.from(value).toString() === value && !value.includes('\0');
        expect(z.safeDecode(text(1_000), value).success).toBe(isStorable);
      }),
    );
  });
});

describe('an id chosen by a client', () => {
  it.each(['1', 'order-1', 'a b', 'x'.repeat(200), '.a', "a/b?c#d%20&e=f;'", '../..'])(
    'may be %j',
    (id) => {
      expect(z.safeDecode(clientIdentifier, id).data).toBe(id);
    },
  );

  it.each([
    ...['', ' a', 'a ', 'é', 'a\nb', 'a\r\nSet-Cookie: x', 'a\0', 'x'.repeat(201), 'a\u200b'],
    ...['.', '..', '...'],
  ])('may not be %j', (id) => expect(z.safeDecode(clientIdentifier, id).success).toBe(false));
});

describe('a date', () => {
  it.each(['2026-02-28', '2024-02-29', '2026-12-31'])('may be %s', (date) => {
    expect(decode(plainDate, JSON.stringify(date))).toBe(date);
  });

  it.each([
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-00-10',
    'tomorrow',
    '31/12/2026',
    '2026-1-1',
    '20261231',
    '2026-12-31T00:00:00Z',
    ' 2026-12-31',
    '2026-12-31\n',
    '',
    '+002026-12-31',
    '٢٠٢٦-12-31',
  ])('may not be %j', (date) => {
    expect(decode(plainDate, JSON.stringify(date))).toEqual([
      'Could not be read as a date, yyyy-mm-dd.',
    ]);
  });
});

describe('a query parameter', () => {
  it.each([
    ['1', 1],
    ['007', 7],
    ['999999999999999', 999_999_999_999_999],
  ])('%s is a whole number', (value, count) => {
    expect(z.safeDecode(queryInteger(1), value).data).toBe(count);
  });

  it.each(['0', '-1', '', ' 1', '1.0', '1e3', '0x1', '1'.repeat(16), 'NaN', '١'])(
    '%j is no whole number of at least 1',
    (value) => expect(z.safeDecode(queryInteger(1), value).success).toBe(false),
  );

  it('decodes and encodes an nsu above 2^53 exactly', () => {
    expect(z.decode(queryNsu, '9007199254740993')).toBe(9_007_199_254_740_993n);
    expect(z.encode(queryNsu, 9_007_199_254_740_993n)).toBe('9007199254740993');
    expect(z.safeDecode(queryNsu, '-1').success).toBe(false);
  });

  it.each(['TRUES', '1', 'yes', ''])('%j is no boolean', (value) => {
    expect(z.safeDecode(queryBoolean, value as never).success).toBe(false);
  });

  it('may be repeated', () => {
    const list = queryList(text(10));
    expect([z.decode(list, 'a'), z.decode(list, ['a', 'b'])]).toEqual([['a'], ['a', 'b']]);
    expect(z.safeDecode(list, ['a', 'x'.repeat(11)]).success).toBe(false);
  });
});
