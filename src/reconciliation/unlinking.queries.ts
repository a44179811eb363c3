// Matches that give way to what is now known better: unlinked, never deleted, and their lines judged anew. What a person
// linked keeps its place.
import { ofAccount, type Tx } from '../database.service.js';
import { subjectOfLine } from './break-subjects.js';
import { surplusOf, type RefundedCredit } from './surplus-returns.js';

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
      JOIN expected_payment e ON e.account_id = ${ofAccount(accountId)} AND e.id = asked.id
      CROSS JOIN LATERAL (
        SELECT nsu, role, rule, unlinked_at FROM match
        WHERE account_id = ${ofAccount(accountId)} AND expected_payment_id = e.id OFFSET 0
      ) m
      JOIN statement_line line ON line.account_id = ${ofAccount(accountId)} AND line.nsu = m.nsu
      LEFT JOIN statement_state s ON s.account_id = ${ofAccount(accountId)}
      WHERE m.unlinked_at IS NULL AND m.rule <> 'manual'
        AND (NOT e.is_credit OR (m.rule = 'declared' AND m.role = 'payment'
          AND line.occurred_at >= COALESCE(s.closed_until, '-infinity')))
    ), back AS MATERIALIZED (
      SELECT debit.nsu FROM gone
      JOIN statement_line debit ON debit.account_id = ${ofAccount(accountId)} AND NOT debit.is_credit
        AND debit.original_end_to_end_id = gone.end_to_end_id
      JOIN match r ON r.account_id = ${ofAccount(accountId)} AND r.nsu = debit.nsu AND r.unlinked_at IS NULL AND r.role = 'reversal'
      WHERE gone.is_credit
    )
    UPDATE match SET unlinked_at = now()
    WHERE account_id = ${ofAccount(accountId)} AND nsu IN (SELECT nsu FROM gone UNION SELECT nsu FROM back)
      AND unlinked_at IS NULL AND rule <> 'manual'
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
      JOIN statement_line second ON second.account_id = ${ofAccount(accountId)} AND second.nsu = again.nsu AND NOT second.is_credit
      CROSS JOIN LATERAL (
        SELECT nsu, role, rule, unlinked_at FROM match
        WHERE account_id = ${ofAccount(accountId)} AND expected_payment_id = again.expected_payment_id OFFSET 0
      ) m
      JOIN statement_line line ON line.account_id = ${ofAccount(accountId)} AND line.nsu = m.nsu
      WHERE m.role = 'reversal' AND m.unlinked_at IS NULL AND m.rule <> 'manual' AND line.occurred_at >= second.occurred_at
    )
    UPDATE match SET unlinked_at = now() FROM back
    WHERE match.account_id = ${ofAccount(accountId)} AND match.nsu = back.nsu AND match.unlinked_at IS NULL
    RETURNING match.nsu, match.expected_payment_id AS "expectedPaymentId"`;
}

/** By whom nobody took them apart: ids may join them again. */
const notPaidAnyMore = 'What it gave back is not paid any more.';

/**
 * More came back of these than is paid of them since their payments gave way: what has nothing left to give back gives
 * way too, also where a person linked it.
 */
export async function unlinkSurplusReturns(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<Unlinked[]> {
  if (expectedPaymentIds.length === 0) return [];
  const surplus = surplusOf(await listRefundedCredits(tx, accountId, expectedPaymentIds));
  if (surplus.length === 0) return [];
  const unlinked = await tx.$queryRaw<Unlinked[]>`
    UPDATE match SET unlinked_at = now(), unlink_reason = ${notPaidAnyMore}
    WHERE account_id = ${ofAccount(accountId)} AND nsu = ANY (${surplus}::bigint[]) AND unlinked_at IS NULL
    RETURNING nsu, expected_payment_id AS "expectedPaymentId"`;
  // What a person linked stands as what settled itself, so that the judge may open it again.
  await tx.$executeRaw`
    WITH freed AS (
      UPDATE break SET resolution = 'automatic'
      WHERE account_id = ${ofAccount(accountId)} AND subject = ANY (${surplus.map(subjectOfLine)}::text[])
        AND state = 'resolved' AND resolution = 'link'
      RETURNING id, nsu
    )
    INSERT INTO break_history_entry (account_id, break_id, action, reason, detail)
    SELECT ${accountId}, id, 'unlink', ${notPaidAnyMore}, jsonb_build_object('nsu', nsu::text) FROM freed`;
  return unlinked;
}

/** What came back of these, where any did. */
async function listRefundedCredits(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<RefundedCredit[]> {
  return tx.$queryRaw<RefundedCredit[]>`
    WITH live AS MATERIALIZED (
      SELECT m.* FROM (SELECT DISTINCT id FROM unnest(${expectedPaymentIds}::uuid[]) AS asked(id)) asked
      CROSS JOIN LATERAL (
        SELECT expected_payment_id, nsu, amount_cents, role, rule, unlinked_at FROM match
        WHERE account_id = ${ofAccount(accountId)} AND expected_payment_id = asked.id OFFSET 0
      ) m
      WHERE m.unlinked_at IS NULL
    )
    SELECT back.expected_payment_id AS "expectedPaymentId", back.nsu, back.amount_cents AS "amountCents",
           line.occurred_at AS "occurredAt", back.rule = 'manual' AS "isManual", paid.cents AS "paidCents",
           line.is_credit OR EXISTS (
             SELECT FROM statement_line credit
             JOIN live pays ON pays.nsu = credit.nsu AND pays.expected_payment_id = back.expected_payment_id
             WHERE credit.account_id = ${ofAccount(accountId)} AND credit.end_to_end_id = line.original_end_to_end_id
               AND credit.is_credit AND pays.role = 'payment' AND pays.amount_cents >= back.amount_cents
           ) AS "isOfPaid"
    FROM live back
    JOIN statement_line line ON line.account_id = ${ofAccount(accountId)} AND line.nsu = back.nsu
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(amount_cents), 0)::bigint AS cents FROM live pays
      WHERE pays.expected_payment_id = back.expected_payment_id AND pays.role = 'payment'
    ) paid
    WHERE back.role = 'reversal'`;
}
