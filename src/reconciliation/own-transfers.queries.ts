// Money that one account of ours sent to another: its debit stands in the other account's mirror, by index of each.
import type { Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';

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

/** Of a line (t) that stands in a break (b): the other leg was mirrored since. */
export const isOwnTransfer = (accountId: number) => Prisma.sql`(
  t.is_credit AND b.kind = 'unexpected' AND EXISTS (SELECT ${legOf(accountId)} AND d.recorded_at > b.opened_at))`;

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

/** Other accounts in which a credit that one of these debits explains stands in a break. */
export async function listAccountsWaitingFor(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<{ accountId: number }[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw`
    SELECT other.id AS "accountId" FROM bank_account other
    WHERE other.id <> ${accountId} AND EXISTS (
      SELECT FROM unnest(${nsus}::bigint[]) AS judged(nsu)
      JOIN "transaction" d ON d.account_id = ${accountId} AND d.nsu = judged.nsu AND NOT d.is_credit
      CROSS JOIN LATERAL (
        SELECT nsu, is_credit, amount_cents FROM "transaction"
        WHERE account_id = other.id AND end_to_end_id = d.end_to_end_id
        UNION ALL
        SELECT nsu, is_credit, amount_cents FROM "transaction"
        WHERE account_id = other.id AND movement_id = d.movement_id
      ) t
      JOIN break b ON b.account_id = other.id AND b.nsu = t.nsu AND b.kind = 'unexpected' AND b.state = 'open'
      WHERE t.is_credit AND t.amount_cents = d.amount_cents)`;
}
