import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { crc16, foldToAscii, readFields, writeField } from './br-code-fields.js';

describe('the fields of a code', () => {
  it('sums by CRC-16/CCITT-FALSE, over bytes', () => {
    expect(crc16('123456789')).toBe('29B1');
    expect(crc16('')).toBe('FFFF');
    // By Python's binascii.crc_hqx over UTF-8.
    expect(crc16('BRASÍLIA')).toBe('A05E');
  });

  it('holds 99 characters and no more', () => {
    expect(writeField('26', 'x'.repeat(99))).toHaveLength(103);
    expect(() => writeField('26', 'x'.repeat(100))).toThrow(RangeError);
  });

  it('reads back what it wrote, in order, and refuses an id given twice', () => {
    const text = writeField('59', 'Fulano') + writeField('00', '') + writeField('60', 'x');
    expect([...(readFields(text) ?? [])]).toEqual([
      ['59', 'Fulano'],
      ['00', ''],
      ['60', 'x'],
    ]);
    expect(readFields(text + writeField('59', 'Beltrano'))).toBeNull();
  });

  it.each(['0', '000', '0002', '00021', '0a0212', '٠٠٠١x', '0001x0001y'])('refuses %j', (text) => {
    expect(readFields(text)).toBeNull();
  });

  it('drops accents but keeps their letters', () => {
    expect(foldToAscii(' São João\td’Água ')).toBe('Sao Joao dAgua');
  });

  it('folds any text to printable ASCII, once and for all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const folded = foldToAscii(text);
        expect(folded).toMatch(/^[\x20-\x7e]*$/);
        expect(foldToAscii(folded)).toBe(folded);
      }),
    );
  });
});
