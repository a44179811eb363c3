// Inserts expected payments, their references and their facts in bulk: a batch has a thousand
// items.
import type { SqlTx } from '../../platform/postgres/database.service.js';
import {
  Prisma,
  type ExpectedPayment,
  type ExpectedPaymentReference,
} from '../../generated/service/client.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import { recordPaymentTasks } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import { withdrawalKinds, type ReinstatementKind, type WithdrawalKind } from './facts.js';
import type { Reference } from './references.js';

export interface NewExpectedPaymentRow extends Pick<
  ExpectedPayment,
  'isCredit' | 'amountCents' | 'dueDate' | 'isMultiUse'
> {
  /** Discount, fine and interest, written by `serializeAdjustments`; null when there are none. */
  terms: string | null;
  /** The payer's or beneficiary's tax id, from `normalizeTaxId`; null when unknown. */
  counterpartyDocument?: string | null;
}

/** An expected payment of an operation, and the kind of that operation. */
export interface IdentifiedPayment extends NewExpectedPaymentRow {
  id: string;
  operationId: string;
  kind: string;
}

export function expectedPaymentsWrite(
  accountId: number,
  payments: readonly IdentifiedPayment[],
): Write {
  // Amounts as text: a JSON number would pass through a float.
  const rows = payments.map((row) => ({
    ...row,
    amountCents: row.amountCents?.toString() ?? null,
  }));
  const sql = Prisma.sql`
    INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents,
      due_date, terms, is_multi_use, counterparty_document, created_at, created_at_bank_time)
    SELECT ${accountId}::int, id, "operationId", kind, "isCredit", "amountCents"::bigint,
           "dueDate", terms, "isMultiUse", "counterpartyDocument",
           now.at, now.at + (SELECT clock_offset_ms FROM statement_state
             WHERE account_id = ${accountId}) * interval '1 millisecond'
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS r(id uuid, "operationId" uuid, kind text, "isCredit" boolean, "amountCents" text,
           "dueDate" text, terms text, "isMultiUse" boolean, "counterpartyDocument" text)
    CROSS JOIN (SELECT clock_timestamp() AS at) now`;
  return { sql, rows: payments.length };
}

/** A reference of an expected payment. */
export type PaymentReference = Reference & Pick<ExpectedPaymentReference, 'expectedPaymentId'>;

/** Idempotent: references that are already stored stay as they are. */
export function referencesWrite(accountId: number, rows: readonly PaymentReference[]): Write {
  const sql = Prisma.sql`
    INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
    SELECT ${accountId}::int, kind, value, "expectedPaymentId"
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS r("expectedPaymentId" uuid, kind text, value text)
    ON CONFLICT DO NOTHING`;
  return { sql, rows: null };
}

/** Payments by their ids, or all payments of operations. */
export type SelectedPayments = { ids: string[] } | { operationIds: string[] };

/**
 * Idempotent: a payment that is withdrawn already gets no second withdrawal, and a payment that is
 * not withdrawn gets no reinstatement.
 */
export async function insertFacts(
  tx: SqlTx,
  accountId: number,
  selected: SelectedPayments,
  kind: WithdrawalKind | ReinstatementKind,
): Promise<void> {
  const isWithdrawal = withdrawalKinds.some((withdrawal) => withdrawal === kind);
  const isByIds = 'ids' in selected;
  const values = isByIds ? selected.ids : selected.operationIds;
  if (values.length === 0) return;
  const column = isByIds ? Prisma.sql`e.id` : Prisma.sql`e.operation_id`;
  const changed = await tx.$queryRaw<{ id: string }[]>`
    INSERT INTO expected_payment_fact (account_id, expected_payment_id, kind, bank_time)
    SELECT e.account_id, e.id, ${kind}, clock_timestamp()
      + COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond'
    FROM (
      -- Locked: a concurrent fact about the same payment is recorded before or after this one.
      SELECT account_id, id FROM expected_payment e
      WHERE account_id = ${accountId} AND ${column} = ANY (${values}::uuid[])
        AND (withdrawn_at IS NULL) = ${isWithdrawal}
      ORDER BY id FOR NO KEY UPDATE
    ) e
    LEFT JOIN statement_state s ON s.account_id = e.account_id
    RETURNING expected_payment_id AS id`;
  const ids = changed.map(({ id }) => id);
  await recordPaymentTasks(tx, accountId, ids);
}
