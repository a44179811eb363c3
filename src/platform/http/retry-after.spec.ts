import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { readRetryAfter } from './retry-after.js';

describe('readRetryAfter', () => {
  const now = new Date('2026-01-01T12:00:00Z');

  it.each<[string, number]>([
    ['0', 0],
    ['120', 120],
    ['007', 7],
    ['999999999', 999_999_999],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30],
    ['Fri, 02 Jan 2026 12:00:00 GMT', 86_400],
  ])('reads %s as %i seconds', (header, seconds) => {
    expect(readRetryAfter(header, now)).toBe(seconds);
  });

  it.each([
    undefined,
    null,
    5,
    ['5'],
    '',
    '-5',
    '5.5',
    '1e9',
    '9'.repeat(400),
    'Infinity',
    'soon',
    'in 5 minutes',
    'Thu, 01 Jan 2026 12:00:00 GMT',
    'Thu, 01 Jan 1970 00:00:00 GMT',
  ])('returns null for %j', (header) => expect(readRetryAfter(header, now)).toBeNull());

  it.each(['try again 2999', 'maintenance (2100)'])(
    'returns null for %s, a text that JavaScript parses as a date',
    (header) => expect(readRetryAfter(header, now)).toBeNull(),
  );

  it('returns null or a number of seconds that is not negative, for every text', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const seconds = readRetryAfter(header, now);
        if (seconds !== null) expect(seconds).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
