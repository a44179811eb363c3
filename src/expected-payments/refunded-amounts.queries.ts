// SQL fragments for the refunded part of a received line (`line`): the only definition, used by
// charges and by the settlement review.
import { Prisma } from '../generated/service/client.js';

/** Total of our own refunds of a credit (`line`), less the reversals of those refunds. */
export const ownRefundTotal = Prisma.sql`
  SELECT COALESCE(sum(CASE m.role WHEN 'payment' THEN m.amount_cents ELSE -m.amount_cents END), 0)
           ::bigint AS cents
  FROM refund r
  CROSS JOIN LATERAL (
    SELECT role, amount_cents, unlinked_at FROM match
    WHERE account_id = r.account_id AND expected_payment_id = r.expected_payment_id OFFSET 0
  ) m
  WHERE r.account_id = line.account_id AND r.original_nsu = line.nsu AND m.unlinked_at IS NULL`;

/**
 * The debits with which the bank itself reversed a credit (`line`): we did not request a refund for
 * them.
 */
export const bankReversals = Prisma.sql`
  SELECT m.expected_payment_id, m.nsu, m.amount_cents
  FROM statement_line debit
  CROSS JOIN LATERAL (
    SELECT expected_payment_id, nsu, amount_cents, role FROM match
    WHERE account_id = debit.account_id AND nsu = debit.nsu AND unlinked_at IS NULL OFFSET 0
  ) m
  WHERE m.role = 'reversal' AND debit.account_id = line.account_id
    AND debit.original_end_to_end_id = line.end_to_end_id AND NOT debit.is_credit`;

/**
 * Joins the totals that `refundedCentsOfMatch` needs: `own_refunds` of the whole credit (`line`),
 * and `bank_reversal_total` of the part that paid this expected payment.
 */
export const joinRefundTotals = (expectedPaymentId: Prisma.Sql) => Prisma.sql`
  CROSS JOIN LATERAL (${ownRefundTotal}) own_refunds
  CROSS JOIN LATERAL (
    SELECT COALESCE(sum(amount_cents), 0)::bigint AS cents FROM (${bankReversals}) reversal
    WHERE reversal.expected_payment_id = ${expectedPaymentId}
  ) bank_reversal_total`;

/**
 * The refunded part of a payment (`m`, a match of `line`). When a line pays several expected
 * payments, a partial refund cannot be attributed to one of them: own refunds count only once they
 * cover the whole line.
 */
export const refundedCentsOfMatch = Prisma.sql`
  LEAST(m.amount_cents, bank_reversal_total.cents + CASE
    WHEN m.amount_cents = line.amount_cents OR own_refunds.cents >= line.amount_cents
    THEN own_refunds.cents
    ELSE 0 END)`;
