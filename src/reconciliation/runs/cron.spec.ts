import { describe, expect, it } from '@jest/globals';
import { defaultCron, nextTime, problemOf } from './cron.js';

const after = new Date('2026-03-09T12:00:00Z');
const timezone = 'America/Sao_Paulo';

describe('the times of a schedule', () => {
  it.each([
    ['0 6 * * *', timezone, '2026-03-10T09:00:00.000Z'],
    ['0 6 * * *', 'UTC', '2026-03-10T06:00:00.000Z'],
    ['*/15 8-18 * * MON-FRI', timezone, '2026-03-09T12:15:00.000Z'],
    ['0 9 * * *', timezone, '2026-03-10T12:00:00.000Z'],
    ['30 23 29 feb *', timezone, '2028-03-01T02:30:00.000Z'],
    ['0 0 * * 7', timezone, '2026-03-15T03:00:00.000Z'],
  ])('%s in %s come next after the instant, never at it', (cron, zone, next) => {
    expect(problemOf({ cron, timezone: zone }, after)).toBeNull();
    expect(nextTime({ cron, timezone: zone }, after)?.toISOString()).toBe(next);
  });

  it('are by default those of each morning in São Paulo', () =>
    expect(nextTime(defaultCron, after)?.toISOString()).toBe('2026-03-10T09:00:00.000Z'));

  it.each([
    '',
    '* * * *',
    '0 0 6 * * *',
    '@daily',
    'H 6 * * *',
    '0 6 L * *',
    '0 6 * * MON#1',
    '61 * * * *',
    '*/0 * * * *',
    '5-1 * * * *',
    '0 0 30 2 *',
    'a b c d e',
  ])('are refused where %j names none', (cron) => {
    expect(problemOf({ cron, timezone }, after)).toEqual({ '$.cron': [expect.any(String)] });
  });

  it.each(['', 'Mars/Olympus', '+03:00', '-3'])('are refused in the zone %j', (zone) => {
    const problem = problemOf({ cron: '0 6 * * *', timezone: zone }, after);
    expect(problem).toEqual({ '$.timezone': [expect.any(String)] });
  });
});
