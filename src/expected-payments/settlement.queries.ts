// The SQL form of `settlementOfPayments`, for lists that are filtered by settlement. A test holds
// that both forms agree.
import { Prisma } from '../generated/service/client.js';
import { joinRefundTotals, refundedCentsOfMatch } from './refunded-amounts.queries.js';

/**
 * The received payments of an expected payment (`e`), as one row: `cents` in total, `returned` to
 * the payer, and the rest without the payments that were refunded in full: `gross`, `net` of
 * refunds, and the amount `owed` when the last of them was made.
 */
export const receivedTotals = Prisma.sql`
  SELECT COALESCE(sum(part.cents), 0)::bigint AS cents,
         COALESCE(sum(part.refunded), 0)::bigint AS returned,
         COALESCE(sum(part.cents) FILTER (WHERE part.cents > part.refunded), 0)::bigint AS gross,
         COALESCE(sum(part.cents - part.refunded), 0)::bigint AS net,
         (array_agg(part.owed ORDER BY part.occurred_at DESC, part.nsu DESC)
            FILTER (WHERE part.cents > part.refunded))[1] AS owed
  FROM (
    SELECT m.amount_cents AS cents, m.owed_cents AS owed, line.occurred_at, line.nsu,
           ${refundedCentsOfMatch} AS refunded
    FROM match m
    JOIN statement_line line ON line.account_id = m.account_id AND line.nsu = m.nsu
    ${joinRefundTotals(Prisma.sql`e.id`)}
    WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id
      AND m.unlinked_at IS NULL AND m.role = 'payment'
  ) part`;

/**
 * The settlement of an expected payment (`e`) that was paid: `received` has its `receivedTotals`,
 * `owed` is null when the payer chooses the amount.
 */
export const receivedSettlement = (owed: Prisma.Sql) => Prisma.sql`
  CASE WHEN received.gross = 0 THEN 'refunded'
       WHEN ${owed} IS NULL OR received.gross = ${owed} THEN 'settled'
       WHEN received.gross < ${owed} THEN 'partially_settled'
       WHEN e.is_multi_use OR received.net <= ${owed} THEN 'settled' ELSE 'overpaid' END`;
