import { describe, expect, it } from '@jest/globals';
import { findProblems, listWork, type TodayFacts, type WorkSum } from './today.js';

const now = new Date('2026-11-29T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const explained: TodayFacts = {
  ...{ now, readFailure: null, readFailedSince: null, syncedAt: minutesAgo(1) },
  ...{ registrationFailure: null, webhooksQuarantined: 0n, notGuardedSince: null },
  ...{ total: 10n, pending: 0n, complete: true, balanceAgrees: true },
  ...{ openBreaks: 0n, unknown: 0n, needsOperator: 0n, overdue: 0n },
};
const keysOf = (facts: Partial<TodayFacts>) =>
  findProblems({ ...explained, ...facts }).map(({ key }) => key);

describe('Today', () => {
  it('finds nothing wrong where each line is explained and the balance is not known to differ', () => {
    expect(keysOf({})).toEqual([]);
    expect(keysOf({ balanceAgrees: null })).toEqual([]);
    const shortly = { readFailure: 'no_answer', readFailedSince: minutesAgo(4) };
    expect(keysOf({ ...shortly, syncedAt: null })).toEqual([]);
    expect(keysOf({ total: 0n, complete: false })).toEqual([]);
  });

  it.each([
    [{ readFailure: 'key_refused', readFailedSince: minutesAgo(1) }, 'today.keyRefused'],
    [{ readFailure: 'no_answer', readFailedSince: minutesAgo(6) }, 'today.stalled'],
    [{ syncedAt: minutesAgo(61) }, 'today.stalled'],
    [{ notGuardedSince: minutesAgo(1) }, 'today.notGuarded'],
    [{ registrationFailure: 'HTTP 500' }, 'today.notRegistered'],
    [{ webhooksQuarantined: 1n }, 'today.quarantined'],
    [{ balanceAgrees: false }, 'today.balanceDiffers'],
    [{ complete: false }, 'today.incomplete'],
    [{ openBreaks: 1n }, 'today.openBreaks'],
    [{ unknown: 1n }, 'today.unknown'],
    [{ needsOperator: 1n }, 'today.needPerson'],
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

  it('lists what a person decides, then breaks by their sum, then what is late', () => {
    const sum = (topic: WorkSum['topic'], name: string, cents: bigint): WorkSum => ({
      ...{ topic, name, cents, count: 1n, withoutAmount: 0n },
    });
    const sums = [
      ...[sum('break', 'missing', 5n), sum('break', 'unexpected', 7n), sum('overdue', 'in', 9n)],
      ...[sum('operation', 'unknown', 1n), sum('operation', 'awaiting_approval', 2n)],
    ];
    const items = listWork(sums, 3).map(({ page, cents }) => [page, cents]);
    expect(items).toEqual([
      ['approvals', 2n],
      ['operations?state=unknown', 1n],
      ['breaks?state=open&kind=unexpected', 7n],
      ['breaks?state=open&kind=missing', 5n],
      ['expected-payments?state=overdue', 9n],
      ['alerts?state=firing', null],
    ]);
    expect(listWork([], 0)).toEqual([]);
  });
});
