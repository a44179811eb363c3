// `npm start -- --demo`: what a visitor finds in the shop's month.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

let service: TestDatabase;
let bank: TestDatabase;
let concilia: ConciliaProcess;
beforeAll(async () => {
  [service, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
  const urls = { DATABASE_URL: service.url, SANDBOX_DATABASE_URL: bank.url };
  concilia = await ConciliaProcess.with(
    { ...urls, SANDBOX_PRESET: 'published' },
    'scripts/start.mjs',
  );
  await concilia.start(60_000, ['--demo']);
}, 90_000);
afterAll(async () => {
  await concilia.stop();
  await service.drop();
  await bank.drop();
});

/** Counts rows of the shop. */
async function counts(of: string, table: string): Promise<Record<string, number>> {
  const { rows } = await service.pool.query<{ of: string; count: number }>(
    `SELECT ${of} AS of, count(*)::int FROM ${table} AS t
     JOIN bank_account AS a ON a.id = t.account_id WHERE a.slug = 'loja-aurora' GROUP BY 1`,
  );
  return Object.fromEntries(rows.map((row) => [row.of, row.count]));
}

it('opens a shop of which 97 % is explained, with some of each break, and closed days', async () => {
  await until(
    'the month is closed',
    async () => ((await counts(`'days'`, 'day_close')).days ?? 0) >= 44,
    240_000,
  );
  expect(concilia.printed).toContain('/console/accounts/loja-aurora');

  const { in_break: broken = 0, ...others } = await counts('state::text', 'line_outcome');
  const explained = (others.matched ?? 0) + (others.classified ?? 0);
  expect(explained + broken).toBeGreaterThanOrEqual(3_000);
  expect(explained / (explained + broken)).toBeGreaterThan(0.965);
  expect(explained / (explained + broken)).toBeLessThan(0.99);

  const kinds = Object.keys(await counts('kind::text', 'break'));
  const credits = ['unexpected', 'missing', 'underpaid', 'overpaid', 'duplicate_payment'];
  expect(kinds).toEqual(expect.arrayContaining([...credits, 'ambiguous']));
  expect(await counts('t.state::text', 'operation')).toMatchObject({ awaiting_approval: 2 });
}, 300_000);
