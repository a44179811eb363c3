import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../test/support/any-text.js';
import { crc16, foldToAscii, readFields, writeField } from './br-code-fields.js';

describe('EMV fields', () => {
  it('have a CRC-16/CCITT-FALSE over their UTF-8 bytes', () => {
    expect(crc16('123456789')).toBe('29B1');
    expect(crc16('')).toBe('FFFF');
    // Computed with Python's binascii.crc_hqx over UTF-8.
    expect(crc16('BRASÍLIA')).toBe('A05E');
  });

  it('hold at most 99 characters', () => {
    expect(writeField('26', 'x'.repeat(99))).toHaveLength(103);
    expect(() => writeField('26', 'x'.repeat(100))).toThrow(RangeError);
  });

  it('are read in the order of writing, and rejected when an id occurs twice', () => {
    const text = writeField('59', 'Fulano') + writeField('00', '') + writeField('60', 'x');
    expect([...(readFields(text) ?? [])]).toEqual([
      ['59', 'Fulano'],
      ['00', ''],
      ['60', 'x'],
    ]);
    expect(readFields(text + writeField('59', 'Beltrano'))).toBeNull();
  });

  it.each(['0', '000', '0002', '00021', '0a0212', '٠٠٠١x', '0001x0001y'])(
    'are not read from %j',
    (text) => {
      expect(readFields(text)).toBeNull();
    },
  );

  it('are folded to ASCII letters without accents', () => {
    expect(foldToAscii(' São João\td’Água ')).toBe('Sao Joao dAgua');
  });

  it('are folded to printable ASCII, and folded text stays the same when folded again', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const folded = foldToAscii(text);
        expect(folded).toMatch(/^[\x20-\x7e]*$/);
        expect(foldToAscii(folded)).toBe(folded);
      }),
    );
  });
});
