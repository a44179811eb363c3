import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readJson, writeJson, type Place } from './exact-json.js';

const place: Place = { amount: 1, id: 2, nsu: 3, items: { amount: 1 }, fees: 1, byDay: { '*': 1 } };

describe('reading JSON', () => {
  it('returns amounts as the texts that were sent', () =>
    expect(
      readJson(
        `{"amount": 9007199254740993.01, "items": [{"amount": 0.1}, {"amount": null}],
          "fees": [0.30000000000000004, 2], "byDay": {"2026-11-29": 1.5}, "count": 3}`,
        place,
      ),
    ).toEqual({
      amount: '9007199254740993.01',
      items: [{ amount: '0.10' }, { amount: null }],
      fees: ['0.30000000000000004', '2.00'],
      byDay: { '2026-11-29': '1.50' },
      count: 3,
    }));

  it('returns ids as texts', () =>
    expect(readJson('[{"id": 12345678901234567890, "nsu": 7}, {"id": "7"}]', place)).toEqual([
      { id: '12345678901234567890', nsu: '7' },
      { id: '7' },
    ]));

  it('returns other numbers as numbers, unless a float cannot hold them', () =>
    expect(readJson('[1, -2.50, 1e3, 9007199254740993, 0.1000000000000000055]')).toEqual([
      ...[1, -2.5, 1000, '9007199254740993', '0.1000000000000000055'],
    ]));

  it('reads what JSON.parse reads', () =>
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' ', '\n'), (text, space) =>
        expect(readJson(space + text + space)).toEqual(JSON.parse(text)),
      ),
    ));

  it.each(['', '{', '[1,]', '{"a":1,}', '[1 2]', '01', '"\\x"', 'nul', '{"a" 1}'])(
    'throws on %p',
    (text) => expect(() => readJson(text, place)).toThrow(SyntaxError),
  );

  it('sets no prototype', () => {
    const read = readJson('{"__proto__": {"amount": 1}}', place) as object;
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(Object.keys(read)).toEqual(['__proto__']);
  });

  it('reads a text of ten megabytes', () => {
    const image = 'A"\\'.repeat(4_000_000);
    expect(readJson(JSON.stringify({ image, amount: 1 }))).toEqual({ image, amount: 1 });
  });
});

describe('writing JSON', () => {
  it('writes amounts as the numbers that they are', () =>
    expect(
      writeJson(
        {
          amount: '9007199254740993.01',
          items: [{ amount: '0.1' }, null],
          id: '7',
          nsu: '8',
          none: undefined,
        },
        place,
      ),
    ).toBe('{"amount":9007199254740993.01,"items":[{"amount":0.1},null],"id":"7","nsu":8}'));

  it('leaves texts elsewhere as they are', () =>
    expect(writeJson({ metadata: { amount: '1' } }, place)).toBe('{"metadata":{"amount":"1"}}'));

  it.each([0.3, 292, 1n, '1e2', '01', '1.', 'R$ 1', '', true, {}])(
    'refuses the amount %p',
    (amount) =>
      expect(() => writeJson({ items: [{ amount }] }, place)).toThrow(
        /^\$\.items\[0\]\.amount must/,
      ),
  );

  it('writes what JSON.stringify writes', () =>
    fc.assert(
      fc.property(fc.jsonValue(), (value) => expect(writeJson(value)).toBe(JSON.stringify(value))),
    ));
});
