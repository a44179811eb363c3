import { describe, expect, it } from '@jest/globals';
import { expectedWithin, unexplainedByDay } from './overview.js';

describe('the overview', () => {
  it('adds up what was open at the end of each day', () => {
    const spans = [
      { openedDay: '2026-02-01', resolvedDay: null, cents: 100n },
      { openedDay: '2026-03-09', resolvedDay: '2026-03-10', cents: 20n },
      { openedDay: '2026-03-10', resolvedDay: '2026-03-10', cents: 7n },
      { openedDay: '2026-03-12', resolvedDay: null, cents: 3n },
    ];
    expect(unexplainedByDay(spans, '2026-03-11', 4)).toEqual([
      { day: '2026-03-08', cents: 100n },
      { day: '2026-03-09', cents: 120n },
      { day: '2026-03-10', cents: 100n },
      // The last was opened by a clock ahead of the bank's.
      { day: '2026-03-11', cents: 103n },
    ]);
  });

  it('adds up what is expected on seven days, today included', () => {
    const days = [0, 6, 7].map((day) => ({
      ...{ date: `2026-03-1${day}`, expectedIn: 10n, expectedOut: 1n },
    }));
    expect(expectedWithin(days, '2026-03-10', 7)).toEqual({ in: 20n, out: 2n });
  });
});
