import { afterEach, expect, it, jest } from '@jest/globals';
import { SyncSchedule } from './sync-schedule.service.js';

const syncIntervalMs = 60_000;
const accounts = Array.from({ length: 100 }, (_, index) => ({
  accountId: index + 1,
  intervalMs: index === 0 ? 5_000 : null,
}));

afterEach(() => {
  jest.restoreAllMocks();
});

it('syncs every account at the start, and from then on spreads the accounts', async () => {
  const enqueued: { accountId: number; atMs: number; isRoutine: boolean | undefined }[] = [];
  let nowMs = 1_000_000;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const jobQueue = {
    enqueue: (_: string, { accountId }: { accountId: number }, options?: { isRoutine?: boolean }) =>
      Promise.resolve(
        void enqueued.push({ accountId, atMs: nowMs, isRoutine: options?.isRoutine }),
      ),
  };
  const schedule = new SyncSchedule(
    { sharedReads: { $queryRaw: () => Promise.resolve(accounts) } } as never,
    jobQueue as never,
    { syncIntervalMs } as never,
  );
  for (let second = 0; second <= 180; second += 1) {
    await schedule.enqueueDue();
    nowMs += 1_000;
  }
  const secondsOf = (accountId: number) =>
    enqueued.filter((one) => one.accountId === accountId).map(({ atMs }) => atMs / 1_000 - 1_000);
  expect(enqueued.every(({ isRoutine }) => isRoutine)).toBe(true);
  expect(accounts.every(({ accountId }) => secondsOf(accountId)[0] === 0)).toBe(true);
  for (const { accountId } of accounts.slice(1)) {
    const [, second = 0, third = 0] = secondsOf(accountId);
    expect(second).toBeLessThanOrEqual(60);
    expect(third - second).toBe(60);
  }
  expect(secondsOf(1).length).toBeGreaterThan(35);
  const later = enqueued.filter(({ atMs }) => atMs > 1_000_000).map(({ atMs }) => atMs);
  const perSecond = later.map((atMs) => later.filter((other) => other === atMs).length);
  expect(Math.max(...perSecond)).toBeLessThanOrEqual(5);
});
