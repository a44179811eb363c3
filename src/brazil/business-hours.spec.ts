import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { nextBusinessHour, parseRequestedTime, saoPauloInstant } from './business-hours.js';
import { isBusinessDay } from './calendar.js';
import { saoPauloDay } from './statement-day.js';

const hours = { open: 7, close: 20 };
const next = (from: string, of = hours) => nextBusinessHour(new Date(from), of).toISOString();

describe('the next business hour', () => {
  it.each([
    ['in the middle of a working day is now', '2026-11-19T15:00:00.123Z', null],
    ['exactly at opening is now', '2026-11-19T10:00:00.000Z', null],
    ['a millisecond before opening', '2026-11-19T09:59:59.999Z', '2026-11-19T10:00:00.000Z'],
    ['a millisecond before closing is now', '2026-11-18T22:59:59.999Z', null],
    ['exactly at closing', '2026-11-18T23:00:00.000Z', '2026-11-19T10:00:00.000Z'],
    ['at night, when UTC is a day ahead', '2026-11-19T02:30:00.000Z', '2026-11-19T10:00:00.000Z'],
    ['over 20 November and the weekend', '2026-11-19T23:00:00.000Z', '2026-11-23T10:00:00.000Z'],
    ['on 20 November itself', '2026-11-20T15:00:00.000Z', '2026-11-23T10:00:00.000Z'],
    ['on a Saturday', '2026-11-21T12:00:00.000Z', '2026-11-23T10:00:00.000Z'],
    ['on a Sunday night', '2026-11-23T02:59:59.999Z', '2026-11-23T10:00:00.000Z'],
    ['over Carnival', '2026-02-13T23:30:00.000Z', '2026-02-18T10:00:00.000Z'],
    ['on Ash Wednesday is now', '2026-02-18T12:00:00.000Z', null],
    ['on Corpus Christi', '2026-06-04T12:00:00.000Z', '2026-06-05T10:00:00.000Z'],
    ['over the year end', '2026-12-31T23:00:00.000Z', '2027-01-04T10:00:00.000Z'],
    ['on 29 February', '2028-02-29T05:00:00.000Z', '2028-03-01T10:00:00.000Z'],
    ['in a summer of daylight saving', '2018-12-03T08:59:59.000Z', '2018-12-03T09:00:00.000Z'],
  ])('%s', (_, from, expected) => {
    expect(next(from)).toBe(expected ?? from);
  });

  it('is any hour of a business day at a bank that never closes', () => {
    const always = { open: 0, close: 24 };
    expect(next('2026-11-19T02:59:59.999Z', always)).toBe('2026-11-19T02:59:59.999Z');
    expect(next('2026-11-20T02:59:59.999Z', always)).toBe('2026-11-20T02:59:59.999Z');
    expect(next('2026-11-20T03:00:00.000Z', always)).toBe('2026-11-23T03:00:00.000Z');
  });

  it('is never earlier, is in business hours, and is its own next business hour', () => {
    const instants = fc.date({
      min: new Date('2019-06-01'),
      max: new Date('2048-12-31'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, (from) => {
        const found = nextBusinessHour(from, hours);
        expect(found >= from).toBe(true);
        expect(isBusinessDay(saoPauloDay(found))).toBe(true);
        const hour = (found.getUTCHours() + 21) % 24;
        expect(hour >= hours.open && hour < hours.close).toBe(true);
        expect(nextBusinessHour(found, hours)).toEqual(found);
      }),
    );
  });
});

describe('the instant of a local time in São Paulo', () => {
  it.each([
    ['2026-11-21', 0, '2026-11-21T03:00:00.000Z'],
    ['2018-12-03', 0, '2018-12-03T02:00:00.000Z'],
    // The clocks changed from 23:59 to 01:00 in 2018, and from 23:59 to 23:00 in 2019.
    ['2018-11-04', 1, '2018-11-04T03:00:00.000Z'],
    ['2019-02-17', 0, '2019-02-17T03:00:00.000Z'],
  ])('is found for %s at %i', (day, hour, expected) => {
    expect(saoPauloInstant(day, hour * 3_600_000).toISOString()).toBe(expected);
  });
});

describe('a requested time', () => {
  it.each([
    ['2026-12-01T13:00:00Z', '2026-12-01T13:00:00.000Z'],
    ['2026-12-01T13:00Z', '2026-12-01T13:00:00.000Z'],
    ['2026-12-01T13:00:00-03:00', '2026-12-01T16:00:00.000Z'],
    ['2026-12-01T13:00:00+0530', '2026-12-01T07:30:00.000Z'],
    ['2026-12-01T13:00:00.1234567Z', '2026-12-01T13:00:00.123Z'],
    ['2026-12-01T13:00:00', '2026-12-01T16:00:00.000Z'],
    ['2018-12-03T13:00:00', '2018-12-03T15:00:00.000Z'],
    ['2028-02-29T23:30:00', '2028-03-01T02:30:00.000Z'],
  ])('%s', (text, expected) => {
    expect(parseRequestedTime(text)).toEqual({ instant: new Date(expected) });
  });

  it('may be a day', () => {
    expect(parseRequestedTime('2026-12-01')).toEqual({ day: '2026-12-01' });
  });

  it.each([
    ...['', 'tomorrow', '2026-02-30', '2026-02-30T10:00:00Z', '2026-13-01', '2027-02-29'],
    ...['2026-12-01T24:00:00', '2026-12-01T10:60:00', '2026-12-01T10:00:60', '2026-12-01T10'],
    ...['2026-12-01T10:00:00+24:00', '2026-12-01 10:00:00', '2026-12-01T10:00:00z', '20261201'],
    ...['٢٠٢٦-12-01', '1764590400', ' 2026-12-01', '2026-12-01T10:00:00-3'],
  ])('is not %j', (text) => {
    expect(parseRequestedTime(text)).toBeNull();
  });
});
