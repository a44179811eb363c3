import { describe, expect, it } from '@jest/globals';
import {
  formatAmount,
  formatClock,
  formatCount,
  formatDuration,
  formatTime,
  withUnseenNamed,
} from './formats.js';

describe('the console writes', () => {
  it.each([
    [0n, 'R$\u00a00,00'],
    [5n, 'R$\u00a00,05'],
    [123456n, 'R$\u00a01.234,56'],
    [100000000n, 'R$\u00a01.000.000,00'],
    [-99999n, '−R$\u00a0999,99'],
    [-123456789n, '−R$\u00a01.234.567,89'],
  ])('%s cents as %s', (cents, text) => {
    expect(formatAmount(cents)).toBe(text);
  });

  it('times in São Paulo, whatever the language', () => {
    const time = new Date('2026-11-25T01:02:03Z');
    expect(formatTime(time, 'pt')).toBe('24/11/2026, 22:02:03');
    expect(formatTime(time, 'en')).toBe('24/11/2026, 22:02:03');
    expect(formatClock(time, 'pt')).toBe('22:02:03');
    expect(formatTime(null, 'pt')).toBe('—');
  });

  it('characters that turn text around or hide, by their names', () => {
    expect(withUnseenNamed('<b title="\u202E">Ana \u202Egpj.\u0000x\u200B</b>\n👩🏽‍💼')).toBe(
      '<b title="\u202E">Ana \\u202egpj.\\u0000x\\u200b</b>\n👩🏽‍💼',
    );
  });

  it('counts in groups, and durations in the unit that people read', () => {
    expect([999n, 1000n, 1234567n].map(formatCount)).toEqual(['999', '1.000', '1.234.567']);
    expect([0, 999, 2_350, 600_000].map(formatDuration)).toEqual([
      '0 ms',
      '999 ms',
      '2,4 s',
      '10 min',
    ]);
  });
});
