import { describe, expect, it } from '@jest/globals';
import { typedDay, writeTypedDay } from './typed-day.js';

describe('a day that a person types', () => {
  it.each([
    ['29/11/2026', '2026-11-29'],
    [' 1/2/2026 ', '2026-02-01'],
    ['2026-11-29', '2026-11-29'],
    ['11/2026', '2026-11'],
    ['29/11/2026 14:30', '2026-11-29T14:30'],
    ['2026-11-29 14:30', '2026-11-29T14:30'],
    ['31/02/2026', '2026-02-31'],
    ['11/29/26', '11/29/26'],
    ['hoje', 'hoje'],
    ['', ''],
  ])('is read: %s', (typed, day) => {
    expect(typedDay(typed)).toBe(day);
  });

  it.each([
    ['2026-11-29', '29/11/2026', '2026-11-29'],
    ['2026-11', '11/2026', '2026-11'],
    ['2026-11-29T14:30', '29/11/2026 14:30', '2026-11-29 14:30'],
    ['29/11/2026', '29/11/2026', '29/11/2026'],
  ])('is shown again in the language of its reader: %s', (day, portuguese, english) => {
    expect(writeTypedDay(day, 'pt')).toBe(portuguese);
    expect(writeTypedDay(day, 'en')).toBe(english);
    expect(typedDay(portuguese)).toBe(typedDay(english));
  });
});
