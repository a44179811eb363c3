import { describe, expect, it } from '@jest/globals';
import { lastDueDay } from './certificate-deadline.js';

describe('the last day that must have its certificate', () => {
  it.each([
    ['2026-11-24T11:59:59.999Z', '09:00', '2026-11-22'],
    ['2026-11-24T12:00:00.000Z', '09:00', '2026-11-23'],
    // 23:59 in São Paulo is the next day in UTC.
    ['2026-11-25T02:59:00.000Z', '09:00', '2026-11-23'],
    ['2026-11-25T03:00:00.000Z', '00:00', '2026-11-24'],
    ['2026-11-25T03:00:00.000Z', '00:01', '2026-11-23'],
    // A Sunday, after a holiday.
    ['2026-11-22T12:30:00.000Z', '09:30', '2026-11-21'],
  ])('at %s, by %s, is %s', (now, by, day) => {
    expect(lastDueDay(new Date(now), by)).toBe(day);
  });
});
