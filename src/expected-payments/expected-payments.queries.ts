// Inserts expected payments and their references in bulk: a batch has a thousand items.
import type { Tx } from '../database.service.js';

export interface NewExpectedPaymentRow {
  id: string;
  isCredit: boolean;
  amountCents: bigint | null;
  dueDate: string | null;
  terms: string | null;
  counterpartyDocument?: string | null;
  isMultiUse: boolean;
}

export async function insertExpectedPayments(
  tx: Tx,
  { accountId, operationId, kind }: { accountId: number; operationId: string; kind: string },
  payments: NewExpectedPaymentRow[],
): Promise<void> {
  // Amounts as text: a JSON number would pass through a float.
  const rows = payments.map((row) => ({
    ...row,
    amountCents: row.amountCents?.toString() ?? null,
  }));
  await tx.$executeRaw`
    INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents,
      due_date, terms, is_multi_use, counterparty_document)
    SELECT ${accountId}, id, ${operationId}::uuid, ${kind}, "isCredit", "amountCents"::bigint,
           "dueDate", terms, "isMultiUse", "counterpartyDocument"
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS r(id uuid, "isCredit" boolean, "amountCents" text, "dueDate" text, terms text,
           "isMultiUse" boolean, "counterpartyDocument" text)`;
}

export interface NewReferenceRow {
  expectedPaymentId: string;
  kind: string;
  value: string;
}

/** Idempotent: references that are already stored stay as they are. */
export async function insertReferences(
  tx: Tx,
  accountId: number,
  rows: NewReferenceRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
    SELECT ${accountId}, kind, value, "expectedPaymentId"
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS r("expectedPaymentId" uuid, kind text, value text)
    ON CONFLICT DO NOTHING`;
}
