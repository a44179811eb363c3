import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cadenceMs, type NotifiableLine } from './cadence.js';

const told: NotifiableLine = { isNotified: true, isWaiting: false, wasFoundByPolling: false };
const lost: NotifiableLine = { isNotified: false, isWaiting: false, wasFoundByPolling: true };
const waiting: NotifiableLine = { isNotified: false, isWaiting: true, wasFoundByPolling: true };
const late: NotifiableLine = { isNotified: true, isWaiting: false, wasFoundByPolling: true };
const many = (line: NotifiableLine, count: number) => Array.from({ length: count }, () => line);

describe('the cadence of polls', () => {
  it.each<[string, NotifiableLine[], number | null]>([
    ['nothing was to be told', [], null],
    ['too few lines show that all is well', many(told, 19), null],
    ['twenty lines were all told', many(told, 20), 120_000],
    ['one line of fifty was lost', [...many(told, 49), lost], null],
    ['two lines of fifty were lost', [...many(told, 48), lost, lost], 15_000],
    ['the only line was lost', [lost], 15_000],
    ['the newest lines were found by polling', [...many(waiting, 6), ...many(told, 94)], 15_000],
    ['the newest webhooks came after a poll', [...many(late, 6), ...many(told, 94)], 15_000],
    ['half of the newest were found by polling', [...many(late, 5), ...many(told, 95)], 120_000],
    ['a line or two wait for theirs', [waiting, waiting], null],
    ['lines wait and all others were told', [waiting, ...many(told, 20)], 120_000],
  ])('when %s', (_, lines, pauseMs) => expect(cadenceMs(lines, 60_000)).toBe(pauseMs));

  it('is never below a second, and never slower than asked for where webhooks are lost', () => {
    expect(cadenceMs([lost], 3_000)).toBe(1_000);
    expect(cadenceMs([lost], 1_000)).toBeNull();
    expect(cadenceMs([lost], 100)).toBeNull();
  });

  it('lies between a second and twice the setting, whatever happened', () => {
    const lines = fc.array(fc.constantFrom(told, lost, waiting, late), { maxLength: 100 });
    fc.assert(
      fc.property(lines, fc.integer({ min: 100, max: 99_999_999 }), (happened, settingMs) => {
        const pauseMs = cadenceMs(happened, settingMs);
        if (pauseMs === null) return;
        expect(pauseMs).toBeGreaterThanOrEqual(1_000);
        expect(pauseMs).toBeLessThanOrEqual(Math.max(1_000, settingMs * 2));
      }),
    );
  });
});
