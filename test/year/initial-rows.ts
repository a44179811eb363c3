// Inserts what the service requested during the year into its tables, many rows at once, in the
// form in which the modules write them.
import type pg from 'pg';
import type { Year } from './generate.js';
import type { YearPayment } from './year-builder.js';
import { withoutTriggers } from '../support/parent-rows.js';

const chunkSize = 10_000;

export interface InsertTarget {
  pool: pg.Pool;
  accountId: number;
  /** The service's clock less the bank's, in milliseconds. */
  clockAheadMs: number;
}

type Row = Record<string, unknown>;
/** Converts a time of the bank's clock to the service's clock. */
type ToServiceTime = (at: number) => string;

/** All expected payments with their operations, charges, transfers, bill payments and refunds. */
export async function insertInitialData(target: InsertTarget, { builder }: Year): Promise<void> {
  const toServiceTime = (at: number) => new Date(at + target.clockAheadMs).toISOString();
  const { payments } = builder;
  // The items of a batch share one operation.
  const operations = [
    ...new Map(payments.map((payment) => [payment.operationId, payment])).values(),
  ].map((payment) => operationRow(payment, toServiceTime));
  const paymentRows = (isWanted: (payment: YearPayment) => boolean) =>
    payments.filter(isWanted).map((payment) => paymentRow(payment, toServiceTime));
  await insertRows(target, operationSql, operations);
  await insertRows(
    target,
    attemptSql,
    operations.map((row) => ({ ...row, clockOffsetMs: -target.clockAheadMs })),
  );
  await insertRows(
    target,
    paymentSql,
    paymentRows(() => true),
  );
  await insertRows(
    target,
    taskSql,
    paymentRows(() => true),
  );
  await insertRows(
    target,
    withdrawalSql,
    paymentRows(({ isWithdrawn }) => isWithdrawn),
  );
  const references = payments.flatMap((payment) =>
    payment.references.map((reference) => ({ id: payment.id, ...reference })),
  );
  await insertRows(target, referenceSql, references);
  await insertRows(
    target,
    chargeSql,
    payments.filter(({ charge }) => charge).map((payment) => chargeRow(payment, toServiceTime)),
  );
  await insertRows(target, transferSql, transferRows(payments, toServiceTime));
  await insertRows(
    target,
    billSql,
    paymentRows(({ billCode }) => billCode !== null),
  );
  // Its original may come later than a refund here, which no service allows.
  await withoutTriggers(target.pool, (client) =>
    insertRows(
      { pool: client, accountId: target.accountId },
      refundSql,
      payments
        .filter(({ refundOf }) => refundOf)
        .map((payment) => ({
          ...paymentRow(payment, toServiceTime),
          originalNsu: payment.refundOf?.nsu,
          nsu: payment.reportedNsuOf?.nsu,
        })),
    ),
  );
  await target.pool.query('ANALYZE');
}

/** Another own account, with the debits of the transfers to this account already synced. */
export async function insertOtherAccount(
  { pool }: InsertTarget,
  { builder, goLiveAt }: Year,
): Promise<void> {
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO bank_account (slug, go_live_at, updated_at)
     VALUES ('other', $1, now()) RETURNING id`,
    [goLiveAt],
  );
  const debits = builder.ownTransferDebits.map(({ endToEndId, cents, at }, index) => ({
    ...{ endToEndId, cents, nsu: index + 1, at: new Date(at).toISOString() },
  }));
  const otherAccount = { pool, accountId: rows[0]?.id ?? 0, clockAheadMs: 0 };
  await insertRows(otherAccount, ownTransferDebitSql, debits);
}

async function insertRows(
  { pool, accountId }: { pool: pg.Pool | pg.PoolClient; accountId: number },
  sql: string,
  rows: Row[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += chunkSize)
    await pool.query(sql, [accountId, JSON.stringify(rows.slice(from, from + chunkSize))]);
}

function operationRow(payment: YearPayment, toServiceTime: ToServiceTime): Row {
  const isUnknown = payment.operationState === 'unknown';
  const createdAt = toServiceTime(payment.createdAt);
  return {
    ...{ id: payment.operationId, kind: payment.kind, state: payment.operationState, createdAt },
    endedAt: isUnknown ? null : createdAt,
    responseStatus: isUnknown ? null : payment.operationState === 'rejected' ? 422 : 200,
    nextActionAt: isUnknown ? new Date(Date.now() + 86_400_000).toISOString() : null,
    sendBy: toServiceTime(payment.createdAt + 5_000),
  };
}

function paymentRow(payment: YearPayment, toServiceTime: ToServiceTime): Row {
  const { id, operationId, kind, isCredit, cents, dueDate, terms, isMultiUse, billCode } = payment;
  const createdAt = toServiceTime(payment.createdAt);
  const withdrawnAt = payment.isWithdrawn ? createdAt : null;
  return {
    ...{ id, operationId, kind, isCredit, cents, dueDate, terms, isMultiUse, billCode },
    ...{ createdAt, withdrawnAt },
  };
}

/** The bank's clock sets the cancellation and the expiry, the service's clock the check. */
function chargeRow(payment: YearPayment, toServiceTime: ToServiceTime): Row {
  const { correlationId, type, cancelledAt, expiredAt } = payment.charge ?? {};
  const toBankTime = (at: number | undefined) =>
    at === undefined ? null : new Date(at).toISOString();
  const checkedAt = cancelledAt ?? expiredAt;
  return {
    ...paymentRow(payment, toServiceTime),
    ...{ correlationId, type },
    ...{ cancelledAt: toBankTime(cancelledAt), expiredAt: toBankTime(expiredAt) },
    checkedAt: checkedAt === undefined ? null : toServiceTime(checkedAt),
  };
}

function transferRows(payments: YearPayment[], toServiceTime: ToServiceTime): Row[] {
  const nextPositions = new Map<string, number>();
  return payments
    .filter(({ transfer }) => transfer)
    .map((payment) => {
      const position = nextPositions.get(payment.operationId) ?? 0;
      nextPositions.set(payment.operationId, position + 1);
      const { endToEndId, externalId, bankId, counterparty } = payment.transfer ?? {};
      return {
        ...paymentRow(payment, toServiceTime),
        ...{ endToEndId, externalId, bankId, counterparty, position },
        shape: payment.kind === 'create_transfer_batch' ? 'batch' : 'manual',
        state: payment.isWithdrawn ? 'rejected' : 'effective',
      };
    });
}

const from = (columns: string) => `FROM jsonb_to_recordset($2::jsonb) AS r(${columns})`;

const operationColumns = `
  id uuid, kind text, state operation_state, "createdAt" timestamptz, "endedAt" timestamptz,
  "responseStatus" int, "nextActionAt" timestamptz, "sendBy" timestamptz,
  "clockOffsetMs" bigint`;

const operationSql = `
  INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts,
    response_status, next_action_at, ended_at, created_at, updated_at)
  SELECT $1, id, kind, state, 'h', '{}', 1,
         "responseStatus", "nextActionAt", "endedAt", "createdAt", "createdAt"
  ${from(operationColumns)}`;

const attemptSql = `
  INSERT INTO operation_attempt (account_id, operation_id, number, started_at, send_by,
    clock_offset_ms, clock_offset_max_ms)
  SELECT $1, id, 1, "createdAt", "sendBy", "clockOffsetMs", "clockOffsetMs"
  ${from(operationColumns)}`;

const paymentColumns = `
  id uuid, "operationId" uuid, kind text, "isCredit" boolean, cents bigint, "dueDate" text,
  terms text, "isMultiUse" boolean, "billCode" text, "createdAt" timestamptz,
  "withdrawnAt" timestamptz`;

const paymentSql = `
  INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents,
    due_date, terms, is_multi_use, created_at)
  SELECT $1, id, "operationId", kind, "isCredit", cents,
         "dueDate", terms, "isMultiUse", "createdAt"
  ${from(paymentColumns)}`;

const taskSql = `
  INSERT INTO reconciliation_task (account_id, kind, expected_payment_id)
  SELECT $1, 'payment', id ${from(paymentColumns)}`;

const withdrawalSql = `
  INSERT INTO expected_payment_fact (account_id, expected_payment_id, kind, bank_time, recorded_at)
  SELECT $1, id, 'rejected', "withdrawnAt", "withdrawnAt"
  ${from(paymentColumns)} WHERE "withdrawnAt" IS NOT NULL`;

const referenceSql = `
  INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
  SELECT $1, kind, value, id
  ${from('id uuid, kind text, value text')}
  ON CONFLICT DO NOTHING`;

const chargeSql = `
  INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
    amount_cents, cancelled_at, expired_at, checked_at, bank_status, created_at)
  SELECT $1, "correlationId", "operationId", id, type,
         cents, "cancelledAt", "expiredAt", "checkedAt",
         CASE WHEN "cancelledAt" IS NOT NULL THEN 'CANCELLED'
              WHEN "expiredAt" IS NOT NULL THEN 'EXPIRED' END,
         "createdAt"
  ${from(`${paymentColumns}, "correlationId" text, type text, "cancelledAt" timestamptz,
    "expiredAt" timestamptz, "checkedAt" timestamptz`)}`;

const transferSql = `
  INSERT INTO transfer (account_id, id, operation_id, position, shape, amount_cents, counterparty,
    end_to_end_id, external_id, bank_id, state, expected_payment_id, created_at, updated_at)
  SELECT $1, id, "operationId", position, shape, cents, counterparty,
         "endToEndId", "externalId", "bankId", state, id, "createdAt", "createdAt"
  ${from(`${paymentColumns}, position int, shape transfer_shape, counterparty text,
    "endToEndId" text, "externalId" text, "bankId" text, state transfer_state`)}`;

const billSql = `
  INSERT INTO bill_payment (account_id, id, bar_code, amount_cents, bank_id, state,
    expected_payment_id, created_at)
  SELECT $1, "operationId", "billCode", cents, "operationId"::text, 'paid',
         id, "createdAt"
  ${from(paymentColumns)}`;

const refundSql = `
  INSERT INTO refund (account_id, id, original_nsu, amount_cents, nsu, state,
    expected_payment_id, created_at)
  SELECT $1, "operationId", "originalNsu", cents, nsu, 'accepted',
         id, "createdAt"
  ${from(`${paymentColumns}, "originalNsu" bigint, nsu bigint`)}`;

const ownTransferDebitSql = `
  INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
    end_to_end_id, balance_previous_cents, current_balance_cents, occurred_at, content_hash,
    content)
  SELECT $1, nsu, 'x', false, cents, 'DEBIT_TRANSFER_INTERNAL',
         "endToEndId", 0, 0, at, md5(nsu::text),
         '{}'
  ${from('nsu bigint, cents bigint, "endToEndId" text, at timestamptz')}`;
