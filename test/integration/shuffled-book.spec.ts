import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { reconciliationOn } from '../support/reconciliation.js';
import { expectPendingFound } from '../support/pending-lines.js';
import { matchRule, RulesSetup } from '../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';
import {
  expectationsOf,
  linesOf,
  sentByUs,
  shuffled,
  troubles,
  type Line,
} from '../support/troubles.js';

const copies = 4;
/** However slow the machine is, no course takes so long. */
const visibilityBoundMs = 3_600_000;
const goLiveAt = new Date('2026-02-01T00:00:00Z');
const firstOpening = 10_000;
const jobQueue = { enqueue: () => Promise.resolve() } as never;

let service: ServiceDatabase;
beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());

const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
const reconcile = (account: number) =>
  reconciliationOn(service.database, jobQueue, { goLiveAt, visibilityBoundMs }).reconciliation.reconcile({
    accountId: account,
  });

async function expectAll(account: number, isCancelledLate: boolean): Promise<void> {
  await run(
    `WITH given AS (
       SELECT * FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, operation uuid, reference text, kind text,
         is_credit boolean, cents bigint, multi boolean, cancelled boolean, expired text, document text)
     ), o AS (
       INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts, response_status, ended_at)
       SELECT $1, operation, 'create', 'succeeded', 'h', '{}', 1, 200, now() FROM given
     ), e AS (
       INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents, is_multi_use, created_at,
         counterparty_document)
       SELECT $1, id, operation, 'create', is_credit, cents, multi, '2025-01-01', document FROM given
     ), r AS (
       INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
       SELECT $1, kind, reference, id FROM given
     )
     INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type, amount_cents, checked_at,
       cancelled_at, expired_at)
     SELECT $1, id::text, operation, id, 'BANKSLIP', cents, now(), CASE WHEN cancelled AND NOT $3 THEN now() END,
       expired::timestamptz
     FROM given WHERE is_credit`,
    account,
    JSON.stringify(expectationsOf(copies)),
    isCancelledLate,
  );
  await new RulesSetup(() => ({ ...service, accountId: account })).rule(matchRule({}));
}

/** The bank cancels what it had not when the first lines were judged. */
const cancel = (account: number) =>
  run(
    `UPDATE charge SET cancelled_at = now(), checked_at = clock_timestamp() WHERE account_id = $1 AND expected_payment_id IN (
       SELECT id FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, cancelled boolean) WHERE cancelled)`,
    account,
    JSON.stringify(expectationsOf(copies)),
  );

const mirror = (account: number, lines: readonly Line[]) =>
  run(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name, correlation_id, end_to_end_id,
       original_end_to_end_id, external_id, counterparty_document, balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
     SELECT $1, nsu, 'x', is_credit, cents, type, correlation, e2e, original, external, document, 0, 0,
            timestamptz '2026-02-01T00:00:00Z' + second * interval '1 second', 'h', '{}'
     FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (nsu bigint, is_credit boolean, cents bigint, type text,
       correlation text, e2e text, original text, external text, document text, second int)) WITH ORDINALITY AS r ORDER BY ordinality`,
    account,
    JSON.stringify(lines),
  );

/** All that the book says of the lines, whenever it was said. */
async function bookOf(account: number): Promise<string[]> {
  const { rows } = await run(
    `SELECT concat_ws(' ', 'match', nsu, expected_payment_id, amount_cents, role, rule) AS said
     FROM match WHERE account_id = $1 AND unlinked_at IS NULL
     UNION ALL
     SELECT concat_ws(' ', 'classification', nsu, rule) FROM classification WHERE account_id = $1 AND nsu < $2
     UNION ALL
     SELECT concat_ws(' ', 'break', kind, subject, nsu, amount_cents, expected_payment_id, evidence)
     FROM break WHERE account_id = $1 AND state = 'open'
     ORDER BY 1`,
    account,
    firstOpening,
  );
  return rows.map(({ said }) => said as string);
}

interface Course {
  lines: readonly Line[];
  size: number;
  /** After how many of the cuts the bank cancels charges: before any line is judged by default. */
  cancelledAfter?: number;
  /** After how many of the cuts the account that sent some of it is read and judged. */
  sentAfter?: number;
  /** What was there before the account went live, and is judged with the first cut. */
  opening?: number;
}

async function decideInCuts(account: number, course: Course) {
  const { lines, size, cancelledAfter = 0, sentAfter = 0, opening = 0 } = course;
  const other = account + 100;
  await run(
    `INSERT INTO bank_account (id, slug, go_live_at) VALUES ($1, $1::int::text, $3), ($2, $2::int::text, $3)`,
    ...[account, other, goLiveAt],
  );
  await expectAll(account, cancelledAfter > 0);
  if (opening > 0) await mirror(account, openingLines(opening));
  for (let cut = 0; cut * size < lines.length; cut += 1) {
    await mirror(account, lines.slice(cut * size, (cut + 1) * size));
    if (cut === cancelledAfter && cut > 0) await cancel(account);
    if (cut === sentAfter) await send(other);
    expect(await expectPendingFound(service.database)).toBeGreaterThan(0);
    await reconcile(account);
    await expectPendingFound(service.database);
  }
  // What waited for a line that came in the last cut.
  await reconcile(account);
  const book = await bookOf(account);
  // Those of the next course have the same ids; statistics know of this account alone, as when another's history comes in.
  await run('ANALYZE');
  await run(`DELETE FROM bank_account WHERE id IN ($1, $2)`, account, other);
  return book;
}

async function send(other: number): Promise<void> {
  const sent = sentByUs(copies).map((e2e, index) => ({
    ...{ nsu: index + 1, is_credit: false, cents: 1_000, type: 'DEBIT_PIX', second: 0 },
    e2e,
  }));
  await mirror(other, sent);
  await reconcile(other);
}

const openingLines = (count: number): Line[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ nsu: firstOpening + index, is_credit: true, cents: 100, type: 'CREDIT_PIX' },
    second: index - count,
  }));

it('says the same of the same lines in whatever order and cuts they come, and each trouble once', async () => {
  const lines = linesOf(copies);
  const inOrder = await decideInCuts(101, { lines, size: 1_000 });
  const mixed = { lines: shuffled(lines, 7), size: 61, cancelledAfter: 1, sentAfter: 2 };
  expect(await decideInCuts(102, mixed)).toEqual(inOrder);
  const backwards = { lines: [...lines].reverse(), size: 97, cancelledAfter: 1, sentAfter: 1 };
  expect(await decideInCuts(103, backwards)).toEqual(inOrder);
  // More than are judged at once; what the other account asks for lies at the end of them.
  expect(await decideInCuts(104, { lines, size: 1_000, opening: 990 })).toEqual(inOrder);

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
