// Loads the credits that debits reference as their originals, and the refunded part of a credit.
import { opaqueAccountId, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { ownRefundTotal, bankReversals } from '../expected-payments/refunded-amounts.queries.js';
import type { OriginalCredit } from './line-outcome.js';

/** Credits that share one id cannot be distinguished. Two credits show that. */
const maxCredits = 2;

/**
 * The debits that refund a credit (line), requested or not, and matched or not: debits that
 * reference the credit, and debits of our refunds. Debits that were reversed are left out.
 */
export const debitsRefundingLine = Prisma.sql`
  SELECT debit.nsu, debit.amount_cents, debit.recorded_at
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

export async function loadOriginalCredits(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<(OriginalCredit & { nsu: bigint })[]> {
  if (nsus.length === 0) return [];
  const rows = await tx.$queryRaw<ReceivedRow[]>`
    SELECT t.nsu, line.nsu AS "creditNsu", line.amount_cents AS "creditCents",
      line.end_to_end_id AS "endToEndId",
           own_refunds.cents + bank_reversal_total.cents AS "refundedCents",
           m.expected_payment_id AS "expectedPaymentId", m.amount_cents AS "amountCents", m.rule,
           remaining.cents AS "leftCents",
           e.operation_id AS "operationId", e.kind, o.state AS "operationState"
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    JOIN statement_line t ON t.account_id = ${opaqueAccountId(accountId)} AND t.nsu = wanted.nsu
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND end_to_end_id = t.original_end_to_end_id
        AND is_credit
      ORDER BY nsu LIMIT ${maxCredits}
    ) line
    CROSS JOIN LATERAL (${ownRefundTotal}) own_refunds
    CROSS JOIN LATERAL (SELECT COALESCE(sum(amount_cents), 0)::bigint AS cents
      FROM (${bankReversals}) reversal) bank_reversal_total
    LEFT JOIN LATERAL (
      SELECT expected_payment_id, amount_cents, rule FROM match
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = line.nsu AND unlinked_at IS NULL
        AND role = 'payment'
    ) m ON true
    LEFT JOIN LATERAL (
      SELECT sum(CASE role WHEN 'payment' THEN amount_cents ELSE -amount_cents END)::bigint AS cents
        FROM match
      WHERE account_id = ${opaqueAccountId(accountId)}
        AND expected_payment_id = m.expected_payment_id AND unlinked_at IS NULL
    ) remaining ON true
    LEFT JOIN expected_payment e ON e.account_id = ${opaqueAccountId(accountId)}
      AND e.id = m.expected_payment_id
    LEFT JOIN operation o ON o.account_id = ${opaqueAccountId(accountId)} AND o.id = e.operation_id
    ORDER BY t.nsu, line.nsu, m.expected_payment_id`;
  return rows.map(toReceived);
}

type ReceivedRow = Omit<OriginalCredit, 'paid'> & {
  nsu: bigint;
  expectedPaymentId: string | null;
  amountCents: bigint | null;
  rule: string | null;
  leftCents: bigint | null;
  operationId: string | null;
  kind: string | null;
  operationState: string | null;
};

function toReceived(row: ReceivedRow): OriginalCredit & { nsu: bigint } {
  const { expectedPaymentId, amountCents, rule, operationId, kind, operationState, ...rest } = row;
  const { leftCents, ...line } = rest;
  if (!expectedPaymentId || amountCents === null || rule === null || !operationId || kind === null)
    return { ...line, paid: null };
  const left = leftCents === null ? {} : { leftCents };
  const paid = { expectedPaymentId, amountCents, rule, operationId, kind, operationState, ...left };
  return { ...line, paid };
}
