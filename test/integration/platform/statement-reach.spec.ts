// Which accounts a statement reaches, by PostgreSQL's plan of it.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { accountReachOf, type PlanNode } from '../../../bench/harness/statement-reach.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase('service');
});
afterAll(() => database.drop());

const tables = new Set(['statement_line', 'match', 'operation', 'charge', 'break', 'event']);

it.each([
  ['none', 'SELECT id FROM bank_account WHERE id = $1'],
  ['given', 'SELECT nsu FROM statement_line WHERE account_id = $1 AND nsu > $2'],
  ['given', 'SELECT nsu FROM statement_line WHERE account_id = (SELECT $1::int)'],
  [
    'given',
    `SELECT l.nsu FROM statement_line l JOIN match m
     ON m.account_id = l.account_id AND m.nsu = l.nsu WHERE l.account_id = $1`,
  ],
  [
    'given',
    `WITH line AS MATERIALIZED (SELECT * FROM statement_line WHERE account_id = $1)
     SELECT FROM line JOIN match m ON m.account_id = line.account_id AND m.nsu = line.nsu`,
  ],
  ['given', `UPDATE break SET opened_day = $1 WHERE account_id = ANY ($2::int[])`],
  ['given', `DELETE FROM event WHERE account_id = $1 AND position < $2`],
  [
    'given',
    `INSERT INTO event (account_id, id, position, type, resource_kind, resource_id, sequence, data)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
  ],
  ['each', 'SELECT account_id, id FROM operation WHERE next_action_at <= now()'],
  ['each', 'SELECT nsu FROM statement_line WHERE account_id = $1 OR nsu = $2'],
  [
    'each',
    `SELECT a.id FROM bank_account a WHERE a.mode = 'live' OR EXISTS (
       SELECT FROM charge c
       JOIN operation o ON o.account_id = c.account_id AND o.id = c.operation_id
       WHERE c.account_id = a.id)`,
  ],
  [
    'across',
    `SELECT c.nsu FROM statement_line d JOIN statement_line c
     ON c.end_to_end_id = d.end_to_end_id WHERE d.account_id = $1 AND d.nsu = $2`,
  ],
  ['across', 'SELECT FROM match m JOIN statement_line l ON l.nsu = m.nsu'],
  [
    'unknown',
    `DELETE FROM event WHERE ctid = ANY (ARRAY(SELECT ctid FROM event WHERE created_at < $1))`,
  ],
])('is %s of %s', async (reach, text) => {
  const { rows } = await database.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `EXPLAIN (GENERIC_PLAN, VERBOSE, FORMAT JSON) ${text}`,
  );
  const [plan] = rows;
  expect(plan && accountReachOf(plan['QUERY PLAN'][0].Plan, tables)).toBe(reach);
});
