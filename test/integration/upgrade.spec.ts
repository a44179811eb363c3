// A book of the release before: migrated, and judged as it would have been by this one.
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Database } from '../../src/database.service.js';
import { applyMigrations } from '../../src/platform/migrations.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { SentMoney } from '../support/sent-money.js';

const migrations = fileURLToPath(new URL('../../prisma/service/migrations', import.meta.url));
const firstNew = '20261122000000_reconciliation';
const accountId = 1;

let earlier: string;
let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  earlier = await mkdtemp(join(tmpdir(), 'concilia-earlier-'));
  for (const name of await readdir(migrations))
    if (name < firstNew) await cp(join(migrations, name), join(earlier, name), { recursive: true });
});
afterAll(() => rm(earlier, { recursive: true, force: true }));

const book = new SentMoney(() => ({ database, accountId, drop: () => Promise.resolve() }));
const { run, charge } = book;
const pix = { isCredit: true, typeName: 'CREDIT_PIX' };

beforeEach(async () => {
  test = await testDatabase();
  database = new Database(test.pool);
  await migrate(earlier);
  await run(
    `INSERT INTO bank_account (id, slug, go_live_at) VALUES ($1, 'main', 'epoch')`,
    accountId,
  );
});
afterEach(async () => {
  await database.prisma.$disconnect();
  await test.drop();
});

const migrate = (folder: string) =>
  applyMigrations({ pool: test.pool, folder, log: () => undefined });

/** As the release before matched them: what names a charge pays it, whatever it comes to. */
async function judgeAsBefore(): Promise<void> {
  await run(
    `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, owed_cents, rule, evidence, created_at)
     SELECT t.account_id, gen_random_uuid(), t.nsu, r.expected_payment_id, t.amount_cents, 1000, 'reference', '{}',
            now() - interval '40 days'
     FROM "transaction" t
     JOIN expected_payment_reference r ON r.account_id = t.account_id AND r.value = t.external_id`,
  );
  await run(
    `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu, evidence, opened_at)
     SELECT account_id, gen_random_uuid(), 'unexpected', 'open', 'nsu:' || nsu, amount_cents, nsu, '{}',
            now() - interval '30 days'
     FROM "transaction" WHERE external_id IS NULL`,
  );
  await run(
    `INSERT INTO reconciliation_state (account_id, judged_arrival)
     SELECT account_id, max(arrival) FROM "transaction" GROUP BY account_id`,
  );
}

const breaks = async () =>
  (await run(`SELECT kind, state, nsu::int FROM break ORDER BY nsu, kind, state`)).rows;

it('what was wrongly paid before there were reviews gets its breaks, once', async () => {
  for (const [place, reference] of ['under', 'right', 'over', 'twice'].entries()) {
    await charge(reference);
    const amountCents = { under: 400, over: 1_700 }[reference] ?? 1_000;
    await book.mirror({ ...pix, nsu: place + 1, externalId: reference, amountCents, age: 9 });
  }
  await book.mirror({ ...pix, nsu: 5, externalId: 'twice' });
  await judgeAsBefore();
  await migrate(migrations);
  const { standing, review } = book.judgement();
  await standing.wakeContradicted();
  expect(book.woken).toEqual([['reconcile', { accountId }]]);
  expect(await review.reviewEarlier(accountId, 1)).toBe(true);
  const found = [
    { kind: 'underpaid', state: 'open', nsu: 1 },
    { kind: 'overpaid', state: 'open', nsu: 3 },
    { kind: 'duplicate_payment', state: 'open', nsu: 5 },
  ];
  expect(await breaks()).toEqual(found);
  expect(await review.reviewEarlier(accountId)).toBe(false);
  await book.reconcile();
  expect(await breaks()).toEqual(found);
  book.woken.length = 0;
  await standing.wakeContradicted();
  expect(book.woken).toEqual([]);
});

it('lines that stood in breaks are judged once more', async () => {
  await charge('given back');
  await book.mirror(
    { ...pix, nsu: 1, externalId: 'given back', endToEndId: 'E1', age: 9 },
    { nsu: 2, typeName: 'DEBIT_PIX_REFUND', originalEndToEndId: 'E1' },
    { ...pix, nsu: 3 },
  );
  await judgeAsBefore();
  await migrate(migrations);
  await book.reconcile();
  expect((await book.verdicts()).map(({ verdict }) => verdict)).toEqual([
    'payment by reference',
    'return by return',
    'unexpected',
  ]);
  expect(await breaks()).toEqual([
    { kind: 'unexpected', state: 'resolved', nsu: 2 },
    { kind: 'unexpected', state: 'open', nsu: 3 },
  ]);
  expect((await run(`SELECT FROM deferred_line`)).rowCount).toBe(0);
});
