// Several processes share one database and one queue: an api and worker process and two schedulers.
// Webhooks are lost, so that only a scheduler finds payments.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { hasRedis, TestRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const syncIntervalMs = 1_000;
/** From the kill to the stored line: a few intervals, also on a busy machine. */
const takeOverMs = 10_000;
const startTimeoutMs = 90_000;

describe.each(hasRedis ? ['PostgreSQL', 'Redis'] : ['PostgreSQL'])(
  'two schedulers on a queue in %s',
  (backend) => {
    const opened: { close: () => Promise<unknown> }[] = [];
    let service: TestDatabase;
    let bank: ConciliaProcess;
    let lines = 0;

    afterEach(async () => {
      for (const { close } of opened.reverse()) await close();
    });

    async function start(environment: Record<string, string>): Promise<ConciliaProcess> {
      const started = await ConciliaProcess.with(environment);
      opened.push({ close: () => started.stop() });
      await started.start(startTimeoutMs);
      return started;
    }

    async function openService(): Promise<Record<string, string>> {
      const sandbox = await testDatabase('sandbox');
      service = await testDatabase('service');
      opened.push({ close: () => sandbox.drop() }, { close: () => service.drop() });
      bank = await start({ ROLES: 'sandbox', SANDBOX_DATABASE_URL: sandbox.url });
      const environment = {
        ...{ DATABASE_URL: service.url, BANK_PROFILE: 'sandbox', BANK_BASE_URL: bank.bankUrl },
        // Nothing listens there.
        ...{ PUBLIC_URL: 'http://127.0.0.1:1', SYNC_INTERVAL_MS: String(syncIntervalMs) },
      };
      if (backend === 'PostgreSQL') return environment;
      const redis = await TestRedis.start();
      opened.push({ close: () => redis.stop() });
      return { ...environment, REDIS_URL: redis.url };
    }

    const storedLines = async () => {
      const { rows } = await service.pool.query<{ lines: number }>(
        'SELECT count(*)::int AS lines FROM statement_line',
      );
      return rows[0]?.lines;
    };

    /** A payment, and the milliseconds until its line is stored. */
    async function pay(): Promise<number> {
      const startedAt = performance.now();
      await addLine();
      await until('the line is stored', async () => (await storedLines()) === lines, 40_000);
      return performance.now() - startedAt;
    }

    async function addLine(): Promise<void> {
      lines += 1;
      const { status } = await bank.callBank('POST', '/sandbox/generate', {
        count: 1,
        seed: lines,
      });
      expect(status).toBeLessThan(300);
    }

    it('find payments while one of them runs, whichever was killed', async () => {
      lines = 0;
      const environment = await openService();
      await start({ ...environment, ROLES: 'api,worker' });
      const first = await start({ ...environment, ROLES: 'scheduler' });
      const second = await start({ ...environment, ROLES: 'scheduler' });
      await pay();
      await first.kill();
      expect(await pay()).toBeLessThan(takeOverMs);
      await first.start(startTimeoutMs);
      await second.kill();
      expect(await pay()).toBeLessThan(takeOverMs);
      await first.kill();
      // What it enqueued runs to its end, also what was put off, for up to four seconds.
      await sleep(syncIntervalMs * 10);
      await addLine();
      // Without a scheduler, nobody asks the bank: this test can fail.
      await sleep(syncIntervalMs * 4);
      expect(await storedLines()).toBe(lines - 1);
      await second.start(startTimeoutMs);
      await until('the line is stored', async () => (await storedLines()) === lines, 40_000);
    }, 400_000);
  },
);
