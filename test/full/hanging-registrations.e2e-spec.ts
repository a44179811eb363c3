// The start and the stop of a service whose bank never answers requests for webhook registrations.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import { listenHttp, type HttpListener } from '../support/http-listener.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

const accounts = 24;

let service: TestDatabase;
let bank: HttpListener;
let concilia: ConciliaProcess;
/** Requests for registrations: those that wait for a response, and those that were given up. */
let waiting: number;
let givenUp: number;
let statementReads: number;

beforeEach(async () => {
  [waiting, givenUp, statementReads] = [0, 0, 0];
  bank = await listenHttp(({ path }, response) => {
    if (path.startsWith('/baas/api/v1/webhooks')) {
      waiting += 1;
      response.on('close', () => {
        waiting -= 1;
        givenUp += 1;
      });
      return;
    }
    statementReads += 1;
    response.setHeader('content-type', 'application/json').end('[]');
  });
  service = await testDatabase('service');
  await service.pool.query(
    `INSERT INTO bank_account (slug, go_live_at)
     SELECT 'account-' || n, '2000-01-01' FROM generate_series(1, $1::int) n`,
    [accounts],
  );
  concilia = await ConciliaProcess.with({
    DATABASE_URL: service.url,
    BANK_PROFILE: 'sandbox',
    BANK_BASE_URL: bank.url,
  });
});
afterEach(async () => {
  await concilia.kill();
  bank.close();
  await service.drop();
});

it('runs its sweepers while no registration is answered, and stops in order', async () => {
  const ready = concilia.start(90_000);
  ready.catch(() => undefined);
  const isSyncing = () => statementReads > 0;
  await until('the statement sync of a sweeper reaches the bank', isSyncing, 60_000);
  // Accounts wait for the bank beside each other, and the sweepers do not wait for them.
  expect(waiting).toBeGreaterThan(1);
  await ready;
  expect(givenUp).toBeLessThan(accounts);

  // The stop waits for the requests that are in progress, and starts no other.
  expect(await concilia.stop()).toBe(0);
  expect(waiting).toBe(0);
  expect(givenUp).toBeLessThan(accounts);
}, 150_000);
