// What has gone back of payments of which there were several: what is told of a later one goes by what was kept.
import { ofAccount, type Tx } from '../database.service.js';
import { refundedAmountOf, refundedSums } from '../expected-payments/refunded-amounts.queries.js';
import { Prisma } from '../generated/service/client.js';
import type { OneOfPayments } from './net-settlement.js';

/** The payments of those of these expected payments that were paid more than once, and are of a known amount. */
export async function listPaidAgain(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<OneOfPayments[]> {
  if (expectedPaymentIds.length === 0) return [];
  return tx.$queryRaw<OneOfPayments[]>`
    SELECT e.id AS "expectedPaymentId", line.nsu, m.amount_cents AS "amountCents",
           ${refundedAmountOf} AS "refundedCents"
    FROM unnest(${expectedPaymentIds}::uuid[]) AS asked(id)
    CROSS JOIN LATERAL (
      SELECT id FROM expected_payment
      WHERE account_id = ${ofAccount(accountId)} AND id = asked.id AND is_credit AND NOT is_multi_use
        AND amount_cents IS NOT NULL OFFSET 0
    ) e
    CROSS JOIN LATERAL (
      SELECT nsu, amount_cents, count(*) OVER () AS times FROM match
      WHERE account_id = ${ofAccount(accountId)} AND expected_payment_id = e.id AND role = 'payment' AND unlinked_at IS NULL
      OFFSET 0
    ) m
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line WHERE account_id = ${ofAccount(accountId)} AND nsu = m.nsu OFFSET 0
    ) line
    ${refundedSums(Prisma.sql`e.id`)}
    WHERE m.times > 1`;
}
