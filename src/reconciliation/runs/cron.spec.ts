import { describe, expect, it } from '@jest/globals';
import { defaultCron, nextCronTime, findCronProblem } from './cron.js';

const after = new Date('2026-03-09T12:00:00Z');
const timezone = 'America/Sao_Paulo';

describe('cron schedules', () => {
  it.each([
    ['0 6 * * *', timezone, '2026-03-10T09:00:00.000Z'],
    ['0 6 * * *', 'UTC', '2026-03-10T06:00:00.000Z'],
    ['*/15 8-18 * * MON-FRI', timezone, '2026-03-09T12:15:00.000Z'],
    ['0 9 * * *', timezone, '2026-03-10T12:00:00.000Z'],
    ['30 23 29 feb *', timezone, '2028-03-01T02:30:00.000Z'],
    ['0 0 * * 7', timezone, '2026-03-15T03:00:00.000Z'],
  ])('computes the next time of %s in %s strictly after the instant', (cron, zone, next) => {
    expect(findCronProblem({ cron, timezone: zone }, after)).toBeNull();
    expect(nextCronTime({ cron, timezone: zone }, after)?.toISOString()).toBe(next);
  });

  it('run each morning in São Paulo by default', () =>
    expect(nextCronTime(defaultCron, after)?.toISOString()).toBe('2026-03-10T09:00:00.000Z'));

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
  ])('refuse the expression %j', (cron) => {
    expect(findCronProblem({ cron, timezone }, after)).toEqual({ '$.cron': [expect.any(String)] });
  });

  it.each(['', 'Mars/Olympus', '+03:00', '-3'])('refuse the time zone %j', (zone) => {
    const problem = findCronProblem({ cron: '0 6 * * *', timezone: zone }, after);
    expect(problem).toEqual({ '$.timezone': [expect.any(String)] });
  });
});
