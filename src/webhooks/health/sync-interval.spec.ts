import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { syncIntervalFor, type NotifiableLine } from './sync-interval.js';

const notified: NotifiableLine = {
  isNotified: true,
  isWaiting: false,
  wasSyncedBeforeWebhook: false,
};
const late: NotifiableLine = { ...notified, wasSyncedBeforeWebhook: true };
const lost: NotifiableLine = { ...late, isNotified: false };
const waiting: NotifiableLine = { ...lost, isWaiting: true };
const repeat = (line: NotifiableLine, count: number) => Array.from({ length: count }, () => line);

describe('the sync interval', () => {
  it.each<[string, NotifiableLine[], number | null]>([
    ['the setting where there are no lines', [], null],
    ['the setting where too few lines were notified', repeat(notified, 19), null],
    ['doubled where twenty lines were all notified', repeat(notified, 20), 120_000],
    ['the setting where one line of fifty was lost', [...repeat(notified, 49), lost], null],
    ['a quarter where two lines of fifty were lost', [...repeat(notified, 48), lost, lost], 15_000],
    ['a quarter where the only line was lost', [lost], 15_000],
    [
      'a quarter where most of the newest lines have no webhook yet',
      [...repeat(waiting, 6), ...repeat(notified, 94)],
      15_000,
    ],
    [
      'a quarter where most of the newest webhooks came after a sync',
      [...repeat(late, 6), ...repeat(notified, 94)],
      15_000,
    ],
    [
      'doubled where half of the newest webhooks came after a sync',
      [...repeat(late, 5), ...repeat(notified, 95)],
      120_000,
    ],
    ['the setting where only one or two lines wait', [waiting, waiting], null],
    [
      'doubled where one line waits and all others were notified',
      [waiting, ...repeat(notified, 20)],
      120_000,
    ],
  ])('is %s', (_, lines, intervalMs) => expect(syncIntervalFor(lines, 60_000)).toBe(intervalMs));

  it('is at least a second, and never above the setting where webhooks are lost', () => {
    expect(syncIntervalFor([lost], 3_000)).toBe(1_000);
    expect(syncIntervalFor([lost], 1_000)).toBeNull();
    expect(syncIntervalFor([lost], 100)).toBeNull();
  });

  it('is between a second and twice the setting for any lines', () => {
    const anyLines = fc.array(fc.constantFrom(notified, lost, waiting, late), { maxLength: 100 });
    fc.assert(
      fc.property(anyLines, fc.integer({ min: 100, max: 99_999_999 }), (lines, settingMs) => {
        const intervalMs = syncIntervalFor(lines, settingMs);
        if (intervalMs === null) return;
        expect(intervalMs).toBeGreaterThanOrEqual(1_000);
        expect(intervalMs).toBeLessThanOrEqual(Math.max(1_000, settingMs * 2));
      }),
    );
  });
});
