// Unlinks matches that new facts displace, so that their lines are decided again. A match is never
// deleted, and a manual match is not displaced.
import { opaqueAccountId, type Tx } from '../database.service.js';
import { subjectOfLine } from './line-outcome.js';
import { findSurplusReversals, type ReversalMatch } from './surplus-reversals.js';

export interface Unlinked {
  nsu: bigint;
  expectedPaymentId: string;
}

/**
 * Unlinks the matches of expected payments that another line pays with precedence. A debit loses
 * all its matches. A credit, which may be paid in parts, loses the matches of the account's own
 * rules in open periods, and the reversals of those credits.
 */
export async function unlinkDisplaced(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<Unlinked[]> {
  if (expectedPaymentIds.length === 0) return [];
  return tx.$queryRaw<Unlinked[]>`
    WITH displaced AS MATERIALIZED (
      SELECT DISTINCT m.nsu, line.end_to_end_id, line.is_credit
      FROM unnest(${expectedPaymentIds}::uuid[]) AS wanted(id)
      JOIN expected_payment e ON e.account_id = ${opaqueAccountId(accountId)} AND e.id = wanted.id
      CROSS JOIN LATERAL (
        SELECT nsu, role, rule, unlinked_at FROM match
        WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = e.id OFFSET 0
      ) m
      JOIN statement_line line ON line.account_id = ${opaqueAccountId(accountId)}
        AND line.nsu = m.nsu
      LEFT JOIN statement_state s ON s.account_id = ${opaqueAccountId(accountId)}
      WHERE m.unlinked_at IS NULL AND m.rule <> 'manual'
        AND (NOT e.is_credit OR (m.rule = 'declared' AND m.role = 'payment'
          AND line.occurred_at >= COALESCE(s.closed_until, '-infinity')))
    ), refunding AS MATERIALIZED (
      SELECT debit.nsu FROM displaced
      JOIN statement_line debit ON debit.account_id = ${opaqueAccountId(accountId)}
        AND NOT debit.is_credit
        AND debit.original_end_to_end_id = displaced.end_to_end_id
      JOIN match r ON r.account_id = ${opaqueAccountId(accountId)} AND r.nsu = debit.nsu
        AND r.unlinked_at IS NULL AND r.role = 'reversal'
      WHERE displaced.is_credit
    )
    UPDATE match SET unlinked_at = now()
    WHERE account_id = ${opaqueAccountId(accountId)}
      AND nsu IN (SELECT nsu FROM displaced UNION SELECT nsu FROM refunding)
      AND unlinked_at IS NULL AND rule <> 'manual'
    RETURNING nsu, expected_payment_id AS "expectedPaymentId"`;
}

/** Unlinks the reversals after a second debit of the same payment: each may be of either debit. */
export async function unlinkReversalsSince(
  tx: Tx,
  accountId: number,
  debitedAgain: { expectedPaymentId: string; nsu: bigint }[],
): Promise<Unlinked[]> {
  if (debitedAgain.length === 0) return [];
  return tx.$queryRaw<Unlinked[]>`
    WITH reversal AS MATERIALIZED (
      SELECT m.nsu
      FROM unnest(${debitedAgain.map(({ expectedPaymentId }) => expectedPaymentId)}::uuid[],
                  ${debitedAgain.map(({ nsu }) => nsu)}::bigint[])
                    AS again(expected_payment_id, nsu)
      JOIN statement_line second ON second.account_id = ${opaqueAccountId(accountId)}
        AND second.nsu = again.nsu AND NOT second.is_credit
      CROSS JOIN LATERAL (
        SELECT nsu, role, rule, unlinked_at FROM match
        WHERE account_id = ${opaqueAccountId(accountId)}
          AND expected_payment_id = again.expected_payment_id OFFSET 0
      ) m
      JOIN statement_line line ON line.account_id = ${opaqueAccountId(accountId)}
        AND line.nsu = m.nsu
      WHERE m.role = 'reversal' AND m.unlinked_at IS NULL AND m.rule <> 'manual'
        AND line.occurred_at >= second.occurred_at
    )
    UPDATE match SET unlinked_at = now() FROM reversal
    WHERE match.account_id = ${opaqueAccountId(accountId)} AND match.nsu = reversal.nsu
      AND match.unlinked_at IS NULL
    RETURNING match.nsu, match.expected_payment_id AS "expectedPaymentId"`;
}

/** Stored without an actor: references may match the line and the payment again. */
const noLongerPaid = 'The payment that it reversed is no longer matched.';

/**
 * Unlinks reversals that exceed the amount still paid after payments were displaced. Manual matches
 * are unlinked too.
 */
export async function unlinkSurplusReversals(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<Unlinked[]> {
  if (expectedPaymentIds.length === 0) return [];
  const surplus = findSurplusReversals(await listReversals(tx, accountId, expectedPaymentIds));
  if (surplus.length === 0) return [];
  const unlinked = await tx.$queryRaw<Unlinked[]>`
    UPDATE match SET unlinked_at = now(), unlink_reason = ${noLongerPaid}
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${surplus}::bigint[])
      AND unlinked_at IS NULL
    RETURNING nsu, expected_payment_id AS "expectedPaymentId"`;
  // A break resolved by a manual link becomes resolved automatically, so that it can be reopened.
  await tx.$executeRaw`
    WITH freed AS (
      UPDATE break SET resolution = 'automatic'
      WHERE account_id = ${opaqueAccountId(accountId)}
        AND subject = ANY (${surplus.map(subjectOfLine)}::text[])
        AND state = 'resolved' AND resolution = 'link'
      RETURNING id, nsu
    )
    INSERT INTO break_history_entry (account_id, break_id, action, reason, detail)
    SELECT ${accountId}, id, 'unlink', ${noLongerPaid}, jsonb_build_object('nsu', nsu::text)
      FROM freed`;
  return unlinked;
}

/** The reversals of these expected payments. */
async function listReversals(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<ReversalMatch[]> {
  return tx.$queryRaw<ReversalMatch[]>`
    WITH live AS MATERIALIZED (
      SELECT m.* FROM (SELECT DISTINCT id
        FROM unnest(${expectedPaymentIds}::uuid[]) AS wanted(id)) wanted
      CROSS JOIN LATERAL (
        SELECT expected_payment_id, nsu, amount_cents, role, rule, unlinked_at FROM match
        WHERE account_id = ${opaqueAccountId(accountId)}
          AND expected_payment_id = wanted.id OFFSET 0
      ) m
      WHERE m.unlinked_at IS NULL
    )
    SELECT reversal.expected_payment_id AS "expectedPaymentId", reversal.nsu,
      reversal.amount_cents AS "amountCents",
           line.occurred_at AS "occurredAt", reversal.rule = 'manual' AS "isManual",
             paid.cents AS "paidCents",
           line.is_credit OR EXISTS (
             SELECT FROM statement_line credit
             JOIN live pays ON pays.nsu = credit.nsu
               AND pays.expected_payment_id = reversal.expected_payment_id
             WHERE credit.account_id = ${opaqueAccountId(accountId)}
               AND credit.end_to_end_id = line.original_end_to_end_id
               AND credit.is_credit AND pays.role = 'payment'
                 AND pays.amount_cents >= reversal.amount_cents
           ) AS "isOfPaidCredit"
    FROM live reversal
    JOIN statement_line line ON line.account_id = ${opaqueAccountId(accountId)}
      AND line.nsu = reversal.nsu
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(amount_cents), 0)::bigint AS cents FROM live pays
      WHERE pays.expected_payment_id = reversal.expected_payment_id AND pays.role = 'payment'
    ) paid
    WHERE reversal.role = 'reversal'`;
}
