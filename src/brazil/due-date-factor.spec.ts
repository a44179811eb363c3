import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addDays, daysBetween } from './calendar.js';
import {
  dueDateOfFactor,
  factorOfDueDate,
  FIRST_DUE_DATE,
  LAST_DUE_DATE,
  possibleDueDates,
} from './due-date-factor.js';

const anyDueDate = fc
  .nat({ max: daysBetween(FIRST_DUE_DATE, LAST_DUE_DATE) })
  .map((days) => addDays(FIRST_DUE_DATE, days));

describe('due date factor', () => {
  it.each([
    ['2000-07-03', '1000'],
    ['2000-07-05', '1002'],
    ['2002-05-01', '1667'],
    ['2010-11-17', '4789'],
    ['2018-07-15', '7586'],
    ['2025-02-21', '9999'],
    ['2025-02-22', '1000'],
    ['2025-02-23', '1001'],
    ['2049-10-13', '9999'],
  ])('of %s is %s, starting again at 1000 on 2025-02-22', (dueDate, factor) => {
    expect(factorOfDueDate(dueDate)).toBe(factor);
  });

  it('is counted from 1997-10-07 in the first cycle', () => {
    expect(addDays('1997-10-07', 1000)).toBe(FIRST_DUE_DATE);
    expect(addDays('1997-10-07', 9999)).toBe('2025-02-21');
  });

  it.each(['2000-07-02', '2049-10-14', '2026-02-30'])('does not exist for %s', (dueDate) => {
    expect(() => factorOfDueDate(dueDate)).toThrow(RangeError);
  });

  it.each(['0000', '0999', '10000', '1e03', ''])('is not %s', (factor) => {
    expect(() => possibleDueDates(factor)).toThrow(RangeError);
  });

  it('stands for two dates, 9000 days apart, and one of them is the due date', () => {
    fc.assert(
      fc.property(anyDueDate, (dueDate) => {
        const [first, second] = possibleDueDates(factorOfDueDate(dueDate));
        expect(daysBetween(first, second)).toBe(9000);
        expect([first, second]).toContain(dueDate);
      }),
    );
  });

  it('gives the due date for a reference date from 5500 days before to 3000 days after it', () => {
    fc.assert(
      fc.property(anyDueDate, fc.integer({ min: -3000, max: 5500 }), (dueDate, ahead) => {
        const reference = addDays(dueDate, -ahead);
        expect(dueDateOfFactor(factorOfDueDate(dueDate), reference)).toBe(dueDate);
      }),
    );
  });

  it('gives the nearer day outside that window', () => {
    const second = '2043-03-06';
    expect(dueDateOfFactor('7586', addDays(second, -5500))).toBe(second);
    expect(dueDateOfFactor('7586', addDays(second, -5501))).toBe('2018-07-15');
    expect(dueDateOfFactor('7586', addDays('2018-07-15', 3000))).toBe('2018-07-15');
  });

  it('distinguishes a slip long overdue from one due in decades by the reference date', () => {
    expect(dueDateOfFactor('9999', '2026-11-21')).toBe('2025-02-21');
    expect(dueDateOfFactor('9999', '2040-01-01')).toBe('2049-10-13');
    expect(dueDateOfFactor('1000', '2009-01-01')).toBe('2000-07-03');
    expect(dueDateOfFactor('1000', '2026-11-21')).toBe('2025-02-22');
  });
});
