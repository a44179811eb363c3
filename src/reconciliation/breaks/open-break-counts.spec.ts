import { describe, expect, it } from '@jest/globals';
import { countBreaksByFacts } from './open-break-counts.js';
import { defaultSeveritySteps, severityScale } from './severity.js';

type OpenBreaks = Parameters<typeof countBreaksByFacts>[0][number];

// A Monday.
const today = '2026-11-23';
const scale = severityScale(defaultSeveritySteps, today);
const count = (...totals: OpenBreaks[]) => countBreaksByFacts(totals, scale, today);
const of = (
  openedDay: string,
  breakCount: bigint,
  others: Partial<OpenBreaks> = {},
): OpenBreaks => ({
  ...{ openedDay, breakCount, kind: 'unexpected', amountSteps: 0 },
  ...others,
});

describe('the counts of open breaks', () => {
  it('name every severity and age, and are zero without breaks', () => {
    const { bySeverity, byAge, byKind } = count();
    expect(bySeverity.map(({ severity }) => severity)).toEqual([
      ...['critical', 'high', 'medium', 'low'],
    ]);
    expect(byAge.map(({ opened }) => opened)).toEqual([
      { from: '2026-11-22', to: '2026-11-23' },
      { from: '2026-11-16', to: '2026-11-21' },
      { from: '2026-10-24', to: '2026-11-15' },
      { from: null, to: '2026-10-23' },
    ]);
    expect([...bySeverity, ...byAge].every(({ breaks }) => breaks === 0n)).toBe(true);
    expect(byKind).toEqual([]);
  });

  it('count each break once by severity, once by age and once by kind', () => {
    const { bySeverity, byAge, byKind } = count(
      of('2026-11-23', 3n),
      of('2026-11-24', 1n, { amountSteps: -1 }),
      of('2026-11-18', 5n, { amountSteps: 3 }),
      of('2026-01-02', 7n, { kind: 'missing', amountSteps: 2 }),
      of('2026-11-22', 2n, { kind: 'unknown_outcome' }),
    );
    expect(bySeverity.map(({ breaks }) => breaks)).toEqual([7n, 7n, 0n, 4n]);
    expect(byAge.map(({ breaks }) => breaks)).toEqual([6n, 5n, 0n, 7n]);
    expect(byKind).toEqual([
      { kind: 'unexpected', breaks: 9n },
      { kind: 'missing', breaks: 7n },
      { kind: 'unknown_outcome', breaks: 2n },
    ]);
  });
});
