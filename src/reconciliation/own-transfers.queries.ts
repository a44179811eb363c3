// Money that one account of ours sent to another: its debit stands in the other account's mirror, by index of each.
import type { Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { isProvisional } from './rules/rule-candidates.queries.js';

/** The debit (d) of another account that a credit (t) is the other leg of. */
const legOf = (accountId: number) => Prisma.sql`
  FROM bank_account other
  CROSS JOIN LATERAL (
    SELECT recorded_at, amount_cents, is_credit FROM "transaction"
    WHERE account_id = other.id AND end_to_end_id = t.end_to_end_id
    UNION ALL
    SELECT recorded_at, amount_cents, is_credit FROM "transaction"
    WHERE account_id = other.id AND movement_id = t.movement_id
  ) d
  WHERE other.id <> ${accountId} AND NOT d.is_credit AND d.amount_cents = t.amount_cents`;

/** Those of the lines that another account of ours sent. */
export async function listOwnTransfers(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<{ nsu: bigint; endToEndId: string | null }[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw`
    SELECT t.nsu, t.end_to_end_id AS "endToEndId"
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    JOIN "transaction" t ON t.account_id = ${accountId} AND t.nsu = wanted.nsu AND t.is_credit
    WHERE EXISTS (SELECT ${legOf(accountId)})`;
}

/**
 * Has the credits of other accounts that these debits explain judged again, unless an id or a person explains them: however
 * long they have stood in a break, or been what a rule of their own took them for. Their accounts.
 */
export async function deferOtherLegs(
  tx: Tx,
  accountId: number,
  debits: bigint[],
): Promise<number[]> {
  if (debits.length === 0) return [];
  const rows = await tx.$queryRaw<{ accountId: number }[]>`
    INSERT INTO deferred_line (account_id, nsu)
    SELECT DISTINCT t.account_id, t.nsu
    FROM unnest(${debits}::bigint[]) AS judged(nsu)
    JOIN "transaction" d ON d.account_id = ${accountId} AND d.nsu = judged.nsu AND NOT d.is_credit
    JOIN bank_account other ON other.id <> ${accountId}
    CROSS JOIN LATERAL (
      SELECT account_id, nsu, is_credit, amount_cents FROM "transaction"
      WHERE account_id = other.id AND end_to_end_id = d.end_to_end_id
      UNION ALL
      SELECT account_id, nsu, is_credit, amount_cents FROM "transaction"
      WHERE account_id = other.id AND movement_id = d.movement_id
    ) t
    WHERE t.is_credit AND t.amount_cents = d.amount_cents
      AND NOT EXISTS (
        SELECT FROM match m
        WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL AND m.rule <> 'declared')
      AND NOT EXISTS (
        SELECT FROM classification c
        WHERE c.account_id = t.account_id AND c.nsu = t.nsu AND c.rule <> 'declared')
    ORDER BY 1, 2
    ON CONFLICT (account_id, nsu) DO UPDATE SET deferred_at = clock_timestamp()
    RETURNING account_id AS "accountId"`;
  return [...new Set(rows.map((row) => row.accountId))];
}

/**
 * Lines that wait though a rule of the account's own explains them, and that another account of ours sent: while their
 * windows are open, that goes first.
 */
export async function listTakenForOthers(tx: Tx, accountId: number): Promise<{ nsu: bigint }[]> {
  return tx.$queryRaw<{ nsu: bigint }[]>`
    SELECT t.nsu FROM deferred_line waits
    JOIN "transaction" t ON t.account_id = waits.account_id AND t.nsu = waits.nsu AND t.is_credit
    WHERE waits.account_id = ${accountId} AND ${isProvisional} AND EXISTS (SELECT ${legOf(accountId)})
      AND (EXISTS (
        SELECT FROM match m
        WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.rule = 'declared' AND m.unlinked_at IS NULL
      ) OR EXISTS (
        SELECT FROM classification c
        WHERE c.account_id = t.account_id AND c.nsu = t.nsu AND c.rule = 'declared'))`;
}

/** Lines that are explained wait no longer: they were judged before they were asked to be again. */
export async function forgetExplained(tx: Tx, accountId: number): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM deferred_line waits
    WHERE waits.account_id = ${accountId} AND (EXISTS (
      SELECT FROM match m WHERE m.account_id = waits.account_id AND m.nsu = waits.nsu AND m.unlinked_at IS NULL
    ) OR EXISTS (
      SELECT FROM classification c WHERE c.account_id = waits.account_id AND c.nsu = waits.nsu))`;
}
