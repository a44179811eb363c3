// The queries that sweepers repeat, on an account with many lines and no pending work.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Tx } from '../../src/database.service.js';
import { listAccountsWithDaysToClose } from '../../src/day-closes/day-closes.queries.js';
import { listTransactionRows } from '../../src/reconciliation/api/transactions.queries.js';
import { listAccountsWithDueSubjects } from '../../src/reconciliation-tasks/reconciliation-tasks.queries.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const lines = 20_000;

let service: ServiceDatabase;
beforeAll(async () => {
  service = await serviceDatabase();
  const { pool } = service.database;
  await pool.query(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
     SELECT $1, n, 'x', true, 1, 'CREDIT_PIX', n - 1, n, now(), 'h', '{}'
     FROM generate_series(1, $2::int) n`,
    [service.accountId, lines],
  );
  await pool.query(
    `WITH arrived AS (
       SELECT max(arrival) AS last FROM statement_line
     ), decided AS (
       INSERT INTO reconciliation_state (account_id, decided_arrival)
       SELECT $1, last FROM arrived
     ), classified AS (
       INSERT INTO classification (account_id, nsu, rule)
       SELECT $1, n, 'x' FROM generate_series(2, $2::int) n
     ), outcomes AS (
       INSERT INTO line_outcome (account_id, nsu, state, version, leaf_hash, sequence)
       SELECT $1, n, (CASE n WHEN 1 THEN 'pending' ELSE 'classified' END)::line_outcome_state,
              1, '', 1
       FROM generate_series(1, $2::int) n
     ), closed AS (
       INSERT INTO day_close_state (account_id, next_date, seen_arrival)
       SELECT $1, '2999-01-01', last FROM arrived
     )
     INSERT INTO statement_state (account_id, is_anchored, last_sync_started_at)
     VALUES ($1, true, now())`,
    [service.accountId, lines],
  );
  await pool.query('ANALYZE statement_line');
});
afterAll(() => service.drop());

async function listPending(tx: Tx): Promise<bigint[]> {
  const none = { nsu: null, reference: null, isCredit: null, from: null, until: null };
  const filters = { ...none, state: 'pending', beforeNsu: null, limit: 10 };
  const rows = await listTransactionRows(tx, service.accountId, filters);
  return rows.map(({ nsu }) => nsu);
}

/** The result of a query, and how many statement lines it read. */
async function measure<Result>(query: (tx: Tx) => Promise<Result>) {
  return service.database.transaction(async (tx) => {
    const before = await countLinesRead(tx);
    const result = await query(tx);
    return { result, linesRead: (await countLinesRead(tx)) - before };
  });
}

async function countLinesRead(tx: Tx): Promise<number> {
  const [read] = await tx.$queryRaw<{ lines: number }[]>`
    SELECT (seq_tup_read + idx_tup_fetch)::int AS lines FROM pg_stat_xact_user_tables
    WHERE relname = 'statement_line'`;
  return read?.lines ?? 0;
}

it.each([
  ['accounts with undecided lines', (tx: Tx) => listAccountsWithDueSubjects(tx), []],
  ['days that may be certified', (tx: Tx) => listAccountsWithDaysToClose(tx), []],
  ['pending lines', listPending, [1n]],
])('%s are found without reading all lines', async (_, query, expected) => {
  const { result, linesRead } = await measure<unknown>(query);
  expect(result).toEqual(expected);
  expect(linesRead).toBeLessThan(10);
});
