import { describe, expect, it } from '@jest/globals';
import { isCodeOf, readScannedCode } from './scanned-code.js';

describe('a scanned code', () => {
  const line = '00190000090312345678901234567890112340000010000';

  it.each([
    [
      ' 00020126580014br.gov.bcb.pix…6304ABCD\n',
      { kind: 'pix', payload: '00020126580014br.gov.bcb.pix…6304ABCD' },
    ],
    ['00190.00009 03123.456789 01234.567890 1 12340000010000', { kind: 'slip', digits: line }],
    ['1'.repeat(44), { kind: 'slip', digits: '1'.repeat(44) }],
    ['12345', { kind: 'unknown' }],
    ['<script>alert(1)</script>', { kind: 'unknown' }],
    ['', { kind: 'unknown' }],
  ])('%p is read', (text, code) => {
    expect(readScannedCode(text)).toEqual(code);
  });

  it('is that of the slip with the same digits', () => {
    expect(
      isCodeOf({ digitableLine: '00190.00009 03123.456789 01234.567890 1 12340000010000' }, line),
    ).toBe(true);
    expect(isCodeOf({ digitableLine: null }, line)).toBe(false);
    expect(isCodeOf({}, '')).toBe(false);
  });
});
