// What the sweepers ask each second, of a book with many lines in which there is nothing to do.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Tx } from '../../src/database.service.js';
import { listReady } from '../../src/day-closes/day-closes.queries.js';
import { listUnjudgedAccounts } from '../../src/reconciliation/breaks.queries.js';
import { readSight } from '../../src/reconciliation/missing-payments.queries.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const lines = 20_000;

let service: ServiceDatabase;
beforeAll(async () => {
  service = await serviceDatabase();
  const { pool } = service.database;
  await pool.query(
    `INSERT INTO "transaction" (account_id, nsu, bank_id, is_credit, amount_cents, type_name, balance_previous_cents,
       current_balance_cents, occurred_at, content_hash, content)
     SELECT $1, n, 'x', true, 1, 'CREDIT_PIX', n - 1, n, now(), 'h', '{}' FROM generate_series(1, $2::int) n`,
    [service.accountId, lines],
  );
  await pool.query(
    `WITH arrived AS (SELECT max(arrival) AS last FROM "transaction"), judged AS (
       INSERT INTO reconciliation_state (account_id, judged_arrival) SELECT $1, last FROM arrived
     ), closed AS (
       INSERT INTO day_close_state (account_id, next_date, seen_arrival) SELECT $1, '2999-01-01', last FROM arrived
     )
     INSERT INTO statement_state (account_id, is_anchored, polled_from) VALUES ($1, true, now())`,
    [service.accountId],
  );
  await pool.query('ANALYZE "transaction"');
});
afterAll(() => service.drop());

/** What it answers, and how many lines it read for that. */
async function look<Answer>(ask: (tx: Tx) => Promise<Answer>) {
  return service.database.transaction(async (tx) => {
    const before = await countRead(tx);
    const answer = await ask(tx);
    return { answer, linesRead: (await countRead(tx)) - before };
  });
}

async function countRead(tx: Tx): Promise<number> {
  const [read] = await tx.$queryRaw<{ lines: number }[]>`
    SELECT (seq_tup_read + idx_tup_fetch)::int AS lines FROM pg_stat_xact_user_tables
    WHERE relname = 'transaction'`;
  return read?.lines ?? 0;
}

it.each([
  ['lines that nobody has judged', (tx: Tx) => listUnjudgedAccounts(tx, 1_000), []],
  ['days that may be certified', (tx: Tx) => listReady(tx), []],
  [
    'whether each line is judged',
    async (tx: Tx) => (await readSight(tx, service.accountId))?.isJudged,
    true,
  ],
])('%s are found without going through the book', async (_, ask, expected) => {
  const { answer, linesRead } = await look<unknown>(ask);
  expect(answer).toEqual(expected);
  expect(linesRead).toBeLessThan(10);
});
