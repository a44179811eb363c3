// The debits that refund a credit, for reads that need no decision.
import { Prisma } from '../generated/service/client.js';

/**
 * The debits that refund a credit (line), requested or not, and matched or not: debits that
 * reference the credit, and debits of our refunds. Debits that were reversed are left out.
 */
export const debitsRefundingLine = Prisma.sql`
  SELECT debit.nsu, debit.amount_cents, debit.occurred_at
  FROM (
    SELECT nsu FROM statement_line
    WHERE account_id = line.account_id AND original_end_to_end_id = line.end_to_end_id
      AND line.is_credit
    UNION
    SELECT m.nsu FROM refund r
    CROSS JOIN LATERAL (
      SELECT nsu, role, unlinked_at FROM match
      WHERE account_id = r.account_id AND expected_payment_id = r.expected_payment_id OFFSET 0
    ) m
    WHERE r.account_id = line.account_id AND r.original_nsu = line.nsu AND m.role = 'payment'
      AND m.unlinked_at IS NULL
  ) refunding
  CROSS JOIN LATERAL (
    SELECT * FROM statement_line WHERE account_id = line.account_id AND nsu = refunding.nsu OFFSET 0
  ) debit
  WHERE NOT debit.is_credit AND NOT EXISTS (
    SELECT FROM (
      SELECT expected_payment_id, role FROM match
      WHERE account_id = line.account_id AND nsu = debit.nsu AND unlinked_at IS NULL OFFSET 0
    ) sent
    CROSS JOIN LATERAL (
      SELECT role, unlinked_at FROM match
      WHERE account_id = line.account_id AND expected_payment_id = sent.expected_payment_id OFFSET 0
    ) reversal
    WHERE sent.role = 'payment' AND reversal.role = 'reversal' AND reversal.unlinked_at IS NULL)`;
