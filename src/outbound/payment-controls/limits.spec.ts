import { describe, expect, it } from '@jest/globals';
import { dayAt, findExceeded, hourAt, nightAt } from './limits.js';

const at = (text: string) => new Date(`${text}-03:00`);
const inSaoPaulo = (period: { from: Date; until: Date } | null) =>
  period && [period.from, period.until].map((time) => time.toISOString());
const night = { nightFromHour: 20, nightUntilHour: 6 };

describe('periods of limits', () => {
  it('begin a day at midnight in São Paulo, and an hour at its first second', () => {
    const last = at('2026-11-24T23:59:59.999');
    expect(inSaoPaulo(dayAt(last))).toEqual([
      '2026-11-24T03:00:00.000Z',
      '2026-11-25T03:00:00.000Z',
    ]);
    expect(dayAt(at('2026-11-25T00:00:00')).from).toEqual(dayAt(last).until);
    expect(inSaoPaulo(hourAt(last))?.[0]).toBe('2026-11-25T02:00:00.000Z');
  });

  it('have one night before and after midnight, and none by day', () => {
    const before = nightAt(at('2026-11-24T20:00:00'), night);
    expect(inSaoPaulo(before)).toEqual(['2026-11-24T23:00:00.000Z', '2026-11-25T09:00:00.000Z']);
    expect(nightAt(at('2026-11-25T05:59:59.999'), night)).toEqual(before);
    expect(nightAt(at('2026-11-25T06:00:00'), night)).toBeNull();
    expect(nightAt(at('2026-11-24T19:59:59.999'), night)).toBeNull();
  });

  it('have a night within one day', () => {
    const early = { nightFromHour: 0, nightUntilHour: 5 };
    expect(nightAt(at('2026-11-25T04:59:59'), early)?.from).toEqual(at('2026-11-25T00:00:00'));
    expect(nightAt(at('2026-11-25T05:00:00'), early)).toBeNull();
  });
});

describe('findExceeded', () => {
  const used = { name: 'per day', limitCents: 10_000n, usedCents: 9_000n, paymentCents: 1_000n };

  it('allows what reaches a limit, and everything without one', () => {
    expect(
      findExceeded([used, { ...used, limitCents: null, paymentCents: 10n ** 12n }]),
    ).toBeNull();
  });

  it('names the limit and what is left of it', () => {
    const exceeded = [used, { ...used, paymentCents: 1_001n }];
    expect(findExceeded(exceeded)).toBe(
      'The payment exceeds the limit per day of R$ 100.00: R$ 10.00 is left. Nothing was sent.',
    );
  });

  it('has nothing left of a limit that was lowered', () => {
    expect(findExceeded([{ ...used, limitCents: 1n }])).toMatch(/R\$ 0\.00 is left/);
  });
});
