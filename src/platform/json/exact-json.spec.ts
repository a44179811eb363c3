import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'lossless-json';
import { anyText } from '../../../test/support/any-text.js';
import { AppError } from '../errors.js';
import {
  canonicalJson,
  itemText,
  parseJson,
  requestJson,
  sha256,
  strictJson,
  stringifyJson,
  tolerantJson,
} from './exact-json.js';

const asLossless = (value: number): unknown =>
  Number.isFinite(value) ? parseJson(JSON.stringify(value)) : null;
const canonicalOf = (text: string) => canonicalJson(parseJson(text));

describe('parseJson', () => {
  it('preserves the text of a number: 10.000000000000000001 is not 10', () => {
    expect(stringifyJson(parseJson('10.000000000000000001'))).toBe('10.000000000000000001');
    expect(canonicalOf('10.000000000000000001')).not.toBe(canonicalOf('10'));
  });

  it.each([
    '{"amount":10.50}',
    '{"nsu":9007199254740993}',
    '[1e400,-0,0.1,1E+2]',
    '{"a":{"b":[true,false,null,""]}}',
    '"\\u0000\\ud800"',
  ])('writes %s as it was read', (text) => {
    expect(stringifyJson(parseJson(text))).toBe(text);
    expect(stringifyJson(parseJson(Buffer.from(text)))).toBe(text);
  });

  it('reads the same value as JSON.parse', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(stringifyJson(parseJson(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    ['an empty text', ''],
    ['a truncated document', '{"a":1'],
    ['two documents', '{}{}'],
    ['a trailing comma', '[1,]'],
    ['a comment', '{}//'],
    ['a number with a leading zero', '010'],
    ['NaN', 'NaN'],
    ['a raw line break in a text', '"a\nb"'],
    ['a key with two values', '{"amount":1,"amount":2}'],
    ['a key with two values further down', '[{"a":{"b":1,"b":"1"}}]'],
    ['a document of 65 levels', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['a document of a million levels', '['.repeat(1_000_000)],
    ['a deep document of objects', `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`],
  ])('rejects %s', (_, text) => {
    for (const source of [text, Buffer.from(text)])
      expect(() => parseJson(source)).toThrow(
        expect.objectContaining({ code: 'malformed_body' }) as unknown as Error,
      );
  });

  it.each([
    ['half a character', [0x22, 0xc3, 0x22]],
    ['an overlong character', [0x22, 0xc0, 0xaf, 0x22]],
    ['a surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['UTF-16', [0xff, 0xfe, 0x22, 0x00]],
  ])('rejects bytes with %s', (_, bytes) => {
    expect(() => parseJson(Uint8Array.from(bytes))).toThrow(AppError);
  });

  it('reads 64 levels, and does not count brackets inside strings', () => {
    const deep = `${'['.repeat(64)}${']'.repeat(64)}`;
    expect(stringifyJson(parseJson(deep))).toBe(deep);
    const text = JSON.stringify(`\\"${'['.repeat(100)}`);
    expect(stringifyJson(parseJson(text))).toBe(text);
  });

  it('does not quote the body in its error', () => {
    try {
      parseJson('{"document":"12345678909"');
      expect('no error').toBe('an error');
    } catch (error) {
      const fault = error as AppError;
      expect(`${fault.message}${fault.stack}${JSON.stringify(fault.details)}`).not.toContain(
        '1234',
      );
      expect(fault.cause).toBeUndefined();
    }
  });

  it('reads __proto__ and constructor as fields, and changes no prototype', () => {
    const parsed = parseJson(
      '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}}}',
    ) as object;
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.keys(parsed)).toEqual(['__proto__', 'constructor']);
    expect((parsed as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });
});

describe('stringifyJson', () => {
  it('writes bigint exactly, leaves out undefined fields and writes null for undefined', () => {
    expect(stringifyJson({ nsu: 9_007_199_254_740_993n, absent: undefined })).toBe(
      '{"nsu":9007199254740993}',
    );
    expect(stringifyJson(undefined)).toBe('null');
  });

  it('writes more keys than it remembers, and long ones', () => {
    const keys = Array.from({ length: 2_000 }, (_, index) => `"key" ${index}`);
    const document = Object.fromEntries([...keys, 'k'.repeat(500)].map((key) => [key, key]));
    for (let time = 0; time < 2; time += 1)
      expect(stringifyJson(document)).toBe(JSON.stringify(document));
  });

  it('writes the text that the library of the reader writes', () => {
    const leaf = fc.oneof(
      ...[anyText, fc.bigInt(), fc.double(), fc.boolean(), fc.date()],
      ...[fc.constant(null), fc.constant(undefined), fc.double({ noNaN: true }).map(asLossless)],
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(leaf, fc.array(tie('value')), fc.dictionary(anyText, tie('value'))),
    }));
    fc.assert(
      fc.property(value, (any) => {
        expect(stringifyJson(any)).toBe(stringify(any) ?? 'null');
      }),
    );
  });
});

describe('itemText', () => {
  const textsIn = (document: string, options = tolerantJson) =>
    (parseJson(document, options) as unknown[]).map(itemText);

  it('is the text that an item was read from, with its spaces, escapes and both equal keys', () => {
    const items = ['{"a": 1.50, "b":"\\u0041", "b":"B"}', '{"c":[{"d":1}]}', '[ 2 ]', '7', '"x"'];
    expect(textsIn(`[ ${items.join(' ,\n')} \n]`)).toEqual(items);
  });

  it('has no line break', () => {
    expect(textsIn('[{"a":\n 1.50},{"b":\r2}]')).toEqual(['{"a":1.50}', '{"b":2}']);
  });

  it('is written where the document was read in another way', () => {
    expect(textsIn('[{"a": 1.50}]', strictJson)).toEqual(['{"a":1.50}']);
    expect(itemText({ a: 1n })).toBe('{"a":1}');
  });
});

describe('canonicalJson', () => {
  it.each([
    ['10', ['10.0', '10.000', '1e1', '1E+1', '100e-1', '0.1e2', '0.000010e6']],
    ['0', ['0.0', '-0', '0e5', '-0.00']],
    ['-1.5', ['-15e-1', '-1.50']],
    ['1e400', ['10e399', '0.1e401']],
    ['9007199254740993', ['9007199254740993.0']],
    ['{"a":1,"b":[2,{"c":3,"d":4}]}', ['{ "b" : [2.0, {"d":4,"c":3}], "a":1e0 }']],
    ['"é"', ['"\\u00e9"']],
  ])('is the same for %s and its other spellings', (text, spellings) => {
    for (const other of spellings) expect(canonicalOf(other)).toBe(canonicalOf(text));
  });

  it.each([
    ['10', '10.000000000000000001'],
    ['10', '-10'],
    ['10', '"10"'],
    ['1', '10'],
    ['9007199254740993', '9007199254740992'],
    ['1e400', '1e401'],
    ['null', '"null"'],
    ['{"a":null}', '{}'],
    ['[1,2]', '[2,1]'],
    ['[[1],2]', '[1,[2]]'],
    ['{"a":1}', '{"A":1}'],
    ['"é"', '"e\\u0301"'],
    ['{"__proto__":1}', '{}'],
    ['{"__proto__":1}', '{"__proto__":2}'],
    ['10', '"#1e1"'],
    ['0', '"#0"'],
  ])('distinguishes %s from %s', (one, other) => {
    expect(canonicalOf(one)).not.toBe(canonicalOf(other));
  });

  it('ignores the order of keys, and no other difference', () => {
    const keys = fc.uniqueArray(fc.string(), { maxLength: 40, size: 'max' });
    fc.assert(
      fc.property(keys, fc.integer(), (names, value) => {
        const entries = names.map((name, index) => `${JSON.stringify(name)}:${value + index}`);
        const forwards = canonicalOf(`{${entries.join(',')}}`);
        expect(canonicalOf(`{${entries.reverse().join(',')}}`)).toBe(forwards);
        if (entries.length > 0)
          expect(canonicalOf(`{${entries.slice(1).join(',')}}`)).not.toBe(forwards);
      }),
    );
  });

  it('distinguishes numbers exactly where their values differ', () => {
    const decimal = fc.tuple(fc.bigInt({ min: -99n, max: 99n }), fc.integer({ min: -3, max: 3 }));
    const scaled = ([digits, power]: [bigint, number]) => digits * 10n ** BigInt(power + 3);
    fc.assert(
      fc.property(decimal, decimal, (one, other) => {
        const isSame = scaled(one) === scaled(other);
        const [left, right] = [one, other].map(([digits, power]) =>
          canonicalOf(`${digits}e${power}`),
        );
        expect(left === right).toBe(isSame);
      }),
    );
  });

  it.each([
    ['zeros between two digits', `1${'0'.repeat(50_000)}1`],
    ['zeros at the end', `1${'0'.repeat(500_000)}`],
    ['zeros after the point', `0.${'0'.repeat(500_000)}1`],
    ['a long exponent', `1e${'9'.repeat(10_000)}`],
  ])('takes linear time for a number with %s', (_, text) => {
    const startedAt = performance.now();
    canonicalOf(text);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});

it('gives a text and its UTF-8 bytes the same hash', () => {
  const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect([sha256('abc'), sha256(Buffer.from('abc'))]).toEqual([hash, hash]);
});

describe('the body of a request', () => {
  const ones = (count: number) => `[${Array.from({ length: count }, () => '1').join()}]`;
  const lists = (count: number) => `[${Array.from({ length: count }, () => ones(100)).join()}]`;
  const fields = (count: number) =>
    `{${Array.from({ length: count }, (_, at) => `"a${at}":"[,,]"`).join()}}`;

  it.each([ones(1_000), fields(1_000), lists(197)])('is read at its limits', (text) => {
    expect(parseJson(text, requestJson)).toEqual(parseJson(text));
  });

  it.each([
    ['a long list', ones(1_001), /at most 1000 entries/],
    ['many fields', fields(1_001), /at most 1000 entries/],
    ['a long list inside', `{"a":[{"b":${ones(1_001)}}]}`, /at most 1000 entries/],
    ['many values', lists(199), /at most 20000 values/],
    ['many levels', '['.repeat(65), /at most 64 levels/],
    // Reading it as a whole would find that it is no JSON.
    ['a long list that never ends', '[' + '1,'.repeat(1_001), /at most 1000 entries/],
  ])('with %s is rejected before it is read', (_, text, problem) => {
    expect(() => parseJson(text, requestJson)).toThrow(
      expect.objectContaining({
        code: 'malformed_body',
        details: expect.objectContaining({ errors: { $: [expect.stringMatching(problem)] } }),
      }) as unknown as Error,
    );
  });
});

it('reads and rejects the same texts as JSON.parse', () => {
  const pieces = [
    ...['{', '}', '[', ']', ',', ':', '"', '\\', '\\"', '\\u00e9', '\\ud800', '\\x', '\t', ' '],
    ...['0', '-', '1', '.', 'e', 'E', '+', 'true', 'nul', 'null', '"a"', '"a":', 'é', '\u2028'],
  ];
  const parsed = (parse: () => unknown) => {
    try {
      return { value: parse() };
    } catch {
      return 'malformed';
    }
  };
  const text = fc
    .array(fc.constantFrom(...pieces), { maxLength: 8 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(text, fc.json()), (source) => {
      const lastOfDuplicates = { ...strictJson, onDuplicateKey: takeNew };
      expect(
        parsed(() => JSON.parse(stringifyJson(parseJson(source, lastOfDuplicates))) as unknown),
      ).toEqual(parsed(() => JSON.parse(source) as unknown));
    }),
    { numRuns: 2_000 },
  );
});

const takeNew = ({ newValue }: { newValue: unknown }) => newValue;
