import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { buildEndToEndId, parseEndToEndId } from './end-to-end-id.js';

const anyId = fc.record({
  kind: fc.constantFrom('E' as const, 'D' as const),
  ispb: fc.stringMatching(/^[0-9A-Z]{8}$/),
  at: fc
    .date({ min: new Date(0), max: new Date('2199-12-31T23:59:00Z'), noInvalidDate: true })
    .map((date) => new Date(Math.floor(date.getTime() / 60_000) * 60_000)),
  sequence: fc.stringMatching(/^[0-9A-Za-z]{11}$/),
});

describe('end-to-end id', () => {
  it('is parsed for payments and refunds in BACEN’s documentation, with the minute in UTC', () => {
    expect(parseEndToEndId('E12345678202009091221kkkkkkkkkkk')).toEqual({
      kind: 'E',
      ispb: '12345678',
      at: new Date('2020-09-09T12:21:00Z'),
      sequence: 'kkkkkkkkkkk',
    });
    expect(parseEndToEndId('D12345678202009091000123ABCDE123')?.kind).toBe('D');
  });

  it('is parsed with an alphanumeric ISPB', () => {
    expect(parseEndToEndId('E12AB45C8202611211530abcDEF01234')?.ispb).toBe('12AB45C8');
  });

  it('is case-sensitive in its sequence', () => {
    const lower = 'E12345678202611211530abcdefghijk';
    const upper = 'E12345678202611211530ABCDEFGHIJK';
    expect(parseEndToEndId(lower)).not.toEqual(parseEndToEndId(upper));
    expect(parseEndToEndId(lower.toLowerCase())).toBeNull();
  });

  it.each([
    ['34 characters, as in two of BACEN’s examples', 'E12345678202009091000ghijk78901234'],
    ['31 characters', 'E12345678202009091221kkkkkkkkkk'],
    ['a small letter in the ISPB', 'E1234567a202009091221kkkkkkkkkkk'],
    ['another kind', 'M12345678202009091221kkkkkkkkkkk'],
    ['30 February', 'E12345678202602301221kkkkkkkkkkk'],
    ['month 13', 'E12345678202613011221kkkkkkkkkkk'],
    ['hour 24', 'E12345678202009092400kkkkkkkkkkk'],
    ['minute 60', 'E12345678202009091260kkkkkkkkkkk'],
    ['a dash', 'E12345678202009091221kkkkkkkkkk-'],
    ['a line feed after it', 'E12345678202009091221kkkkkkkkkkk\n'],
  ])('is rejected with %s', (_, text) => {
    expect(parseEndToEndId(text)).toBeNull();
  });

  it('is built with 32 characters and parsed to the same parts', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const text = buildEndToEndId(id);
        expect(text).toHaveLength(32);
        expect(parseEndToEndId(text)).toEqual(id);
      }),
    );
  });

  it('has the UTC minute without seconds', () => {
    const at = new Date('2026-11-20T23:59:59.999-03:00');
    expect(buildEndToEndId({ kind: 'E', ispb: '12345678', at, sequence: '0123456789A' })).toBe(
      'E123456782026112102590123456789A',
    );
  });

  it.each([
    ['a short ISPB', { ispb: '1234567' }],
    ['a sequence with a dash', { sequence: '0123456789-' }],
    ['an invalid date', { at: new Date(Number.NaN) }],
    ['a year of five digits', { at: new Date('+010000-01-01T00:00:00Z') }],
  ])('is not built with %s', (_, wrong) => {
    const id = { kind: 'E', ispb: '12345678', at: new Date(0), sequence: '0123456789A' } as const;
    expect(() => buildEndToEndId({ ...id, ...wrong })).toThrow(RangeError);
  });
});
