// Random worlds of facts, in whatever order and batches they become known: the same rows in the
// end, and one event for each match that is made and for each that ends.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Facts } from '../../../src/reconciliation/decide/model.js';
import { expectedPaymentFacts, facts, lineFacts } from '../../support/facts.js';
import { makeAllDue, reconciliationOn } from '../../support/reconciliation.js';
import { matchRule, RulesSetup } from '../../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { isLongForm } from '../../support/long-form.js';
import { shuffledBy, world } from '../../support/worlds.js';
import { recordedQueues } from '../../support/recorded-queues.js';

const seed = Number(process.env.SEED ?? 20_261_122);
const worlds = Number(process.env.WORLDS ?? (isLongForm ? 12 : 2));
const queueOf = recordedQueues();

let service: ServiceDatabase;
beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());

const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
const json = (value: unknown) =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? one.toString() : one));
/** No line is fresh and no debit has time to appear: every world is decided at once. */
const reconcile = (accountId: number, partSize: number) =>
  reconciliationOn(service.database, queueOf, {
    ...{ visibilityBoundMs: 0, partSize },
  }).reconciliation.reconcile({ accountId });

/** The id of a payment in an account, from its name in the world. */
const uuidOf = (accountId: number, name: string) =>
  `00000000-0000-4000-8000-${accountId.toString(16).padStart(8, '0')}${Buffer.from(name)
    .toString('hex')
    .padStart(4, '0')
    .slice(-4)}`;

/** States in which an operation has no end yet. */
const unended = `('unknown', 'sending', 'awaiting_approval')`;

async function addPayments(accountId: number, payments: Facts['expectedPayments']): Promise<void> {
  for (const { id: name, references, ...payment } of payments) {
    const id = uuidOf(accountId, name);
    const { isCredit, amountCents, isMultiUse, counterpartyDocument, operationState } = payment;
    if (payment.declared) {
      await addDeclaredPayment(accountId, { ...payment, id: name, references });
      continue;
    }
    await run(
      `WITH o AS (
         INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts,
           response_status, created_at, next_action_at, ended_at)
         VALUES ($1, $2, $3, $4, 'h', '{}', 1, CASE WHEN $5 THEN NULL ELSE 200 END, $6,
           CASE WHEN $4::operation_state IN ${unended} THEN now() END,
           CASE WHEN $4::operation_state IN ${unended} THEN NULL ELSE now() END)
       ), attempt AS (
         INSERT INTO operation_attempt (account_id, operation_id, number, started_at, send_by)
         VALUES ($1, $2, 1, '2026-03-02T00:00:30Z', '2026-03-02T01:15:00Z')
       ), e AS (
         INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents,
           is_multi_use, counterparty_document, created_at)
         VALUES ($1, $2, $2, $3, $7, $8, $9, $10, $6)
       ), r AS (
         INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
         SELECT $1, kind, value, $2 FROM jsonb_to_recordset($11::jsonb) AS r(kind text, value text)
       )
       INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
         amount_cents)
       SELECT $1, $2::text, $2, $2, 'BANKSLIP', $8 WHERE $7`,
      ...[accountId, id, isCredit ? 'create_charge' : 'create_transfer', operationState],
      ...[payment.isWithoutResponse, payment.createdAt, isCredit, amountCents, isMultiUse],
      ...[counterpartyDocument, json(references)],
    );
    if (payment.withdrawal !== null)
      await run(
        `INSERT INTO expected_payment_fact (account_id, expected_payment_id, kind, bank_time)
         VALUES ($1, $2, $3, now())`,
        ...[accountId, id, payment.withdrawal],
      );
  }
}

async function addDeclaredPayment(
  accountId: number,
  { id: name, references, accepted, declared, ...payment }: Facts['expectedPayments'][number],
): Promise<void> {
  const id = uuidOf(accountId, name);
  const { amountCents, isCredit, counterpartyDocument, createdAt } = payment;
  const { dateFrom, dateTo, text, matching, cancelledAt } = declared ?? {};
  const isRange = amountCents === null;
  await run(
    `WITH e AS (
       INSERT INTO expected_payment (account_id, id, kind, is_credit, amount_cents, is_multi_use,
         counterparty_document, created_at, external_id, version, amount_from_cents,
         amount_to_cents, tolerance_cents, least_cents, most_cents, date_from, date_to, due_date,
         text_pattern, cancelled_at)
       VALUES ($1, $2::uuid, 'declared', $3, $4, false, $5::text, $6, $2::uuid::text, 1, $7, $8, $9,
         $10::bigint, $11::bigint, $12::date, $13::date, $13::date::text, $14, $15::timestamptz)
     ), v AS (
       INSERT INTO expected_payment_version (account_id, expected_payment_id, version, action,
         actor, terms, least_cents, most_cents, date_from, date_to, counterparty_document)
       VALUES ($1, $2::uuid, 1, 'declared', 'test', '{}', $10::bigint, $11::bigint, $12::date,
         $13::date, $5::text)
     ), f AS (
       INSERT INTO expected_payment_fact (account_id, expected_payment_id, kind, bank_time)
       SELECT $1, $2::uuid, 'cancelled', $15::timestamptz WHERE $15::timestamptz IS NOT NULL
     )
     INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
     SELECT $1, kind, value, $2::uuid
     FROM jsonb_to_recordset($16::jsonb) AS r(kind text, value text)`,
    ...[accountId, id, isCredit, amountCents, counterpartyDocument, createdAt],
    ...[isRange ? accepted?.fromCents : null, isRange ? accepted?.toCents : null],
    isRange ? 0n : (accepted?.toCents ?? 0n) - amountCents,
    ...[matching?.fromCents, matching?.toCents, dateFrom, dateTo, text, cancelledAt],
    json(references),
  );
}

const addLines = (accountId: number, lines: Facts['lines']) =>
  run(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       correlation_id, external_id, end_to_end_id, original_end_to_end_id, counterparty,
       counterparty_document, balance_previous_cents, current_balance_cents, occurred_at,
       content_hash, content)
     SELECT $1, nsu, 'x', "isCredit", "amountCents", "typeName", "correlationId", "externalId",
       "endToEndId", "originalEndToEndId", counterparty, "counterpartyDocument", 0, 0,
       "occurredAt", 'h', '{}'
     FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (nsu bigint, "isCredit" boolean,
       "amountCents" bigint, "typeName" text, "correlationId" text, "externalId" text,
       "endToEndId" text, "originalEndToEndId" text, counterparty text,
       "counterpartyDocument" text, "occurredAt" timestamptz)) WITH ORDINALITY AS r
     ORDER BY ordinality`,
    accountId,
    json(lines),
  );

/** The matches, totals, classifications, outcomes and open breaks, with the names of the world. */
async function rowsOf(accountId: number): Promise<string[]> {
  const { rows } = await run(
    `SELECT concat_ws(' ', 'match', nsu, expected_payment_id, amount_cents, role, rule) AS row
     FROM match WHERE account_id = $1 AND unlinked_at IS NULL
     UNION ALL SELECT concat_ws(' ', 'total', expected_payment_id, payment_count, paid_cents,
       settlement) FROM expected_payment_total WHERE account_id = $1
     UNION ALL SELECT concat_ws(' ', category, nsu, rule) FROM classification WHERE account_id = $1
     UNION ALL SELECT concat_ws(' ', state, nsu) FROM line_outcome WHERE account_id = $1
     UNION ALL SELECT concat_ws(' ', 'break', kind, subject, amount_cents) FROM break
     WHERE account_id = $1 AND state = 'open'`,
    accountId,
  );
  const account = accountId.toString(16).padStart(8, '0');
  return rows.map(({ row }) => (row as string).replaceAll(account, 'account')).sort();
}

/** How often each live match was made more often than it ended: once, for every one. */
async function balanceOfEvents(accountId: number) {
  const { rows } = await run(
    `WITH recorded AS (
       SELECT data::jsonb AS data, type FROM event WHERE account_id = $1
     ), counted AS (
       SELECT (data ->> 'nsu')::bigint AS nsu,
         COALESCE(data ->> 'correlationId', data ->> 'operationId',
           data ->> 'expectedPaymentId') AS payment,
         CASE WHEN type = 'match.unlinked' THEN -1 ELSE 1 END AS times
       FROM recorded
       WHERE type = 'match.unlinked' OR type LIKE 'charge.%' OR type LIKE 'transfer.%'
         OR type LIKE 'expected_payment.%'
     )
     SELECT nsu::int, payment, sum(times)::int AS live FROM counted
     GROUP BY nsu, payment HAVING sum(times) <> 0 ORDER BY nsu, payment`,
    accountId,
  );
  return rows;
}

const liveMatches = async (accountId: number) =>
  (
    await run(
      `SELECT nsu::int, expected_payment_id::text AS payment, 1 AS live FROM match
       WHERE account_id = $1 AND unlinked_at IS NULL ORDER BY nsu, payment`,
      accountId,
    )
  ).rows;

async function createAccount(hasRules: boolean): Promise<number> {
  const { id } = await service.database.prisma.bankAccount.create({
    data: { slug: `w${Math.random()}`, goLiveAt: new Date(0) },
  });
  if (hasRules)
    await new RulesSetup(() => ({ ...service, accountId: id })).declareActiveRule(
      matchRule({ combines: true }),
    );
  return id;
}

/** Makes the facts known step by step, each in its own batch, and each decided twice. */
async function decideStepwise(
  all: Facts,
  keys: number[],
  { size, partSize = 1_000 }: { size: number; partSize?: number },
): Promise<number> {
  const accountId = await createAccount(all.rules.length > 0);
  const lines = shuffledBy(all.lines, keys);
  const payments = shuffledBy(all.expectedPayments, [...keys].reverse());
  for (let from = 0; from < Math.max(lines.length, payments.length, 1); from += size) {
    await addPayments(accountId, payments.slice(from, from + size));
    await addLines(accountId, lines.slice(from, from + size));
    await makeAllDue(service.database, accountId);
    await reconcile(accountId, partSize);
    await reconcile(accountId, partSize);
  }
  return accountId;
}

it('gives the same rows and one event for each change, in whatever batches facts come', async () => {
  const samples = fc.sample(
    fc.tuple(world, fc.array(fc.integer(), { minLength: 8, maxLength: 8 })),
    { seed, numRuns: worlds },
  );
  for (const [all, keys] of samples) {
    // What people decide is tried by the tests of their actions. A withdrawn request that a line
    // pays is taken up again, and stays so when another payment takes the line: see not-executed.
    const expectedPayments = all.expectedPayments.map((one) =>
      one.declared ? one : { ...one, withdrawal: null, isWithdrawn: false },
    );
    const plain: Facts = { ...all, expectedPayments, links: [], separated: [], decisions: [] };
    const atOnce = await decideStepwise(plain, [0], { size: 100 });
    const expected = await rowsOf(atOnce);
    // Parts of a batch are loaded while others are decided.
    const sizes = [{ size: 1 }, { size: 3 }, { size: 100, partSize: 1 }, { size: 9, partSize: 2 }];
    for (const size of sizes) {
      const accountId = await decideStepwise(plain, keys, size);
      expect(await rowsOf(accountId)).toEqual(expected);
      expect(await balanceOfEvents(accountId)).toEqual(await liveMatches(accountId));
    }
    expect(await balanceOfEvents(atOnce)).toEqual(await liveMatches(atOnce));
  }
}, 180_000);

it('sums and reports the payments of a QR code that several parts of a batch decide', async () => {
  const code = expectedPaymentFacts({
    ...{ id: 'q', isMultiUse: true },
    references: [{ kind: 'correlation_id', value: 'code' }],
  });
  const lines = Array.from({ length: 12 }, (_, index) =>
    lineFacts({ nsu: BigInt(index + 1), correlationId: 'code' }),
  );
  const all = facts({ lines, expectedPayments: [code] });
  const accountId = await decideStepwise(all, [0], { size: 100, partSize: 1 });
  const { rows } = await run(
    `SELECT payment_count::int AS payments, paid_cents::int AS cents
     FROM expected_payment_total WHERE account_id = $1`,
    accountId,
  );
  expect(rows).toEqual([{ payments: 12, cents: 12_000 }]);
  const { rows: events } = await run(
    `SELECT (data::jsonb ->> 'nsu')::int AS nsu FROM event WHERE account_id = $1
     ORDER BY position`,
    accountId,
  );
  expect(events).toEqual(lines.map(({ nsu }) => ({ nsu: Number(nsu) })));
});
