// What the service had asked for in that year: put into its tables as its rooms write them, many rows at once.
import type pg from 'pg';
import type { Expectation } from './book.js';
import type { Year } from './generate.js';

const chunkSize = 10_000;

export interface Ground {
  pool: pg.Pool;
  accountId: number;
  /** Our clock less the bank's, in milliseconds. */
  aheadMs: number;
}

type Row = Record<string, unknown>;

/** Everything that was expected, with its operations, charges, transfers, bills and refunds. */
export async function layGround(ground: Ground, { book }: Year): Promise<void> {
  const ours = (at: number) => new Date(at + ground.aheadMs).toISOString();
  const all = book.expectations;
  const operations = new Map(all.map((each) => [each.operationId, each]));
  await insert(
    ground,
    operationSql,
    [...operations.values()].map((each) => operationRow(each, ours)),
  );
  await insert(
    ground,
    attemptSql,
    [...operations.values()].map((each) => ({
      ...operationRow(each, ours),
      clockOffsetMs: -ground.aheadMs,
    })),
  );
  await insert(
    ground,
    expectedSql,
    all.map((each) => expectedRow(each, ours)),
  );
  const references = all.flatMap(({ id, references: told }) => told.map((one) => ({ id, ...one })));
  await insert(ground, referenceSql, references);
  await insert(
    ground,
    chargeSql,
    all.filter(({ charge }) => charge).map((each) => chargeRow(each, ours)),
  );
  await insert(ground, transferSql, transferRows(all, ours));
  await insert(
    ground,
    billSql,
    all.filter(({ billCode }) => billCode).map((each) => expectedRow(each, ours)),
  );
  await insert(
    ground,
    refundSql,
    all
      .filter(({ refundOf }) => refundOf)
      .map((each) => ({
        ...expectedRow(each, ours),
        originalNsu: each.refundOf?.nsu,
        nsu: each.reportedNsuOf?.nsu,
      })),
  );
  await ground.pool.query('ANALYZE');
}

/** The other side of what came from another account of ours, mirrored already. */
export async function layOtherAccount({ pool }: Ground, { book, goLiveAt }: Year): Promise<void> {
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO bank_account (slug, go_live_at, updated_at) VALUES ('other', $1, now()) RETURNING id`,
    [goLiveAt],
  );
  const sides = book.otherSides.map(({ endToEndId, cents, at }, place) => ({
    ...{ endToEndId, cents, nsu: place + 1, at: new Date(at).toISOString() },
  }));
  await insert({ pool, accountId: rows[0]?.id ?? 0, aheadMs: 0 }, otherSideSql, sides);
}

async function insert({ pool, accountId }: Ground, sql: string, rows: Row[]): Promise<void> {
  for (let from = 0; from < rows.length; from += chunkSize)
    await pool.query(sql, [accountId, JSON.stringify(rows.slice(from, from + chunkSize))]);
}

function operationRow(each: Expectation, ours: (at: number) => string): Row {
  const isUnknown = each.operationState === 'unknown';
  const createdAt = ours(each.createdAt);
  return {
    ...{ id: each.operationId, kind: each.kind, state: each.operationState, createdAt },
    endedAt: isUnknown ? null : createdAt,
    responseStatus: isUnknown ? null : each.operationState === 'rejected' ? 422 : 200,
    nextActionAt: isUnknown ? new Date(Date.now() + 86_400_000).toISOString() : null,
    sendBy: ours(each.createdAt + 5_000),
  };
}

function expectedRow(each: Expectation, ours: (at: number) => string): Row {
  const { id, operationId, kind, isCredit, cents, dueDate, terms, isMultiUse, billCode } = each;
  const createdAt = ours(each.createdAt);
  const withdrawnAt = each.isWithdrawn ? createdAt : null;
  return {
    ...{ id, operationId, kind, isCredit, cents, dueDate, terms, isMultiUse, billCode },
    ...{ createdAt, withdrawnAt },
  };
}

/** What the bank says of a charge is by its own clock; when it was asked, by ours. */
function chargeRow(each: Expectation, ours: (at: number) => string): Row {
  const { correlationId, type, cancelledAt, expiredAt } = each.charge ?? {};
  const bank = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
  const checked = cancelledAt ?? expiredAt;
  return {
    ...expectedRow(each, ours),
    ...{ correlationId, type, cancelledAt: bank(cancelledAt), expiredAt: bank(expiredAt) },
    checkedAt: checked === undefined ? null : ours(checked),
  };
}

function transferRows(all: Expectation[], ours: (at: number) => string): Row[] {
  const places = new Map<string, number>();
  return all
    .filter(({ transfer }) => transfer)
    .map((each) => {
      const position = places.get(each.operationId) ?? 0;
      places.set(each.operationId, position + 1);
      const { endToEndId, externalId, bankId, counterparty } = each.transfer ?? {};
      return {
        ...{ ...expectedRow(each, ours), endToEndId, externalId, bankId, counterparty, position },
        shape: each.kind === 'create_transfer_batch' ? 'batch' : 'manual',
        state: each.isWithdrawn ? 'rejected' : 'effective',
      };
    });
}

const from = (columns: string) => `FROM jsonb_to_recordset($2::jsonb) AS r(${columns})`;

const operationColumns = `id uuid, kind text, state text, "createdAt" timestamptz, "endedAt" timestamptz,
  "responseStatus" int, "nextActionAt" timestamptz, "sendBy" timestamptz,
  "clockOffsetMs" bigint`;

const operationSql = `
  INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts, response_status,
    next_action_at, ended_at, created_at, updated_at)
  SELECT $1, id, kind, state, 'h', '{}', 1, "responseStatus", "nextActionAt", "endedAt", "createdAt", "createdAt"
  ${from(operationColumns)}`;

const attemptSql = `
  INSERT INTO operation_attempt (account_id, operation_id, number, started_at, send_by, clock_offset_ms)
  SELECT $1, id, 1, "createdAt", "sendBy", "clockOffsetMs" ${from(operationColumns)}`;

const expectedColumns = `id uuid, "operationId" uuid, kind text, "isCredit" boolean, cents bigint, "dueDate" text,
  terms text, "isMultiUse" boolean, "billCode" text, "createdAt" timestamptz, "withdrawnAt" timestamptz`;

const expectedSql = `
  INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents, due_date, terms,
    is_multi_use, created_at, withdrawn_at)
  SELECT $1, id, "operationId", kind, "isCredit", cents, "dueDate", terms, "isMultiUse", "createdAt", "withdrawnAt"
  ${from(expectedColumns)}`;

const referenceSql = `
  INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
  SELECT $1, kind, value, id ${from('id uuid, kind text, value text')} ON CONFLICT DO NOTHING`;

const chargeSql = `
  INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type, amount_cents, due_date,
    cancelled_at, expired_at, checked_at, bank_status, created_at)
  SELECT $1, "correlationId", "operationId", id, type, cents, "dueDate", "cancelledAt", "expiredAt", "checkedAt",
         CASE WHEN "cancelledAt" IS NOT NULL THEN 'CANCELLED' WHEN "expiredAt" IS NOT NULL THEN 'EXPIRED' END,
         "createdAt"
  ${from(`${expectedColumns}, "correlationId" text, type text, "cancelledAt" timestamptz, "expiredAt" timestamptz,
    "checkedAt" timestamptz`)}`;

const transferSql = `
  INSERT INTO transfer (account_id, id, operation_id, position, shape, amount_cents, counterparty, end_to_end_id,
    external_id, bank_id, state, expected_payment_id, created_at, updated_at)
  SELECT $1, id, "operationId", position, shape, cents, counterparty, "endToEndId", "externalId", "bankId", state, id,
         "createdAt", "createdAt"
  ${from(`${expectedColumns}, position int, shape text, counterparty text, "endToEndId" text, "externalId" text,
    "bankId" text, state text`)}`;

const billSql = `
  INSERT INTO bill_payment (account_id, id, bar_code, amount_cents, bank_id, state, expected_payment_id, created_at,
    updated_at)
  SELECT $1, "operationId", "billCode", cents, "operationId"::text, 'paid', id, "createdAt", "createdAt"
  ${from(expectedColumns)}`;

const refundSql = `
  INSERT INTO refund (account_id, id, original_nsu, amount_cents, nsu, state, expected_payment_id, created_at, updated_at)
  SELECT $1, "operationId", "originalNsu", cents, nsu, 'accepted', id, "createdAt", "createdAt"
  ${from(`${expectedColumns}, "originalNsu" bigint, nsu bigint`)}`;

const otherSideSql = `
  INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name, end_to_end_id,
    balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
  SELECT $1, nsu, 'x', false, cents, 'DEBIT_TRANSFER_INTERNAL', "endToEndId", 0, 0, at, md5(nsu::text), '{}'
  ${from('nsu bigint, cents bigint, "endToEndId" text, at timestamptz')}`;
