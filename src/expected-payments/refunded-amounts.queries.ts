// What of a received line went back to its payer: one reading, for charges as they are told and for their review.
import { Prisma } from '../generated/service/client.js';

/** What our own refunds have given back of a credit (line), less what came back of them. */
export const refundedOf = Prisma.sql`
  SELECT COALESCE(sum(CASE m.role WHEN 'payment' THEN m.amount_cents ELSE -m.amount_cents END), 0)::bigint AS cents
  FROM refund r
  CROSS JOIN LATERAL (
    SELECT role, amount_cents, unlinked_at FROM match
    WHERE account_id = r.account_id AND expected_payment_id = r.expected_payment_id OFFSET 0
  ) m
  WHERE r.account_id = line.account_id AND r.original_nsu = line.nsu AND m.unlinked_at IS NULL`;

/** The debits that give back a credit (line) though nobody here has asked for it. */
export const returnsOf = Prisma.sql`
  SELECT m.expected_payment_id, m.nsu, m.amount_cents
  FROM statement_line debit
  CROSS JOIN LATERAL (
    SELECT expected_payment_id, nsu, amount_cents, role FROM match
    WHERE account_id = debit.account_id AND nsu = debit.nsu AND unlinked_at IS NULL OFFSET 0
  ) m
  WHERE m.role = 'reversal' AND debit.account_id = line.account_id AND debit.original_end_to_end_id = line.end_to_end_id AND NOT debit.is_credit`;

/** What has gone back of a credit (line), as `refunded` and, of what it paid of this expected payment, as `returned`. */
export const refundedSums = (expectedPaymentId: Prisma.Sql) => Prisma.sql`
  CROSS JOIN LATERAL (${refundedOf}) refunded
  CROSS JOIN LATERAL (
    SELECT COALESCE(sum(amount_cents), 0)::bigint AS cents FROM (${returnsOf}) given
    WHERE given.expected_payment_id = ${expectedPaymentId}
  ) returned`;

/** What has gone back of a payment (m) by a line that is matched to what is expected (e), with the sums above. */
export const refundedAmountOf = Prisma.sql`
  LEAST(m.amount_cents, returned.cents + CASE
    WHEN m.amount_cents = line.amount_cents OR refunded.cents >= line.amount_cents THEN refunded.cents
    ELSE 0 END)`;
