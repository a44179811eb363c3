// Reads charges with their operations, the payments matched to them, and the refunds of those
// payments.
import type { Db } from '../database.service.js';

export interface MatchedChargePayment {
  nsu: bigint;
  amountCents: bigint;
  /** The total owed on the day of the payment; null when the payer chooses the amount. */
  owedCents: bigint | null;
  /** The part of the payment that was refunded to the payer. */
  refundedCents: bigint;
  endToEndId: string | null;
  occurredAt: Date;
}

export interface StoredChargeRow {
  correlationId: string;
  operationId: string;
  operationState: string;
  type: string;
  amountCents: bigint | null;
  dueDate: string | null;
  createdAt: Date;
  /** The bank's response; null while there is none. */
  response: string | null;
  isMultiUse: boolean;
  /** As last read by id at the bank. */
  bankStatus: string | null;
  bankDueDate: string | null;
  cancelledAt: Date | null;
  expiredAt: Date | null;
}

export interface ChargeFilters {
  /** The operation that created the charge. */
  operationId?: string | undefined;
  correlationId?: string | undefined;
  type?: string | undefined;
  /** The list's cursor: only charges of operations before this operation are listed. */
  before: string | null;
  limit: number;
}

export async function listStoredCharges(
  db: Db,
  accountId: number,
  { operationId, correlationId, type, before, limit }: ChargeFilters,
): Promise<StoredChargeRow[]> {
  return db.$queryRaw<StoredChargeRow[]>`
    SELECT c.correlation_id, c.operation_id, o.state AS "operationState", c.type, c.amount_cents,
           c.due_date, c.created_at,
           CASE WHEN o.state = 'succeeded' THEN o.response_body END AS response,
           e.is_multi_use, c.bank_status, c.bank_due_date, c.cancelled_at, c.expired_at
    FROM charge c
    JOIN operation o ON o.account_id = c.account_id AND o.id = c.operation_id
    JOIN expected_payment e ON e.account_id = c.account_id AND e.id = c.expected_payment_id
    WHERE c.account_id = ${accountId}
      AND (${operationId ?? null}::uuid IS NULL OR c.operation_id = ${operationId ?? null}::uuid)
      AND (${correlationId ?? null}::text IS NULL OR c.correlation_id = ${correlationId ?? null})
      AND (${type ?? null}::text IS NULL OR c.type = ${type ?? null})
      AND (${before}::uuid IS NULL OR c.operation_id < ${before}::uuid)
    ORDER BY c.operation_id DESC LIMIT ${limit}`;
}

/** The payments of charges, oldest first. */
export async function listMatchedChargePayments(
  db: Db,
  accountId: number,
  correlationIds: string[],
): Promise<(MatchedChargePayment & { correlationId: string })[]> {
  return db.$queryRaw`
    SELECT c.correlation_id, line.nsu, m.amount_cents, m.owed_cents, m.refunded_cents,
           line.end_to_end_id, line.occurred_at
    FROM charge c
    JOIN match m ON m.account_id = c.account_id AND m.expected_payment_id = c.expected_payment_id
      AND m.unlinked_at IS NULL AND m.role = 'payment'
    JOIN statement_line line ON line.account_id = m.account_id AND line.nsu = m.nsu
    WHERE c.account_id = ${accountId} AND c.correlation_id = ANY (${correlationIds}::text[])
    ORDER BY line.occurred_at, line.nsu`;
}

export interface ChargeRefundRow {
  id: string;
  originalNsu: bigint;
  amountCents: bigint;
  state: string;
  nsu: bigint | null;
  orderedBy: 'us' | 'bank';
  isWithdrawn: boolean;
  paidCents: bigint;
  reversedCents: bigint;
}

/**
 * The refunds of payments, oldest first: our own refunds, and refunds that the bank made without
 * our request.
 */
export async function listChargeRefunds(
  db: Db,
  accountId: number,
  nsus: bigint[],
): Promise<ChargeRefundRow[]> {
  return db.$queryRaw`
    SELECT r.id, r.original_nsu, r.amount_cents, r.state, r.nsu,
           'us' AS "orderedBy", e.withdrawn_at IS NOT NULL AS "isWithdrawn",
           COALESCE(total.paid_cents, 0) AS "paidCents",
           COALESCE(total.reversed_cents, 0) AS "reversedCents"
    FROM refund r
    JOIN expected_payment e ON e.account_id = r.account_id AND e.id = r.expected_payment_id
    LEFT JOIN expected_payment_total total
      ON total.account_id = r.account_id AND total.expected_payment_id = r.expected_payment_id
    WHERE r.account_id = ${accountId} AND r.original_nsu = ANY (${nsus}::bigint[])
    UNION ALL
    SELECT m.id, credit.nsu, m.amount_cents, 'accepted', debit.nsu, 'bank', false, m.amount_cents, 0
    FROM statement_line credit
    JOIN statement_line debit ON debit.account_id = credit.account_id AND NOT debit.is_credit
      AND debit.original_end_to_end_id = credit.end_to_end_id
    JOIN match m ON m.account_id = debit.account_id AND m.nsu = debit.nsu AND m.unlinked_at IS NULL
      AND m.role = 'reversal'
    WHERE credit.account_id = ${accountId} AND credit.nsu = ANY (${nsus}::bigint[])
    ORDER BY id`;
}
