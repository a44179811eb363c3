import { describe, expect, it } from '@jest/globals';
import { expectedPaymentFacts, facts } from '../../../test/support/facts.js';
import { deadlineOf, debitMissingAfterMs, missingFrom } from './missing.js';

describe('the day from which a charge is missing', () => {
  it.each([
    ['a Monday', '2026-03-09', '2026-03-11'],
    ['a Friday: it is credited on Monday', '2026-03-13', '2026-03-17'],
    ['a Saturday, paid until Monday', '2026-03-14', '2026-03-18'],
    ['the Friday before Carnival', '2026-02-13', '2026-02-19'],
    ['Carnival Tuesday', '2026-02-17', '2026-02-20'],
    ['Christmas Eve', '2026-12-24', '2026-12-29'],
    ['the last day of a year', '2026-12-31', '2027-01-05'],
  ])('follows the bank calendar from %s', (_, dueDate, from) => {
    expect(missingFrom(dueDate, 1)).toBe(from);
  });

  it.each([
    [0, '2026-12-25'],
    [1, '2026-12-29'],
    [2, '2026-12-30'],
    [3, '2026-12-31'],
  ])('waits for %s credit days after Christmas Eve', (creditDays, from) => {
    expect(missingFrom('2026-12-24', creditDays)).toBe(from);
  });
});

it.each([
  [null, 3_600_000],
  [10_000, 3_600_000],
  [7_200_000, 7_200_000],
])('waits for sent money for an hour, or the visibility bound if longer (%s)', (bound, ms) => {
  expect(debitMissingAfterMs(bound)).toBe(ms);
});

it('a charge due beyond the calendar has no deadline', () => {
  const due = (dueDate: string) => deadlineOf(expectedPaymentFacts({ dueDate }), facts({}));
  expect(due('9999-12-31')).toBeNull();
  expect(due('2026-03-09')?.at.toISOString()).toBe('2026-03-11T03:00:00.000Z');
});

it('credit days that no setting can be have no deadline, and are no silence either', () => {
  for (const slip of [-1, 31, Number.NaN]) {
    const creditDays = { slip, pix: 0, other: slip };
    const due = () =>
      deadlineOf(expectedPaymentFacts({ dueDate: '2026-03-09' }), facts({ creditDays }));
    expect(due).toThrow('Invariant broken: credit days');
  }
});
