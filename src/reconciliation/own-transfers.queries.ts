// Money that one account of ours sent to another, or to a key of its own: its debit stands in the mirror of the account
// that sent it, by index of each.
import type { Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { receipts } from './returns.js';

/** The debit (d) of another account that a credit (t) is the other leg of. */
const legElsewhere = (accountId: number) => Prisma.sql`
  FROM bank_account other
  CROSS JOIN LATERAL (
    SELECT recorded_at, amount_cents, is_credit FROM "transaction"
    WHERE account_id = other.id AND end_to_end_id = t.end_to_end_id
    UNION ALL
    SELECT recorded_at, amount_cents, is_credit FROM "transaction"
    WHERE account_id = other.id AND movement_id = t.movement_id
  ) d
  WHERE other.id <> ${accountId} AND NOT d.is_credit AND d.amount_cents = t.amount_cents`;

/** The debits (d) of the account itself that a credit (t) which is no return may be the other leg of. */
const debitHere = (accountId: number) => Prisma.sql`
  (SELECT nsu, amount_cents, is_credit FROM "transaction"
   WHERE account_id = ${accountId} AND end_to_end_id = t.end_to_end_id AND t.type_name = ANY (${receipts})
   OFFSET 0) d`;
const isOtherSide = Prisma.sql`NOT d.is_credit AND d.amount_cents = t.amount_cents AND d.nsu <> t.nsu`;

/** That such a debit (d) pays a transfer of ours: an own leg is known by what we asked for, not by the bank's id alone. */
const paysTransfer = (accountId: number) => Prisma.sql`(
  SELECT m.created_at FROM (
    SELECT expected_payment_id, created_at, role FROM match
    WHERE account_id = ${accountId} AND nsu = d.nsu AND unlinked_at IS NULL OFFSET 0
  ) m
  JOIN transfer ours ON ours.account_id = ${accountId} AND ours.expected_payment_id = m.expected_payment_id
  WHERE m.role = 'payment')`;

/** Of a line (t) that stands in a break (b): the other leg was mirrored, or here matched, since. */
export const isOwnTransfer = (accountId: number) => Prisma.sql`(
  t.is_credit AND b.kind = 'unexpected' AND (
    EXISTS (SELECT ${legElsewhere(accountId)} AND d.recorded_at > b.opened_at)
    OR EXISTS (
      SELECT FROM ${debitHere(accountId)}
      CROSS JOIN LATERAL ${paysTransfer(accountId)} paid
      WHERE ${isOtherSide} AND paid.created_at >= b.opened_at)))`;

/** Payments of the batch that is judged: their matches are not written yet. */
export interface JudgedPayments {
  nsus: bigint[];
  expectedPaymentIds: string[];
}

/** Those of the lines that an account of ours sent. */
export async function listOwnTransfers(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
  payments: JudgedPayments,
): Promise<{ nsu: bigint; endToEndId: string | null }[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw`
    SELECT t.nsu, t.end_to_end_id AS "endToEndId"
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    JOIN "transaction" t ON t.account_id = ${accountId} AND t.nsu = wanted.nsu AND t.is_credit
    WHERE EXISTS (SELECT ${legElsewhere(accountId)}) OR EXISTS (
      SELECT FROM ${debitHere(accountId)}
      WHERE ${isOtherSide} AND (EXISTS ${paysTransfer(accountId)} OR EXISTS (
        SELECT FROM unnest(${payments.nsus}::bigint[], ${payments.expectedPaymentIds}::uuid[]) AS paid(nsu, id)
        JOIN transfer ours ON ours.account_id = ${accountId} AND ours.expected_payment_id = paid.id
        WHERE paid.nsu = d.nsu)))`;
}

/** Accounts in which a credit that one of these debits explains stands in a break; this one too. */
export async function listAccountsWaitingFor(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<{ accountId: number }[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw`
    SELECT other.id AS "accountId" FROM bank_account other
    WHERE EXISTS (
      SELECT FROM unnest(${nsus}::bigint[]) AS judged(nsu)
      JOIN "transaction" d ON d.account_id = ${accountId} AND d.nsu = judged.nsu AND NOT d.is_credit
      CROSS JOIN LATERAL (
        SELECT nsu, is_credit, amount_cents, type_name FROM "transaction"
        WHERE account_id = other.id AND end_to_end_id = d.end_to_end_id
        UNION ALL
        SELECT nsu, is_credit, amount_cents, type_name FROM "transaction"
        WHERE account_id = other.id AND movement_id = d.movement_id AND other.id <> ${accountId}
      ) t
      JOIN break b ON b.account_id = other.id AND b.nsu = t.nsu AND b.kind = 'unexpected' AND b.state = 'open'
      WHERE t.is_credit AND t.amount_cents = d.amount_cents AND (
        other.id <> ${accountId} OR t.type_name = ANY (${receipts}) AND EXISTS ${paysTransfer(accountId)}))`;
}
