import { describe, expect, it } from '@jest/globals';
import { amendedBefore, lastMonthOver, monthsUntil, standingOf } from './month-state.js';

const decisions = (...actions: ('accept' | 'prepare' | 'approve' | 'reopen')[]) =>
  actions.map((action, index) => ({ action, sequence: index + 1 }));

describe('the state of a month', () => {
  it('follows its last sign-off or reopening', () => {
    const closes = [{ approval: 3 }, { approval: 7 }];
    const stateAfter = (...actions: Parameters<typeof decisions>) =>
      standingOf(decisions(...actions), closes);
    expect(stateAfter()).toEqual({ state: 'open', prepared: null, closed: null });
    expect(stateAfter('accept', 'prepare').prepared).toEqual({ action: 'prepare', sequence: 2 });
    expect(stateAfter('accept', 'prepare', 'approve').closed).toBe(closes[0]);
    expect(stateAfter('accept', 'prepare', 'approve', 'reopen').state).toBe('open');
    const again = ['accept', 'prepare', 'approve', 'reopen', 'accept', 'prepare'] as const;
    expect(stateAfter(...again).state).toBe('prepared');
    expect(stateAfter(...again, 'approve').closed).toBe(closes[1]);
  });
});

it('is over for whole days, from the first day of the next', () => {
  const last = (days: number, today: string) => lastMonthOver(days, today);
  expect(last(1, '2026-12-01')).toBe('2026-10');
  expect(last(1, '2026-12-02')).toBe('2026-11');
  expect(last(5, '2026-12-05')).toBe('2026-10');
  expect(last(5, '2026-12-06')).toBe('2026-11');
  expect(last(5, '2027-01-06')).toBe('2026-12');
  expect(monthsUntil('2027-01', '2026-11-30')).toEqual(['2026-11', '2026-12', '2027-01']);
  expect(monthsUntil('2026-10', '2026-11-30')).toEqual([]);
});

describe('the amendments of an open month', () => {
  const close = (month: string, lastArrival: bigint, outcomeSequence = lastArrival) => ({
    ...{ month, lastArrival, outcomeSequence },
  });
  const spans = (open: string, ...closes: ReturnType<typeof close>[]) =>
    amendedBefore(open, closes).map(({ from, to, cut }) => [from, to, Number(cut.lastArrival)]);

  it('are those since the last close that lists them', () => {
    expect(spans('2026-12')).toEqual([]);
    expect(spans('2026-12', close('2026-10', 5n), close('2026-11', 9n))).toEqual([
      ['2026-10', '2026-11', 9],
    ]);
    // October was reopened, and closed after November: its report lists nothing of November.
    expect(spans('2026-12', close('2026-10', 12n), close('2026-11', 9n))).toEqual([
      ['2026-10', '2026-10', 12],
      ['2026-11', '2026-11', 9],
    ]);
  });

  it('belong to the first open month', () => {
    const closes = [close('2025-12', 5n), close('2026-02', 9n)];
    expect(spans('2026-01', ...closes)).toEqual([['2025-12', '2025-12', 5]]);
    expect(spans('2026-03', ...closes)).toEqual([['2026-02', '2026-02', 9]]);
  });
});
