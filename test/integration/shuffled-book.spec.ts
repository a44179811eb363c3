import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { judgementOn } from '../support/judgement.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';
import { expectationsOf, linesOf, shuffled, troubles, type Line } from '../support/troubles.js';

const copies = 4;
const wakeUps = { wake: () => Promise.resolve() } as never;

let service: ServiceDatabase;
beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());

const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
const reconcile = (account: number) =>
  judgementOn(service.database, wakeUps).reconciliation.reconcile(account);

async function expectAll(account: number): Promise<void> {
  await run(
    `WITH given AS (
       SELECT * FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, operation uuid, reference text, kind text,
         is_credit boolean, cents bigint, multi boolean, cancelled boolean, expired text)
     ), o AS (
       INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts, response_status, ended_at)
       SELECT $1, operation, 'create', 'succeeded', 'h', '{}', 1, 200, now() FROM given
     ), e AS (
       INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents, is_multi_use, created_at)
       SELECT $1, id, operation, 'create', is_credit, cents, multi, '2025-01-01' FROM given
     ), r AS (
       INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
       SELECT $1, kind, reference, id FROM given
     )
     INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type, amount_cents, checked_at,
       cancelled_at, expired_at)
     SELECT $1, id::text, operation, id, 'BANKSLIP', cents, now(), CASE WHEN cancelled THEN now() END, expired::timestamptz
     FROM given WHERE is_credit`,
    account,
    JSON.stringify(expectationsOf(copies)),
  );
}

const mirror = (account: number, lines: readonly Line[]) =>
  run(
    `INSERT INTO "transaction" (account_id, nsu, bank_id, is_credit, amount_cents, type_name, correlation_id, end_to_end_id,
       original_end_to_end_id, external_id, balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
     SELECT $1, nsu, 'x', is_credit, cents, type, correlation, e2e, original, external, 0, 0,
            timestamptz '2026-02-01' + second * interval '1 second', 'h', '{}'
     FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (nsu bigint, is_credit boolean, cents bigint, type text,
       correlation text, e2e text, original text, external text, second int)) WITH ORDINALITY AS r ORDER BY ordinality`,
    account,
    JSON.stringify(lines),
  );

/** All that the book says of the lines, whenever it was said. */
async function bookOf(account: number): Promise<string[]> {
  const { rows } = await run(
    `SELECT concat_ws(' ', 'match', nsu, expected_payment_id, amount_cents, role, rule) AS said
     FROM match WHERE account_id = $1 AND unlinked_at IS NULL
     UNION ALL
     SELECT concat_ws(' ', 'classification', nsu, rule) FROM classification WHERE account_id = $1
     UNION ALL
     SELECT concat_ws(' ', 'break', kind, subject, nsu, amount_cents, expected_payment_id, evidence)
     FROM break WHERE account_id = $1 AND state = 'open'
     ORDER BY 1`,
    account,
  );
  return rows.map(({ said }) => said as string);
}

async function judgeInCuts(account: number, lines: readonly Line[], size: number) {
  await expectAll(account);
  for (let at = 0; at < lines.length; at += size) {
    await mirror(account, lines.slice(at, at + size));
    await reconcile(account);
  }
  // What waited for a line that came in the last cut.
  await reconcile(account);
  return bookOf(account);
}

it('says the same of the same lines in whatever order and cuts they come, and each trouble once', async () => {
  const lines = linesOf(copies);
  const inOrder = await judgeInCuts(101, lines, 1_000);
  expect(await judgeInCuts(102, shuffled(lines, 7), 61)).toEqual(inOrder);
  expect(await judgeInCuts(103, [...lines].reverse(), 97)).toEqual(inOrder);

  const { rows } = await run(
    `SELECT kind, count(*)::int FROM break WHERE account_id = 101 AND state = 'open' GROUP BY kind ORDER BY kind`,
  );
  expect(Object.fromEntries(rows.map(({ kind, count }) => [kind, count / copies]))).toEqual(
    troubles,
  );
  const twice = await run(
    `SELECT nsu FROM break WHERE account_id = 101 AND state = 'open' GROUP BY nsu HAVING count(*) > 1`,
  );
  expect(twice.rows).toEqual([]);
  await reconcile(101);
  expect(await bookOf(101)).toEqual(inOrder);
});
