import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addDays } from '../brazil/calendar.js';
import { debitMissingAfterMs, lastMissingDueDate, missingFrom } from './missing-deadlines.js';

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
    expect(missingFrom(dueDate)).toBe(from);
  });

  it('is consistent with the last due date that is missing on any day', () => {
    fc.assert(
      fc.property(fc.nat({ max: 3_000 }), (days) => {
        const today = addDays('2024-01-01', days);
        const last = lastMissingDueDate(today);
        expect(missingFrom(last) <= today).toBe(true);
        for (let ahead = 1; ahead <= 12; ahead += 1)
          expect(missingFrom(addDays(last, ahead)) > today).toBe(true);
      }),
    );
  });
});

it.each([
  [null, 3_600_000],
  [10_000, 3_600_000],
  [7_200_000, 7_200_000],
])('waits for sent money for an hour, or the visibility bound if longer (%s)', (bound, ms) => {
  expect(debitMissingAfterMs(bound)).toBe(ms);
});
