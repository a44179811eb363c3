import { describe, expect, it } from '@jest/globals';
import { findProblems, type TodayFacts } from './today.js';

const explained: TodayFacts = {
  ...{ total: 10n, pending: 0n, complete: true, balanceAgrees: true },
  ...{ openBreaks: 0n, unknown: 0n, overdue: 0n },
};
const keysOf = (facts: Partial<TodayFacts>) =>
  findProblems({ ...explained, ...facts }).map(({ key }) => key);

describe('Today', () => {
  it('finds nothing wrong where each line is explained and the balance is not known to differ', () => {
    expect(keysOf({})).toEqual([]);
    expect(keysOf({ balanceAgrees: null })).toEqual([]);
    expect(keysOf({ total: 0n, complete: false })).toEqual([]);
  });

  it.each([
    [{ balanceAgrees: false }, 'today.balanceDiffers'],
    [{ complete: false }, 'today.incomplete'],
    [{ openBreaks: 1n }, 'today.openBreaks'],
    [{ unknown: 1n }, 'today.unknown'],
    [{ pending: 1n }, 'today.pending'],
    [{ overdue: 1n }, 'today.overdue'],
  ])('is not green with %p', (facts, key) => {
    expect(keysOf(facts)).toEqual([key]);
  });

  it('names what is about the money itself first', () => {
    expect(keysOf({ overdue: 1n, openBreaks: 2n, balanceAgrees: false })).toEqual([
      'today.balanceDiffers',
      'today.openBreaks',
      'today.overdue',
    ]);
  });
});
