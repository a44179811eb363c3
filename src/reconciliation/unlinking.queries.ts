// Matches that give way to what is now known better: unlinked, never deleted, and their lines judged anew. What a person
// linked keeps its place.
import type { Tx } from '../database.service.js';

export interface Unlinked {
  nsu: bigint;
  expectedPaymentId: string;
}

/**
 * A surer line has come to pay these. Of a debit every match gives way; of a credit, which may be paid in parts, those of
 * the account's own rules while the windows of their lines are open, with what gave those credits back.
 */
export async function unlinkDisplaced(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<Unlinked[]> {
  if (expectedPaymentIds.length === 0) return [];
  return tx.$queryRaw<Unlinked[]>`
    WITH gone AS MATERIALIZED (
      SELECT DISTINCT m.nsu, line.end_to_end_id, line.is_credit
      FROM unnest(${expectedPaymentIds}::uuid[]) AS asked(id)
      JOIN expected_payment e ON e.account_id = ${accountId} AND e.id = asked.id
      CROSS JOIN LATERAL (
        SELECT nsu, role, rule, unlinked_at FROM match
        WHERE account_id = ${accountId} AND expected_payment_id = e.id OFFSET 0
      ) m
      JOIN "transaction" line ON line.account_id = ${accountId} AND line.nsu = m.nsu
      LEFT JOIN statement_state s ON s.account_id = ${accountId}
      WHERE m.unlinked_at IS NULL AND m.rule <> 'hand'
        AND (NOT e.is_credit OR (m.rule = 'declared' AND m.role = 'payment'
          AND line.occurred_at >= COALESCE(s.closed_until, '-infinity')))
    ), back AS MATERIALIZED (
      SELECT debit.nsu FROM gone
      JOIN "transaction" debit ON debit.account_id = ${accountId} AND NOT debit.is_credit
        AND debit.original_end_to_end_id = gone.end_to_end_id
      JOIN match r ON r.account_id = ${accountId} AND r.nsu = debit.nsu AND r.unlinked_at IS NULL AND r.role = 'return'
      WHERE gone.is_credit
    )
    UPDATE match SET unlinked_at = now()
    WHERE account_id = ${accountId} AND nsu IN (SELECT nsu FROM gone UNION SELECT nsu FROM back)
      AND unlinked_at IS NULL AND rule <> 'hand'
    RETURNING nsu, expected_payment_id AS "expectedPaymentId"`;
}

/** A debit that was debited again: what came back since the second time may be of either. */
export async function unlinkReturnsSince(
  tx: Tx,
  accountId: number,
  debitedAgain: { expectedPaymentId: string; nsu: bigint }[],
): Promise<Unlinked[]> {
  if (debitedAgain.length === 0) return [];
  return tx.$queryRaw<Unlinked[]>`
    WITH back AS MATERIALIZED (
      SELECT m.nsu
      FROM unnest(${debitedAgain.map(({ expectedPaymentId }) => expectedPaymentId)}::uuid[],
                  ${debitedAgain.map(({ nsu }) => nsu)}::bigint[]) AS again(expected_payment_id, nsu)
      JOIN "transaction" second ON second.account_id = ${accountId} AND second.nsu = again.nsu AND NOT second.is_credit
      CROSS JOIN LATERAL (
        SELECT nsu, role, rule, unlinked_at FROM match
        WHERE account_id = ${accountId} AND expected_payment_id = again.expected_payment_id OFFSET 0
      ) m
      JOIN "transaction" line ON line.account_id = ${accountId} AND line.nsu = m.nsu
      WHERE m.role = 'return' AND m.unlinked_at IS NULL AND m.rule <> 'hand' AND line.occurred_at >= second.occurred_at
    )
    UPDATE match SET unlinked_at = now() FROM back
    WHERE match.account_id = ${accountId} AND match.nsu = back.nsu AND match.unlinked_at IS NULL
    RETURNING match.nsu, match.expected_payment_id AS "expectedPaymentId"`;
}
