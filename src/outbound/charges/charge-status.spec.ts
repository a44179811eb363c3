import { describe, expect, it } from '@jest/globals';
import {
  classifyBankStatus,
  decideChargeStatus,
  firstStatusCheckAt,
  isPastDue,
  lastPastDue,
  nextStatusCheckAt,
  unansweredChecks,
} from './charge-status.js';

describe('classifyBankStatus', () => {
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
  ])('classifies %p as %s', (status, classified) =>
    expect(classifyBankStatus(status)).toBe(classified),
  );
});

describe('the status of a charge', () => {
  it('is past due only after the business day to which its due date rolls', () => {
    // 7 March 2026 is a Saturday.
    expect(isPastDue('2026-03-07', '2026-03-09')).toBe(false);
    expect(isPastDue('2026-03-07', '2026-03-10')).toBe(true);
    expect(isPastDue(null, '2099-01-01')).toBe(false);
    // On Monday and Tuesday.
    expect(lastPastDue('2026-03-09')).toBe('2026-03-06');
    expect(lastPastDue('2026-03-10')).toBe('2026-03-09');
    expect(firstStatusCheckAt('2026-03-07', 0)).toEqual(new Date('2026-03-10T03:00:00Z'));
  });

  it('is first checked after the credit days where the bank has no status by id', () => {
    expect(firstStatusCheckAt('2026-03-06', 1)).toEqual(new Date('2026-03-10T03:00:00Z'));
  });

  it.each([
    ['cancelled', false, 'cancelled'],
    ['cancelled', true, 'cancelled'],
    ['paid', false, 'paid'],
    ['expired', true, 'paid'],
    ['expired', false, 'expired'],
    ['other', false, 'expired'],
    ['other', true, 'paid'],
  ] as const)(
    'with bank status %s (paid: %s) is %s on the day after the due date',
    (status, isPaid, decided) => {
      const charge = { status, dueDate: '2026-03-10', creditDays: 0 };
      expect(decideChargeStatus(charge, '2026-03-11', isPaid)).toBe(decided);
    },
  );

  it('is still open on the due date', () => {
    const charge = { status: 'other', dueDate: '2026-03-10', creditDays: 0 } as const;
    expect(decideChargeStatus(charge, '2026-03-10', false)).toBe('open');
    const unread = { ...charge, creditDays: 2 };
    expect(decideChargeStatus(unread, '2026-03-12', false)).toBe('open');
    expect(decideChargeStatus(unread, '2026-03-13', false)).toBe('expired');
  });
});

describe('nextStatusCheckAt', () => {
  const now = new Date('2026-03-02T12:00:00Z');
  const unanswered = { isAnswered: false, creditDays: 0 };
  const delayMs = (checks: number, isAnswered: boolean, dueDate: string | null = '2026-03-10') => {
    const next = nextStatusCheckAt(checks, now, dueDate, { isAnswered, creditDays: 0 });
    return next && next.getTime() - now.getTime();
  };

  it('retries with growing delays while the bank does not respond, for more than a week', () => {
    const delaysMs = Array.from({ length: unansweredChecks - 1 }, (_, index) =>
      Number(delayMs(index + 1, false)),
    );
    expect(delaysMs.slice(0, 7)).toEqual([
      1_000, 5_000, 15_000, 60_000, 300_000, 3_600_000, 3_600_000,
    ]);
    expect(delaysMs.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(7 * 86_400_000);
  });

  it('then waits for the day after the due date, and for nothing without a due date', () => {
    const afterDueDate = new Date('2026-03-11T03:00:00Z');
    expect(nextStatusCheckAt(unansweredChecks, now, '2026-03-10', unanswered)).toEqual(
      afterDueDate,
    );
    expect(delayMs(unansweredChecks, false, null)).toBeNull();
  });

  it('repeats a few times after a webhook, then waits for the day after the due date', () => {
    expect([1, 2, 3].map((checks) => delayMs(checks, true))).toEqual([1_000, 5_000, 15_000]);
    expect(nextStatusCheckAt(4, now, '2026-03-10', { ...unanswered, isAnswered: true })).toEqual(
      new Date('2026-03-11T03:00:00Z'),
    );
    expect(delayMs(4, true, null)).toBeNull();
  });
});
