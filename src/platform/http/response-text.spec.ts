import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { bigInteger, instant, reais } from '../../bank-contract/wire.js';
import { stringifyJson } from '../json/exact-json.js';
import { listOf, toList } from './listing.js';
import { writeResponse } from './response-text.js';

const part = z.object({ cents: reais, nsus: z.array(bigInteger) });
const item = z.object({
  at: instant,
  parts: z.array(part),
  'a "name"': z.string().optional(),
  data: z.unknown(),
  either: z.array(z.string()).nullable(),
  nested: z.object({ values: z.array(z.int()) }),
  words: z.array(z.string()).min(1),
});
const page = { limit: 500, after: null };
const inOneTick = (schema: z.ZodType, value: unknown) => stringifyJson(z.encode(schema, value));

describe('the text of a response', () => {
  it('is that of all its items encoded at once', async () => {
    const values = fc.record({
      at: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
      parts: fc.array(
        fc.record({
          cents: fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
          nsus: fc.array(fc.bigInt({ min: 0n, max: 10n ** 18n })),
        }),
        { maxLength: 3 },
      ),
      'a "name"': fc.option(fc.string(), { nil: undefined }),
      data: fc.jsonValue(),
      either: fc.option(fc.array(fc.string())),
      nested: fc.record({ values: fc.array(fc.integer()) }),
      words: fc.array(fc.string(), { minLength: 1 }),
      unknown: fc.string(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(values, { maxLength: 5 }), async (rows) => {
        const { next } = toList(rows, page, String);
        const text = await writeResponse(listOf(item), toList(rows, page, String));
        expect(text).toBe(inOneTick(listOf(item), { data: rows, next }));
      }),
    );
  });

  it.each([
    [z.string(), 'text'],
    [z.undefined(), undefined],
    [z.array(z.int()), [1, 2]],
    [z.looseObject({ names: z.array(z.string()) }), { other: 1, names: ['a'], more: [2] }],
    [z.union([z.object({ a: z.array(z.int()) }), z.object({ b: z.int() })]), { b: 1 }],
  ])('is encoded by any schema', async (schema: z.ZodType, value: unknown) => {
    expect(await writeResponse(schema, value)).toBe(inOneTick(schema, value));
  });

  it.each([
    { data: [1, 'two'], next: null },
    { data: [1], next: 3 },
    { data: [1] },
    { next: null },
    undefined,
  ])('is an error for %j, which its schema does not allow', async (value) => {
    await expect(writeResponse(listOf(z.int()), value)).rejects.toThrow();
  });

  it('pauses while a long list is described and encoded', async () => {
    const busy = <Value>(value: Value): Value => {
      const until = performance.now() + 3;
      while (performance.now() < until);
      return value;
    };
    const slow = z.codec(z.int(), z.int(), { decode: busy, encode: busy });
    const rows = Array.from({ length: 100 }, (_, index) => index);
    let turns = 0;
    let isWritten = false;
    const counting = (async () => {
      for (; !isWritten; turns += 1) await nextTurn();
    })();
    const list = toList(rows, page, String, busy);
    const text = await writeResponse(listOf(slow), list);
    isWritten = true;
    await counting;
    expect(text).toBe(stringifyJson({ data: rows, next: null }));
    // Each pause is at most 10 ms and one item after the one before.
    expect(turns).toBeGreaterThan(30);
  });
});
