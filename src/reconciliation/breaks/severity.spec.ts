import { describe, expect, it } from '@jest/globals';
import { ageCutoffs, severities, severityOf } from './severity.js';

// A Monday.
const today = '2026-11-23';
const cutoffs = ageCutoffs(today);
const of = (amountCents: bigint | null, openedDay: string, kind = 'unexpected') =>
  severityOf({ kind, amountCents, openedDay }, cutoffs);

describe('the severity of a break', () => {
  it.each([
    [9_999n, '2026-11-23', 'low'],
    [9_999n, '2026-11-20', 'low'],
    [10_000n, '2026-11-19', 'medium'],
    [99_999n, '2026-11-17', 'medium'],
    [100_000n, '2026-11-23', 'medium'],
    [100_000n, '2026-11-17', 'high'],
    [999_999n, '2026-11-06', 'critical'],
    [1_000_000n, '2026-11-23', 'medium'],
    [1_000_000n, '2026-11-19', 'high'],
    [1_000_000n, '2026-11-17', 'critical'],
    [null, '2026-11-23', 'low'],
    [null, '2026-11-06', 'high'],
  ] as const)('of %s cents, opened on %s, is %s', (amountCents, openedDay, severity) => {
    expect(of(amountCents, openedDay)).toBe(severity);
  });

  it('counts business days, without the holiday of 20 November', () => {
    expect(cutoffs).toEqual(['2026-11-19', '2026-11-17', '2026-11-06']);
  });

  it('never falls while the break is open or its amount grows', () => {
    const rank = (amount: bigint, day: string) => severities.indexOf(of(amount, day));
    const days = ['2026-11-23', '2026-11-19', '2026-11-17', '2026-11-06', '2026-01-02'];
    const amounts = [1n, 9_999n, 10_000n, 100_000n, 1_000_000n];
    for (const [at, day] of days.entries())
      for (const [index, amount] of amounts.entries()) {
        const later = days[at + 1];
        const more = amounts[index + 1];
        if (later) expect(rank(amount, later)).toBeGreaterThanOrEqual(rank(amount, day));
        if (more) expect(rank(more, day)).toBeGreaterThanOrEqual(rank(amount, day));
      }
  });

  it.each(['unknown_outcome', 'failed_but_debited', 'broken_balance_chain'])(
    'of %s is at least high',
    (kind) => {
      expect(of(1n, today, kind)).toBe('high');
      expect(of(1_000_000n, '2026-01-02', kind)).toBe('critical');
    },
  );
});
