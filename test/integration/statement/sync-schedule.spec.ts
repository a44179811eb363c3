// When the syncs of many accounts are enqueued, by one scheduler and by two beside each other.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { SyncSchedule } from '../../../src/statement/lines/sync-schedule.service.js';
import {
  listOverdueAccounts,
  setSyncInterval,
} from '../../../src/statement/lines/statement.queries.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import {} from '../../support/recorded-queues.js';

const syncIntervalMs = 1_000;
const tickMs = 50;
const accounts = 40;

describe('the schedule of syncs', () => {
  // The tests wait for intervals to pass, so they wait beside each other.
  const itOnAccounts = (name: string, test: (service: ServiceDatabase) => Promise<void>) =>
    it.concurrent(name, async () => {
      const service = await serviceDatabase();
      try {
        await service.database.pool.query(
          `INSERT INTO bank_account (slug, updated_at)
           SELECT 'other-' || n, now() FROM generate_series(2, $1) n`,
          [accounts],
        );
        await test(service);
      } finally {
        await service.drop();
      }
    });

  /** A scheduler, and the syncs that it has enqueued. `isAnswering`: they complete at once. */
  function scheduler(service: ServiceDatabase, isAnswering: boolean) {
    const enqueued: { accountId: number; atMs: number }[] = [];
    const enqueue = async ({ accountId }: { accountId: number }) => {
      enqueued.push({ accountId, atMs: performance.now() });
      if (!isAnswering) return;
      await service.database.pool.query(
        `INSERT INTO statement_state (account_id, last_sync_started_at)
         VALUES ($1, clock_timestamp()) ON CONFLICT (account_id)
         DO UPDATE SET last_sync_started_at = EXCLUDED.last_sync_started_at`,
        [accountId],
      );
    };
    const settings = { syncIntervalMs } as never;
    const schedule = new SyncSchedule(service.database, { enqueue } as never, settings);
    return { schedule, enqueued };
  }

  /**
   * Ticks for so many intervals after the first tick. Returns how many have begun since: more of
   * them on a busy machine.
   */
  async function run(schedulers: { schedule: SyncSchedule }[], intervals: number) {
    const beforeFirst = performance.now();
    for (const { schedule } of schedulers) await schedule.enqueueDue();
    const startedAt = performance.now();
    while (performance.now() - startedAt < intervals * syncIntervalMs)
      for (const { schedule } of schedulers) {
        await schedule.enqueueDue();
        await sleep(tickMs / schedulers.length);
      }
    return Math.ceil((performance.now() - beforeFirst) / syncIntervalMs);
  }

  itOnAccounts(
    'syncs every account at the start, and then each at its own part of the interval',
    async (service) => {
      const { schedule, enqueued } = scheduler(service, true);
      await schedule.enqueueDue();
      expect(new Set(enqueued.map(({ accountId }) => accountId)).size).toBe(accounts);
      const atStart = enqueued.splice(0).length;
      expect(atStart).toBe(accounts);
      const begun = await run([{ schedule }], 3);
      expect(enqueued.length).toBeGreaterThanOrEqual(accounts * 2);
      expect(enqueued.length).toBeLessThanOrEqual(accounts * begun);
      const tenths = enqueued.map(({ atMs }) => Math.floor(atMs / 100) % 10);
      for (let tenth = 0; tenth < 10; tenth += 1)
        expect(tenths.filter((one) => one === tenth).length).toBeGreaterThan(0);
    },
  );

  itOnAccounts('enqueues each sync once, however many schedulers there are', async (service) => {
    const both = [scheduler(service, true), scheduler(service, true)];
    const begun = await run(both, 3);
    const all = both.flatMap(({ enqueued }) => enqueued);
    // Each scheduler syncs all accounts at its own start.
    expect(all.length).toBeLessThanOrEqual(accounts * (2 + begun));
    expect(all.length).toBeGreaterThanOrEqual(accounts * (2 + 2));
  });

  itOnAccounts(
    'enqueues a sync that does not complete once an interval, and no more often',
    async (service) => {
      const { schedule, enqueued } = scheduler(service, false);
      const begun = await run([{ schedule }], 3);
      expect(enqueued.length).toBeLessThanOrEqual(accounts * (1 + begun));
      expect(enqueued.length).toBeGreaterThanOrEqual(accounts * (1 + 2));
    },
  );

  itOnAccounts("goes on at the interval where PostgreSQL's clock was set back", async (service) => {
    await service.database.pool.query(
      `INSERT INTO statement_state (account_id, last_sync_started_at, synced_at)
       SELECT id, clock_timestamp() + interval '1 hour', clock_timestamp() + interval '1 hour'
       FROM bank_account`,
    );
    const { schedule, enqueued } = scheduler(service, false);
    const begun = await run([{ schedule }], 3);
    expect(enqueued.length).toBeLessThanOrEqual(accounts * (1 + begun));
    expect(enqueued.length).toBeGreaterThanOrEqual(accounts * (1 + 2));
    expect(await listOverdueAccounts(service.database.prisma, 3, 60_000)).toHaveLength(accounts);
  });

  itOnAccounts('syncs an account at its own interval', async (service) => {
    await setSyncInterval(service.database.prisma, service.accountId, 250);
    const { schedule, enqueued } = scheduler(service, true);
    const begun = await run([{ schedule }], 2);
    const own = enqueued.filter(({ accountId }) => accountId === service.accountId).length;
    expect(own).toBeGreaterThanOrEqual(1 + 5);
    expect(own).toBeLessThanOrEqual(1 + begun * 4);
  });
});
