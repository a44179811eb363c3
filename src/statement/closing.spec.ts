import { describe, expect, it } from '@jest/globals';
import { areCutOtherwise, isSame, otherPageSize, pieceOf, spansToClose } from './closing.js';

const at = (text: string) => new Date(`${text}Z`);
const bankTime = at('2026-11-21T15:00:10');
const none = { closedFrom: null, closedUntil: null, neededFrom: null, daysFrom: null };
const spans = (over: Partial<Parameters<typeof spansToClose>[0]>) =>
  spansToClose({ ...none, bankTime, visibilityBoundMs: 10_000, ...over });
const span = (over: Partial<Parameters<typeof spansToClose>[0]>) => spans(over)[0];
const days = (over: Partial<Parameters<typeof spansToClose>[0]>) =>
  spans(over).map(({ startDate, endDate }) => [startDate, endDate]);

describe('the span that can be closed', () => {
  it('ends one visibility bound before the first reading, and begins with the day at 03:00Z', () => {
    expect(span({})).toEqual({
      isForward: true,
      endDate: null,
      startDate: '2026-11-21',
      from: at('2026-11-21T03:00:00'),
      until: at('2026-11-21T15:00:00'),
    });
  });

  it('begins with the day of what is needed', () => {
    expect(span({ neededFrom: at('2026-11-20T02:59:59') })?.startDate).toBe('2026-11-19');
  });

  const closed = { closedFrom: at('2026-11-18T03:00:00'), closedUntil: at('2026-11-20T12:00:00') };
  it.each([
    ['what was closed goes on where it ended', {}],
    ['a need within it costs nothing', { neededFrom: at('2026-11-19T12:00:00') }],
    ['a need after it leaves no gap', { neededFrom: at('2026-11-21T12:00:00') }],
    ['so with a day', { daysFrom: at('2026-11-20T03:00:00') }],
  ])('%s', (_, over) => {
    expect(days({ ...closed, ...over })).toEqual([['2026-11-20', null]]);
  });

  it('lies before what is closed where that is waited for, after what came since', () => {
    const over = { neededFrom: at('2026-11-10T12:00:00'), daysFrom: at('2026-11-09T03:00:00') };
    expect(days({ ...closed, ...over })).toEqual([
      ['2026-11-20', null],
      ['2026-11-09', '2026-11-18'],
    ]);
  });

  it('begins with the first day that has no close, where nothing is closed', () => {
    expect(days({ daysFrom: at('2025-11-21T03:00:00') })).toEqual([['2025-11-21', null]]);
  });

  it('leaves a gap where what was closed ended more than a week ago', () => {
    const old = { closedFrom: at('2026-10-01T03:00:00'), closedUntil: at('2026-11-13T12:00:00') };
    expect(span(old)?.startDate).toBe('2026-11-21');
    expect(span({ ...old, neededFrom: at('2026-11-20T12:00:00') })?.startDate).toBe('2026-11-20');
  });

  it('leaves none where a day within it is waited for', () => {
    const old = { closedFrom: at('2026-10-01T03:00:00'), closedUntil: at('2026-11-13T12:00:00') };
    expect(days({ ...old, daysFrom: at('2026-11-13T03:00:00') })).toEqual([['2026-11-13', null]]);
    // What waits for its outcome goes first, and the days after.
    const outcome = { neededFrom: at('2026-11-21T12:00:00') };
    expect(days({ ...old, ...outcome, daysFrom: at('2026-11-13T03:00:00') })).toEqual([
      ['2026-11-21', null],
    ]);
  });

  it('is none while the day is younger than the bound', () => {
    expect(span({ bankTime: at('2026-11-21T03:00:11') })?.startDate).toBe('2026-11-21');
    const need = { neededFrom: at('2026-11-21T03:00:01'), bankTime: at('2026-11-21T03:00:05') };
    expect(span(need)).toBeUndefined();
  });
});

describe('a piece of a long span', () => {
  const long = (over: object) => spans({ daysFrom: at('2026-01-01T03:00:00'), ...over });

  it('ends before the day of the line that is one too many, and has a day at least', () => {
    const [front] = long({});
    expect(front && pieceOf(front, at('2026-01-09T12:00:00'))).toMatchObject({
      endDate: '2026-01-09',
      until: at('2026-01-09T03:00:00'),
    });
    expect(front && pieceOf(front, at('2026-01-01T12:00:00')).endDate).toBe('2026-01-02');
    expect(front && pieceOf(front, null)).toEqual(front);
    expect(front && pieceOf(front, at('2026-11-21T14:00:00')).endDate).toBe('2026-11-21');
  });

  it('touches what is closed where it lies before it', () => {
    const closed = { closedFrom: at('2026-11-18T03:00:00'), closedUntil: bankTime };
    const [, before] = long(closed);
    expect(before && pieceOf(before, at('2026-11-03T12:00:00'))).toMatchObject({
      startDate: '2026-11-04',
      endDate: '2026-11-18',
      from: at('2026-11-04T03:00:00'),
      until: at('2026-11-18T03:00:00'),
    });
    expect(before && pieceOf(before, at('2026-11-17T12:00:00')).startDate).toBe('2026-11-17');
    expect(before && pieceOf(before, at('2026-01-01T02:00:00')).startDate).toBe('2026-01-01');
  });
});

describe('two readings', () => {
  it('ask the second time for fewer lines than the bank put on a page, and for some', () => {
    for (const size of [2, 3, 13, 14, 50, 100]) {
      expect(otherPageSize(size)).toBeLessThan(size);
      expect(otherPageSize(size)).toBeGreaterThan(0);
    }
    expect([otherPageSize(1), otherPageSize(0)]).toEqual([1, 1]);
  });

  const pages = (lines: number, count: number, isRepeated = false) => ({
    lines,
    count,
    isRepeated,
  });
  it.each([
    ['of two lengths', pages(100, 5), pages(87, 6), true],
    ['of one length, which the bank keeps to', pages(50, 9), pages(50, 9), false],
    ['of one page, with nothing after it', pages(1, 1), pages(1, 1), true],
    ['of one page that came again', pages(1, 1, true), pages(1, 1, true), false],
    ['of two lengths whose last came again', pages(7, 1, true), pages(6, 2, true), true],
    ['of nothing', pages(0, 0), pages(0, 0), true],
  ])('are cut otherwise, or not: %s', (_, first, second, expected) => {
    expect(areCutOtherwise(first, second)).toBe(expected);
  });

  it('agree when they show the same lines, in whatever order', () => {
    expect(isSame(new Set(['1 a', '2 b']), new Set(['2 b', '1 a']))).toBe(true);
    expect(isSame(new Set(['1 a', '2 b']), new Set(['1 a', '2 c']))).toBe(false);
    expect(isSame(new Set(['1 a']), new Set(['1 a', '2 b']))).toBe(false);
  });
});
