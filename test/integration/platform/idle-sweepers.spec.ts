// The queries that sweepers repeat, on an account with a long history and no pending work.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Tx } from '../../../src/platform/postgres/database.service.js';
import { listAccountsWithOldEvents } from '../../../src/events/event-retention.queries.js';
import { deleteOldResponses } from '../../../src/access/idempotency/idempotency.queries.js';
import { lockOldOperations } from '../../../src/outbound/operations/body-retention.queries.js';
import { deleteOldBodies } from '../../../src/webhooks/processing/webhooks.queries.js';
import { listAccountsWithDaysToClose } from '../../../src/reporting/day-closes/day-closes.queries.js';
import { listTransactionRows } from '../../../src/reconciliation/api/transactions.queries.js';
import { listAccountsWithDueSubjects } from '../../../src/statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { measureRowsRead } from '../../support/rows-read.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

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
  // Everything is old: half of it has lost its bytes, and of the other half one row is due.
  await pool.query(
    `WITH numbers AS (
       SELECT n, CASE WHEN n % 2 = 0 THEN 'x' END AS body,
              clock_timestamp() - CASE n WHEN 2 THEN interval '401 days'
                                         ELSE interval '399 days' END AS time
       FROM generate_series(1, $2::int) n
     ), webhooks AS (
       INSERT INTO webhook_event (account_id, event_type, body_hash, body, state, processed_at)
       SELECT $1, 'X', n::text, body::bytea, 'processed', time FROM numbers
     ), records AS (
       INSERT INTO idempotency_record
         (account_id, route, key, request_hash, status, body, claim, leased_until)
       SELECT $1, 'r', n::text, 'h', 200, body, gen_random_uuid(), time FROM numbers
     ), operations AS (
       INSERT INTO operation (account_id, id, kind, state, request_hash, request_params,
         request_body, ended_at, bodies_deleted_at)
       SELECT $1, gen_random_uuid(), 'k', 'succeeded', 'h', '{}', body, time,
              CASE WHEN body IS NULL THEN time END FROM numbers
     ), positions AS (
       INSERT INTO event_position VALUES ($1, $2)
     ), retention AS (
       INSERT INTO event_retention VALUES ($1, $2 - 1, 0)
     )
     INSERT INTO event (account_id, id, position, type, resource_kind, resource_id, sequence, data,
       created_at)
     SELECT $1, gen_random_uuid(), n, 'x', 'charge', 'x', n, '{}',
            clock_timestamp() - interval '401 days' FROM numbers`,
    [service.accountId, lines],
  );
  await pool.query('ANALYZE');
});
afterAll(() => service.drop());

async function listPending(tx: Tx): Promise<bigint[]> {
  const none = { nsu: null, reference: null, isCredit: null, from: null, until: null };
  const filters = { ...none, state: 'pending', afterNsu: null, limit: 10 };
  const { rows } = await listTransactionRows(tx, service.accountId, filters);
  return rows.map(({ nsu }) => nsu);
}

const measure = <Result>(query: (tx: Tx) => Promise<Result>, table = 'statement_line') =>
  measureRowsRead(service.database, table, query);

it.each([
  ['accounts with undecided lines', (tx: Tx) => listAccountsWithDueSubjects(tx), []],
  ['days that may be certified', (tx: Tx) => listAccountsWithDaysToClose(tx), []],
  ['pending lines', listPending, [1n]],
])('%s are found without reading all lines', async (_, query, expected) => {
  const { result, rowsRead } = await measure<unknown>(query);
  expect(result).toEqual(expected);
  expect(rowsRead).toBeLessThan(10);
});

it.each([
  ['webhook_event', (tx: Tx) => deleteOldBodies(tx, 400, 500)],
  ['idempotency_record', (tx: Tx) => deleteOldResponses(tx, 400, 500)],
  ['operation', async (tx: Tx) => (await lockOldOperations(tx, 400, 500)).length],
  ['event', async (tx: Tx) => (await listAccountsWithOldEvents(tx, 400)).length],
])('what is old in %s is found without reading the others', async (table, query) => {
  const { result, rowsRead } = await measure<number>(query, table);
  expect(result).toBe(1);
  expect(rowsRead).toBeLessThan(10);
});
