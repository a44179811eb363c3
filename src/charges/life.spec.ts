import { describe, expect, it } from '@jest/globals';
import { endOfLife, isPastDue, decideCharge, nextLook, readStatus } from './life.js';

describe('readStatus', () => {
  it.each([
    ['Voided', 'cancelled'],
    ['CANCELLED', 'cancelled'],
    ['Canceled', 'cancelled'],
    ['expired', 'expired'],
    ['Overdue', 'expired'],
    ['Paid', 'paid'],
    ['Pending', 'other'],
    ['Created', 'other'],
    ['NotVoided', 'other'],
    ['', 'other'],
  ])('takes %s for %s', (status, word) => expect(readStatus(status)).toBe(word));
});

describe('the end of a charge', () => {
  it('comes after the business day to which its due date rolls', () => {
    // 7 March 2026 is a Saturday.
    expect(isPastDue('2026-03-07', '2026-03-09')).toBe(false);
    expect(isPastDue('2026-03-07', '2026-03-10')).toBe(true);
    expect(isPastDue(null, '2099-01-01')).toBe(false);
    expect(endOfLife('2026-03-07', true)).toEqual(new Date('2026-03-10T03:00:00Z'));
  });

  it('waits for the clearing where the bank cannot be asked', () => {
    expect(endOfLife('2026-03-06', false)).toEqual(new Date('2026-03-10T03:00:00Z'));
  });

  it.each([
    ['cancelled', false, 'cancelled'],
    ['cancelled', true, 'cancelled'],
    ['paid', false, 'paid'],
    ['expired', true, 'paid'],
    ['expired', false, 'expired'],
    ['other', false, 'expired'],
    ['other', true, 'paid'],
  ] as const)('told %s, paid %s, is %s on the day after', (word, isPaid, outcome) => {
    expect(decideCharge({ word, dueDate: '2026-03-10' }, '2026-03-11', isPaid)).toBe(outcome);
  });

  it('has not come on the due date', () => {
    expect(decideCharge({ word: 'other', dueDate: '2026-03-10' }, '2026-03-10', false)).toBe('alive');
  });
});

describe('nextLook', () => {
  const now = new Date('2026-03-02T12:00:00Z');
  const inMs = (looks: number, isAnswered: boolean, dueDate: string | null = '2026-03-10') => {
    const next = nextLook(looks, now, dueDate, isAnswered);
    return next && next.getTime() - now.getTime();
  };

  it('goes on, ever more slowly, while the bank does not answer', () => {
    expect([1, 2, 3, 4, 5, 6, 60].map((looks) => inMs(looks, false))).toEqual([
      1_000, 5_000, 15_000, 60_000, 300_000, 3_600_000, 3_600_000,
    ]);
  });

  it('looks a few times for what was told, then at its end', () => {
    expect([1, 2, 3].map((looks) => inMs(looks, true))).toEqual([1_000, 5_000, 15_000]);
    expect(nextLook(4, now, '2026-03-10', true)).toEqual(new Date('2026-03-11T03:00:00Z'));
    expect(inMs(4, true, null)).toBeNull();
  });
});
