import { describe, expect, it } from '@jest/globals';
import {
  haveDifferentPageBorders,
  limitPeriod,
  pauseAfterPageMs,
  periodsToClose,
  secondPageSize,
} from './closing.js';

const at = (text: string) => new Date(`${text}Z`);
const bankTime = at('2026-11-21T15:00:10');
const none = { closedFrom: null, closedUntil: null, neededFrom: null, dayCloseFrom: null };
const periods = (over: Partial<Parameters<typeof periodsToClose>[0]>) =>
  periodsToClose({ ...none, bankTime, visibilityBoundMs: 10_000, ...over });
const period = (over: Partial<Parameters<typeof periodsToClose>[0]>) => periods(over)[0];
const days = (over: Partial<Parameters<typeof periodsToClose>[0]>) =>
  periods(over).map(({ startDate, endDate }) => [startDate, endDate]);

describe('periodsToClose', () => {
  it('ends one visibility bound before the first read, and begins with the day at 03:00Z', () => {
    expect(period({})).toEqual({
      isForward: true,
      endDate: null,
      startDate: '2026-11-21',
      from: at('2026-11-21T03:00:00'),
      until: at('2026-11-21T15:00:00'),
    });
  });

  it('begins with the day from which an unknown outcome needs the statement', () => {
    expect(period({ neededFrom: at('2026-11-20T02:59:59') })?.startDate).toBe('2026-11-19');
  });

  const closed = { closedFrom: at('2026-11-18T03:00:00'), closedUntil: at('2026-11-20T12:00:00') };
  it.each([
    ['continues at the end of the closed period', {}],
    [
      'ignores an unknown outcome within the closed period',
      { neededFrom: at('2026-11-19T12:00:00') },
    ],
    ['leaves no gap before a later unknown outcome', { neededFrom: at('2026-11-21T12:00:00') }],
    ['leaves no gap before a later day close', { dayCloseFrom: at('2026-11-20T03:00:00') }],
  ])('%s', (_, over) => {
    expect(days({ ...closed, ...over })).toEqual([['2026-11-20', null]]);
  });

  it('extends the closed period forward first, then backward to the earliest needed day', () => {
    const over = { neededFrom: at('2026-11-10T12:00:00'), dayCloseFrom: at('2026-11-09T03:00:00') };
    expect(days({ ...closed, ...over })).toEqual([
      ['2026-11-20', null],
      ['2026-11-09', '2026-11-18'],
    ]);
  });

  it('begins with the first day without a day close when nothing is closed', () => {
    expect(days({ dayCloseFrom: at('2025-11-21T03:00:00') })).toEqual([['2025-11-21', null]]);
  });

  it('leaves a gap when the closed period ended more than a week ago', () => {
    const old = { closedFrom: at('2026-10-01T03:00:00'), closedUntil: at('2026-11-13T12:00:00') };
    expect(period(old)?.startDate).toBe('2026-11-21');
    expect(period({ ...old, neededFrom: at('2026-11-20T12:00:00') })?.startDate).toBe('2026-11-20');
  });

  it('leaves no gap when a day close within it waits', () => {
    const old = { closedFrom: at('2026-10-01T03:00:00'), closedUntil: at('2026-11-13T12:00:00') };
    expect(days({ ...old, dayCloseFrom: at('2026-11-13T03:00:00') })).toEqual([
      ['2026-11-13', null],
    ]);
    // An outcome takes precedence over day closes.
    const outcome = { neededFrom: at('2026-11-21T12:00:00') };
    expect(days({ ...old, ...outcome, dayCloseFrom: at('2026-11-13T03:00:00') })).toEqual([
      ['2026-11-21', null],
    ]);
  });

  it('returns no period while the day is younger than the visibility bound', () => {
    expect(period({ bankTime: at('2026-11-21T03:00:11') })?.startDate).toBe('2026-11-21');
    const need = { neededFrom: at('2026-11-21T03:00:01'), bankTime: at('2026-11-21T03:00:05') };
    expect(period(need)).toBeUndefined();
  });
});

describe('limitPeriod', () => {
  const long = (over: object) => periods({ dayCloseFrom: at('2026-01-01T03:00:00'), ...over });

  it('ends before the day of the first line beyond the limit, and has at least one day', () => {
    const [after] = long({});
    expect(after && limitPeriod(after, at('2026-01-09T12:00:00'))).toMatchObject({
      endDate: '2026-01-09',
      until: at('2026-01-09T03:00:00'),
    });
    expect(after && limitPeriod(after, at('2026-01-01T12:00:00')).endDate).toBe('2026-01-02');
    expect(after && limitPeriod(after, null)).toEqual(after);
    expect(after && limitPeriod(after, at('2026-11-21T14:00:00')).endDate).toBe('2026-11-21');
  });

  it('ends where the closed period begins when it extends that period backward', () => {
    const closed = { closedFrom: at('2026-11-18T03:00:00'), closedUntil: bankTime };
    const [before] = long(closed);
    expect(before && limitPeriod(before, at('2026-11-03T12:00:00'))).toMatchObject({
      startDate: '2026-11-04',
      endDate: '2026-11-18',
      from: at('2026-11-04T03:00:00'),
      until: at('2026-11-18T03:00:00'),
    });
    expect(before && limitPeriod(before, at('2026-11-17T12:00:00')).startDate).toBe('2026-11-17');
    expect(before && limitPeriod(before, at('2026-01-01T02:00:00')).startDate).toBe('2026-01-01');
  });
});

describe('two full reads', () => {
  it('leave the bank time for payments after a long page, unless an outcome waits for them', () => {
    const pauses = (neededFrom: Date | null) =>
      [0, 10, 1_000].map((lines) => pauseAfterPageMs(lines, { neededFrom }));
    expect(pauses(null)).toEqual([0, 4, 400]);
    expect(pauses(bankTime)).toEqual([0, 0, 0]);
  });

  it('use a smaller page the second time, of at least one line', () => {
    for (const size of [2, 3, 13, 14, 50, 100]) {
      expect(secondPageSize(size)).toBeLessThan(size);
      expect(secondPageSize(size)).toBeGreaterThan(0);
    }
    expect([secondPageSize(1), secondPageSize(0)]).toEqual([1, 1]);
  });

  const shape = (lines: number, count: number, isRepeated = false) => ({
    lines,
    count,
    isRepeated,
  });
  it.each([
    ['two page sizes', shape(100, 5), shape(87, 6), true],
    ['one page size, enforced by the bank', shape(50, 9), shape(50, 9), false],
    ['a single page with nothing after it', shape(1, 1), shape(1, 1), true],
    ['a single page that the bank repeated', shape(1, 1, true), shape(1, 1, true), false],
    ['two page sizes whose last page was repeated', shape(7, 1, true), shape(6, 2, true), true],
    ['no line at all', shape(0, 0), shape(0, 0), true],
  ])('have different page borders, or not: %s', (_, first, second, expected) => {
    expect(haveDifferentPageBorders(first, second)).toBe(expected);
  });
});
