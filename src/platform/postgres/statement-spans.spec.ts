import { expect, it } from '@jest/globals';
import { statementName } from './statement-spans.js';

it.each([
  ['SELECT "public"."charge"."id" FROM "public"."charge" WHERE 1=1', 'SELECT charge'],
  [
    'INSERT INTO webhook_event AS e (body) VALUES ($1) ON CONFLICT DO UPDATE SET copies = 2',
    'INSERT webhook_event',
  ],
  ['SELECT 1 FROM operation WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED', 'SELECT operation'],
  [
    'WITH due AS (SELECT id FROM delivery) UPDATE delivery d SET attempts = 1 FROM due',
    'UPDATE delivery',
  ],
  [
    'WITH a AS (DELETE FROM lease RETURNING id), b AS (INSERT INTO event (id) SELECT id FROM a) SELECT 1',
    'DELETE lease, INSERT event',
  ],
  ['SELECT extract(epoch FROM created_at) FROM unnest($1) AS t', 'SELECT'],
  ['BEGIN; SET LOCAL statement_timeout = 60000', 'BEGIN'],
  ['COMMIT', 'COMMIT'],
  ["UPDATE charge SET name = 'DELETE FROM Maria'", 'UPDATE charge'],
])('names %s', (text, name) => {
  expect(statementName(text)).toBe(name);
});
