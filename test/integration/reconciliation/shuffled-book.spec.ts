import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { makeAllDue, reconciliationOn } from '../../support/reconciliation.js';
import { expectPendingLinesListed } from '../../support/pending-lines.js';
import { matchRule, RulesSetup } from '../../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import {
  openBreaksPerCopy,
  ownTransferIds,
  scenarioExpectedPayments,
  scenarioLines,
  shuffleItems,
  type ScenarioLine,
} from '../../support/reconciliation-scenarios.js';
import { withoutTriggers } from '../../support/parent-rows.js';
import { recordedQueues } from '../../support/recorded-queues.js';

const copies = 4;
/** Longer than any arrival takes, however slow the machine is. */
const visibilityBoundMs = 3_600_000;
const goLiveAt = new Date('2026-02-01T00:00:00Z');
const firstOpeningNsu = 10_000;
const queueOf = recordedQueues();

let service: ServiceDatabase;
beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());

const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
const reconcile = (account: number) =>
  reconciliationOn(service.database, queueOf, {
    goLiveAt,
    visibilityBoundMs,
  }).reconciliation.reconcile({ accountId: account });

async function addExpectedPayments(account: number, isCancelledLate: boolean): Promise<void> {
  await run(
    `WITH scenario AS (
       SELECT * FROM jsonb_to_recordset($2::jsonb) AS r(
         id uuid, operation uuid, reference text, kind text, is_credit boolean, cents bigint,
         multi boolean, cancelled boolean, expired text, document text)
     ), o AS (
       INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts,
         response_status, ended_at)
       SELECT $1, operation, 'create', 'succeeded', 'h', '{}', 1, 200, now() FROM scenario
     ), e AS (
       INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents,
         is_multi_use, created_at, counterparty_document)
       SELECT $1, id, operation, 'create', is_credit, cents, multi, '2025-01-01', document
       FROM scenario
     ), r AS (
       INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
       SELECT $1, kind, reference, id FROM scenario
     )
     INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
       amount_cents, checked_at, cancelled_at, expired_at)
     SELECT $1, id::text, operation, id, 'BANKSLIP', cents, now(),
       CASE WHEN cancelled AND NOT $3 THEN now() END, expired::timestamptz
     FROM scenario WHERE is_credit`,
    account,
    JSON.stringify(scenarioExpectedPayments(copies)),
    isCancelledLate,
  );
  await new RulesSetup(() => ({ ...service, accountId: account })).declareActiveRule(matchRule({}));
}

/** The bank cancels charges that were not cancelled when the first lines were decided. */
const cancelCharges = (account: number) =>
  run(
    `UPDATE charge SET cancelled_at = now(), checked_at = clock_timestamp()
     WHERE account_id = $1 AND expected_payment_id IN (
       SELECT id FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, cancelled boolean)
       WHERE cancelled)`,
    account,
    JSON.stringify(scenarioExpectedPayments(copies)),
  );

const addLines = (account: number, lines: readonly ScenarioLine[]) =>
  run(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       correlation_id, end_to_end_id, original_end_to_end_id, external_id, counterparty_document,
       has_one_holder, balance_previous_cents, current_balance_cents, occurred_at, content_hash,
       content)
     SELECT $1, nsu, 'x', is_credit, cents, type, correlation, e2e, original, external, document,
       COALESCE(e2e = ANY ($3), false), 0, 0,
       timestamptz '2026-02-01T00:00:00Z' + second * interval '1 second', 'h', '{}'
     FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (
       nsu bigint, is_credit boolean, cents bigint, type text, correlation text, e2e text,
       original text, external text, document text, second int)) WITH ORDINALITY AS r
     ORDER BY ordinality`,
    account,
    JSON.stringify(lines),
    ownTransferIds(copies),
  );

/** All matches, classifications and open breaks of the account, without their times. */
async function listResults(account: number): Promise<string[]> {
  const { rows } = await run(
    `SELECT concat_ws(' ', 'match', nsu, expected_payment_id, amount_cents, role, rule) AS result
     FROM match WHERE account_id = $1 AND unlinked_at IS NULL
     UNION ALL
     SELECT concat_ws(' ', 'classification', nsu, rule) FROM classification
     WHERE account_id = $1 AND nsu < $2
     UNION ALL
     SELECT concat_ws(' ', 'break', kind, subject, nsu, amount_cents, expected_payment_id, evidence)
     FROM break WHERE account_id = $1 AND state = 'open'
     ORDER BY 1`,
    account,
    firstOpeningNsu,
  );
  return rows.map(({ result }) => result as string);
}

interface Arrival {
  lines: readonly ScenarioLine[];
  batchSize: number;
  /** After how many batches the bank cancels charges; by default before any line is decided. */
  cancelledAfter?: number;
  /** After how many batches the account that sent some of the money is reconciled. */
  otherAccountAfter?: number;
  /** The number of lines from before go-live, which are decided with the first batch. */
  openingCount?: number;
}

async function decideInBatches(account: number, arrival: Arrival) {
  const { lines, batchSize, cancelledAfter = 0, otherAccountAfter = 0, openingCount = 0 } = arrival;
  const senderAccount = account + 100;
  await run(
    `INSERT INTO bank_account (id, slug, go_live_at)
     VALUES ($1, $1::int::text, $3), ($2, $2::int::text, $3)`,
    ...[account, senderAccount, goLiveAt],
  );
  await addExpectedPayments(account, cancelledAfter > 0);
  if (openingCount > 0) await addLines(account, openingLines(openingCount));
  for (let batch = 0; batch * batchSize < lines.length; batch += 1) {
    await addLines(account, lines.slice(batch * batchSize, (batch + 1) * batchSize));
    if (batch === cancelledAfter && batch > 0) {
      await cancelCharges(account);
      await makeAllDue(service.database, account);
    }
    if (batch === otherAccountAfter) await reconcileSender(senderAccount);
    expect(await expectPendingLinesListed(service.database)).toBeGreaterThan(0);
    await reconcile(account);
    await expectPendingLinesListed(service.database);
  }
  // Decides the lines that waited for a line of the last batch.
  await reconcile(account);
  const results = await listResults(account);
  await makeAllDue(service.database, account);
  await reconcile(account);
  expect(await listResults(account)).toEqual(results);
  // ANALYZE gives the planner statistics of this account alone, as during an import of another
  // account. The next arrival uses the same ids, so this account is deleted.
  await run('ANALYZE');
  await withoutTriggers(service.database.pool, async (client) => {
    await client.query('DELETE FROM bank_account WHERE id IN ($1, $2)', [account, senderAccount]);
  });
  return results;
}

async function reconcileSender(senderAccount: number): Promise<void> {
  const sent = ownTransferIds(copies).map((e2e, index) => ({
    ...{ nsu: index + 1, is_credit: false, cents: 1_000, type: 'DEBIT_PIX', second: 0 },
    e2e,
  }));
  await addLines(senderAccount, sent);
  await reconcile(senderAccount);
}

const openingLines = (count: number): ScenarioLine[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ nsu: firstOpeningNsu + index, is_credit: true, cents: 100, type: 'CREDIT_PIX' },
    second: index - count,
  }));

it('decides the same outcomes in every order and batch size of arrival, with each break once', async () => {
  const lines = scenarioLines(copies);
  const inOrder = await decideInBatches(101, { lines, batchSize: 1_000 });
  const mixed = {
    lines: shuffleItems(lines, 7),
    batchSize: 61,
    cancelledAfter: 1,
    otherAccountAfter: 2,
  };
  expect(await decideInBatches(102, mixed)).toEqual(inOrder);
  const backwards = {
    lines: [...lines].reverse(),
    batchSize: 97,
    cancelledAfter: 1,
    otherAccountAfter: 1,
  };
  expect(await decideInBatches(103, backwards)).toEqual(inOrder);
  // More lines than one batch decides. The lines that the sender account defers come last.
  expect(await decideInBatches(104, { lines, batchSize: 1_000, openingCount: 990 })).toEqual(
    inOrder,
  );

  const { rows } = await run(
    `SELECT kind, count(*)::int FROM break
     WHERE account_id = 101 AND state = 'open' GROUP BY kind ORDER BY kind`,
  );
  expect(Object.fromEntries(rows.map(({ kind, count }) => [kind, count / copies]))).toEqual(
    openBreaksPerCopy,
  );
  const linesWithSeveralBreaks = await run(
    `SELECT nsu FROM break
     WHERE account_id = 101 AND state = 'open' GROUP BY nsu HAVING count(*) > 1`,
  );
  expect(linesWithSeveralBreaks.rows).toEqual([]);
}, 120_000);
