import { describe, expect, it } from '@jest/globals';
import { defaultSeveritySteps, severities, severityOf, severityScale } from './severity.js';

// A Monday.
const today = '2026-11-23';
const scale = severityScale(defaultSeveritySteps, today);
const of = (amountCents: bigint | null, openedDay: string, kind = 'unexpected') =>
  severityOf({ kind, amountCents, openedDay }, scale);

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
    expect(scale.cutoffs).toEqual(['2026-11-19', '2026-11-17', '2026-11-06']);
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

  it.each([
    ['unknown_outcome', 'high'],
    ['failed_but_debited', 'high'],
    ['disputed', 'high'],
    ['broken_balance_chain', 'critical'],
    ['balance_mismatch', 'critical'],
  ])('of %s is at least %s', (kind, least) => {
    expect(of(1n, today, kind)).toBe(least);
    expect(of(1_000_000n, '2026-01-02', kind)).toBe('critical');
  });

  it('follows the steps of the account', () => {
    const steps = { amountSteps: [10_000_000n, 50_000_000n, 100_000_000n], ageSteps: [2, 5, 20] };
    const own = severityScale(steps, today);
    const ofOwn = (amountCents: bigint, openedDay: string) =>
      severityOf({ kind: 'unexpected', amountCents, openedDay }, own);
    expect(own.cutoffs).toEqual(['2026-11-18', '2026-11-13', '2026-10-22']);
    // R$ 10,000 is critical by the default steps, and below the first step of this account.
    expect(of(1_000_000n, '2026-11-17')).toBe('critical');
    expect(ofOwn(1_000_000n, '2026-11-17')).toBe('low');
    expect(ofOwn(50_000_000n, '2026-11-13')).toBe('high');
  });
});
