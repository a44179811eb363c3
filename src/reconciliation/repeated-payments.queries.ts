// Repeated payments with their refunded cents: the settlement of a later payment is net of earlier
// refunds.
import { opaqueAccountId, type Tx } from '../database.service.js';
import {
  refundedCentsOfMatch,
  joinRefundTotals,
} from '../expected-payments/refunded-amounts.queries.js';
import { Prisma } from '../generated/service/client.js';
import type { RepeatedPayment } from './net-settlement.js';

/**
 * The payments of those expected payments that have a fixed amount and were paid more than once.
 */
export async function listRepeatedPayments(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<RepeatedPayment[]> {
  if (expectedPaymentIds.length === 0) return [];
  return tx.$queryRaw<RepeatedPayment[]>`
    SELECT e.id AS "expectedPaymentId", line.nsu, m.amount_cents AS "amountCents",
           ${refundedCentsOfMatch} AS "refundedCents"
    FROM unnest(${expectedPaymentIds}::uuid[]) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT id FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND id = wanted.id AND is_credit
        AND NOT is_multi_use
        AND amount_cents IS NOT NULL OFFSET 0
    ) e
    CROSS JOIN LATERAL (
      SELECT nsu, amount_cents, count(*) OVER () AS times FROM match
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = e.id
        AND role = 'payment' AND unlinked_at IS NULL
      OFFSET 0
    ) m
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line WHERE account_id = ${opaqueAccountId(accountId)}
        AND nsu = m.nsu OFFSET 0
    ) line
    ${joinRefundTotals(Prisma.sql`e.id`)}
    WHERE m.times > 1`;
}
