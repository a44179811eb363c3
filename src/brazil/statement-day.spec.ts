import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addDays } from './calendar.js';
import { saoPauloDay, statementDayOf, statementDayStart } from './statement-day.js';

const instants = (from: string, to: string) =>
  fc.date({ min: new Date(from), max: new Date(to), noInvalidDate: true });

describe('statement day', () => {
  it('begins at 03:00:00.000Z and ends at 02:59:59.999Z', () => {
    expect(statementDayOf(new Date('2026-11-21T02:59:59.999Z'))).toBe('2026-11-20');
    expect(statementDayOf(new Date('2026-11-21T03:00:00.000Z'))).toBe('2026-11-21');
    expect(statementDayStart('2026-11-21')).toEqual(new Date('2026-11-21T03:00:00.000Z'));
  });

  it('contains exactly the instants from its start to the start of the next day', () => {
    fc.assert(
      fc.property(instants('1990-01-01', '2100-01-01'), (instant) => {
        const day = statementDayOf(instant);
        expect(statementDayStart(day).getTime()).toBeLessThanOrEqual(instant.getTime());
        expect(instant.getTime()).toBeLessThan(statementDayStart(addDays(day, 1)).getTime());
      }),
    );
  });

  it('is the calendar day in São Paulo since daylight saving time ended in 2019', () => {
    fc.assert(
      fc.property(instants('2019-02-18', '2040-01-01'), (instant) => {
        expect(statementDayOf(instant)).toBe(saoPauloDay(instant));
      }),
    );
  });
});

describe('the calendar day in São Paulo', () => {
  it('is the previous day at midnight UTC', () => {
    expect(saoPauloDay(new Date('2026-11-21'))).toBe('2026-11-20');
    expect(saoPauloDay(new Date('2026-11-21T02:59:59.999Z'))).toBe('2026-11-20');
    expect(saoPauloDay(new Date('2026-11-21T03:00:00.000Z'))).toBe('2026-11-21');
  });

  it('begins at 02:00Z in daylight saving time before 2019, unlike the statement day', () => {
    expect(saoPauloDay(new Date('2018-12-10T01:59:59.999Z'))).toBe('2018-12-09');
    expect(saoPauloDay(new Date('2018-12-10T02:00:00.000Z'))).toBe('2018-12-10');
    expect(statementDayOf(new Date('2018-12-10T02:00:00.000Z'))).toBe('2018-12-09');
    expect(saoPauloDay(new Date('2019-12-10T02:59:59.999Z'))).toBe('2019-12-09');
  });

  it('throws for an invalid instant and for years out of range', () => {
    for (const instant of [
      new Date(Number.NaN),
      new Date('1850-01-01T00:00:00Z'),
      new Date('-001950-01-01T00:00:00Z'),
      new Date('2201-01-01T00:00:00Z'),
    ]) {
      expect(() => saoPauloDay(instant)).toThrow(RangeError);
      expect(() => statementDayOf(instant)).toThrow(RangeError);
    }
    expect(() => statementDayStart('2026-02-30')).toThrow(RangeError);
  });
});
