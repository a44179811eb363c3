// SQL that reads bill payments with their operation and expected payment.
import type { Db } from '../database.service.js';
import type { BillPaymentState } from './bill-payment-state.js';

export interface BillPaymentViewRow {
  id: string;
  operationState: string;
  barCode: string;
  amountCents: bigint;
  bankId: string | null;
  bankStatus: string | null;
  state: BillPaymentState;
  scheduledFor: Date | null;
  createdAt: Date;
  /** The bank's response; null while there is none. */
  responseBody: string | null;
  isWithdrawn: boolean;
  expectedPaymentId: string;
}

export interface BillPaymentFilters {
  id?: string | undefined;
  bankId?: string | undefined;
  barCode?: string | undefined;
  state?: BillPaymentState | undefined;
  /** The list's cursor: only payments older than this payment are listed. */
  before: string | null;
  limit: number;
}

export async function listBillPaymentRows(
  db: Db,
  accountId: number,
  { id, bankId, barCode, state, before, limit }: BillPaymentFilters,
): Promise<BillPaymentViewRow[]> {
  return db.$queryRaw<BillPaymentViewRow[]>`
    SELECT p.id, o.state AS "operationState", p.bar_code, p.amount_cents, p.bank_id, p.bank_status,
           p.state, p.scheduled_for, p.created_at,
           CASE WHEN o.state = 'succeeded' THEN o.response_body END AS "responseBody",
           e.withdrawn_at IS NOT NULL AS "isWithdrawn",
           p.expected_payment_id
    FROM bill_payment p
    JOIN operation o ON o.account_id = p.account_id AND o.id = p.id
    JOIN expected_payment e ON e.account_id = p.account_id AND e.id = p.expected_payment_id
    WHERE p.account_id = ${accountId}
      AND (${id ?? null}::uuid IS NULL OR p.id = ${id ?? null}::uuid)
      AND (${bankId ?? null}::text IS NULL OR p.bank_id = ${bankId ?? null})
      AND (${barCode ?? null}::text IS NULL OR p.bar_code = ${barCode ?? null})
      AND (${state ?? null}::text IS NULL OR p.state = ${state ?? null})
      AND (${before}::uuid IS NULL OR p.id < ${before}::uuid)
    ORDER BY p.id DESC LIMIT ${limit}`;
}
