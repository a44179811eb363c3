import { getHolidays } from '@brazilian-utils/brazilian-utils';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addBusinessDays,
  addDays,
  daysBetween,
  isBusinessDay,
  nextBusinessDay,
  parsePlainDate,
  rollToBusinessDay,
} from './calendar.js';

const anyDate = fc.nat({ max: 100_000 }).map((days) => addDays('1915-01-01', days));

describe('plain date', () => {
  it.each(['2026-11-21', '2024-02-29', '2000-02-29', '1900-01-01', '2199-12-31'])(
    'parses %s',
    (text) => {
      expect(parsePlainDate(text)).toBe(text);
    },
  );

  it.each([
    '2026-02-30',
    '2026-02-29',
    '1900-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-1-1',
    '1899-12-31',
    '2200-01-01',
    '0026-01-01',
    'tomorrow',
    '31/12/2026',
    '2026-11-21T00:00:00Z',
    ' 2026-11-21',
    '2026-11-21\n',
    '٢٠٢٦-١١-٢١',
    '',
  ])('rejects %j', (text) => {
    expect(parsePlainDate(text)).toBeNull();
  });

  it('adds days without a time zone: no day is skipped or repeated', () => {
    expect(addDays('2018-11-03', 1)).toBe('2018-11-04');
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
    expect(addDays('2024-03-01', -1)).toBe('2024-02-29');
    fc.assert(
      fc.property(anyDate, fc.integer({ min: -5000, max: 2000 }), (date, days) => {
        expect(daysBetween(date, addDays(date, days))).toBe(days);
        expect(addDays(addDays(date, days), -days)).toBe(date);
      }),
    );
  });

  it('throws for invalid dates, fractions of days and years out of range', () => {
    expect(() => addDays('2026-02-30', 1)).toThrow(RangeError);
    expect(() => addDays('2026-02-20', 0.5)).toThrow(RangeError);
    expect(() => addDays('2199-12-31', 1)).toThrow(RangeError);
    expect(() => addDays('2026-01-01', Number.MAX_SAFE_INTEGER)).toThrow(RangeError);
    expect(() => daysBetween('2026-01-01', 'x')).toThrow(RangeError);
    expect(() => isBusinessDay('2026-2-3')).toThrow(RangeError);
    expect(() => addBusinessDays('2026-01-01', 1.5)).toThrow(RangeError);
  });
});

describe('national bank calendar', () => {
  it.each([
    ['2026-01-01', 'New Year'],
    ['2026-02-16', 'Carnival Monday'],
    ['2026-02-17', 'Carnival Tuesday'],
    ['2026-04-03', 'Good Friday'],
    ['2026-04-21', 'Tiradentes'],
    ['2026-06-04', 'Corpus Christi'],
    ['2026-11-20', 'Consciência Negra'],
    ['2027-02-08', 'Carnival Monday'],
    ['2027-02-09', 'Carnival Tuesday'],
    ['2027-03-26', 'Good Friday'],
    ['2027-05-27', 'Corpus Christi'],
    ['2026-11-21', 'a Saturday'],
    ['2026-11-22', 'a Sunday'],
  ])('has no business on %s, %s', (date) => {
    expect(isBusinessDay(date)).toBe(false);
  });

  it.each([
    ['2026-02-18', 'Ash Wednesday'],
    ['2026-04-02', 'Maundy Thursday'],
    ['2023-11-20', '20 November before it was national'],
    ['2026-07-09', 'a holiday of São Paulo state'],
    ['2026-12-24', 'Christmas Eve'],
    ['2026-12-31', 'New Year’s Eve'],
  ])('has business on %s, %s', (date) => {
    expect(isBusinessDay(date)).toBe(true);
  });

  it('has the holidays of brazilian-utils from 1900 to 2099, and Carnival Monday', () => {
    for (let year = 1900; year <= 2099; year += 1) {
      const holidays = getHolidays(year)
        .filter((holiday) => holiday.type !== 'religious')
        .map(({ name, date }) => ({ name, date: isoDay(date) }));
      const carnival = holidays.find(({ name }) => name.startsWith('Carnaval'))?.date ?? '';
      // The library lacks Carnival Monday.
      const expected = new Set([...holidays.map(({ date }) => date), addDays(carnival, -1)]);
      for (let date = `${year}-01-01`; date.startsWith(String(year)); date = addDays(date, 1)) {
        const weekday = new Date(`${date}T12:00:00Z`).getUTCDay();
        const isWorking = weekday !== 0 && weekday !== 6 && !expected.has(date);
        if (isBusinessDay(date) !== isWorking) throw new Error(`differs on ${date}`);
      }
    }
  });

  it.each([
    ['2100-03-28', '2100-03-26'],
    ['2133-04-19', '2133-04-17'],
    ['2198-03-25', '2198-03-23'],
  ])('has the Good Friday of Easter %s, in years that the library lacks', (_, goodFriday) => {
    expect(isBusinessDay(goodFriday)).toBe(false);
    expect(isBusinessDay(addDays(goodFriday, -1))).toBe(true);
    expect(isBusinessDay(addDays(goodFriday, 62))).toBe(false);
  });

  it('moves a due date to the next business day only if it is not a business day', () => {
    expect(rollToBusinessDay('2026-02-14')).toBe('2026-02-18');
    expect(rollToBusinessDay('2026-02-18')).toBe('2026-02-18');
    expect(nextBusinessDay('2026-02-18')).toBe('2026-02-19');
    expect(nextBusinessDay('2026-11-19')).toBe('2026-11-23');
  });

  it('counts business days forward and backward', () => {
    expect(addBusinessDays('2026-02-13', 1)).toBe('2026-02-18');
    expect(addBusinessDays('2026-02-18', -1)).toBe('2026-02-13');
    expect(addBusinessDays('2026-02-18', -5)).toBe('2026-02-09');
    expect(addBusinessDays('2026-02-14', 0)).toBe('2026-02-14');
    fc.assert(
      fc.property(anyDate.map(rollToBusinessDay), fc.integer({ min: 0, max: 60 }), (date, n) => {
        expect(addBusinessDays(addBusinessDays(date, n), -n)).toBe(date);
        expect(addBusinessDays(date, n + 1)).toBe(nextBusinessDay(addBusinessDays(date, n)));
      }),
    );
  });
});

function isoDay(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
