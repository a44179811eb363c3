// Money that one account of ours sent to another, or to a key of its own: its debit stands in the mirror of the account
// that sent it, by index of each.
import { ofAccount, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { receipts } from './returns.js';
import { isProvisional } from './rules/rule-candidates.queries.js';

/** The debit (d) of another account that a credit (t) is the other leg of. */
const legElsewhere = (accountId: number) => Prisma.sql`
  FROM bank_account other
  CROSS JOIN LATERAL (
    SELECT amount_cents, is_credit FROM statement_line
    WHERE account_id = other.id AND end_to_end_id = t.end_to_end_id
    UNION ALL
    SELECT amount_cents, is_credit FROM statement_line
    WHERE account_id = other.id AND movement_id = t.movement_id
  ) d
  WHERE other.id <> ${accountId} AND NOT d.is_credit AND d.amount_cents = t.amount_cents`;

/** The debits (d) of the account itself that a credit (t) which is no return may be the other leg of. */
const debitHere = (accountId: number) => Prisma.sql`
  (SELECT nsu, amount_cents, is_credit FROM statement_line
   WHERE account_id = ${ofAccount(accountId)} AND end_to_end_id = t.end_to_end_id AND t.type_name = ANY (${receipts})
   OFFSET 0) d`;
const isOtherSide = Prisma.sql`NOT d.is_credit AND d.amount_cents = t.amount_cents AND d.nsu <> t.nsu`;

/** That such a debit (d) pays a transfer of ours: an own leg is known by what we asked for, not by the bank's id alone. */
const paysTransfer = (accountId: number) => Prisma.sql`(
  SELECT FROM (
    SELECT expected_payment_id, role FROM match
    WHERE account_id = ${ofAccount(accountId)} AND nsu = d.nsu AND unlinked_at IS NULL OFFSET 0
  ) m
  JOIN transfer ours ON ours.account_id = ${ofAccount(accountId)} AND ours.expected_payment_id = m.expected_payment_id
  WHERE m.role = 'payment')`;

/** Of a credit (t): an account of ours sent it. */
const isSentByUs = (
  accountId: number,
) => Prisma.sql`(EXISTS (SELECT ${legElsewhere(accountId)}) OR EXISTS (
  SELECT FROM ${debitHere(accountId)} WHERE ${isOtherSide} AND EXISTS ${paysTransfer(accountId)}))`;

/** Payments of the batch that is judged: their matches are not written yet. */
export interface DecidedPayments {
  nsus: bigint[];
  expectedPaymentIds: string[];
}

/** Those of the lines that an account of ours sent. */
export async function listOwnTransfers(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
  payments: DecidedPayments,
): Promise<{ nsu: bigint; endToEndId: string | null }[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw`
    SELECT t.nsu, t.end_to_end_id AS "endToEndId"
    FROM unnest(${nsus}::bigint[]) AS wanted(nsu)
    JOIN statement_line t ON t.account_id = ${ofAccount(accountId)} AND t.nsu = wanted.nsu AND t.is_credit
    WHERE ${isSentByUs(accountId)} OR EXISTS (
      SELECT FROM ${debitHere(accountId)}
      JOIN unnest(${payments.nsus}::bigint[], ${payments.expectedPaymentIds}::uuid[]) AS paid(nsu, id) ON paid.nsu = d.nsu
      JOIN transfer ours ON ours.account_id = ${ofAccount(accountId)} AND ours.expected_payment_id = paid.id
      WHERE ${isOtherSide})`;
}

/**
 * Has the credits that these debits explain judged again, in other accounts and, of a transfer of ours, in this one, unless
 * an id or a person explains them: however long they have stood in a break, or been what a rule of their own took them
 * for. Their accounts.
 */
export async function deferOtherLegs(
  tx: Tx,
  accountId: number,
  debits: bigint[],
): Promise<number[]> {
  if (debits.length === 0) return [];
  const rows = await tx.$queryRaw<{ accountId: number }[]>`
    INSERT INTO deferred_line (account_id, nsu, deferred_at)
    SELECT DISTINCT t.account_id, t.nsu, clock_timestamp()
    FROM unnest(${debits}::bigint[]) AS decided(nsu)
    JOIN statement_line d ON d.account_id = ${ofAccount(accountId)} AND d.nsu = decided.nsu AND NOT d.is_credit
    CROSS JOIN bank_account other
    CROSS JOIN LATERAL (
      SELECT account_id, nsu, is_credit, amount_cents, type_name FROM statement_line
      WHERE account_id = other.id AND end_to_end_id = d.end_to_end_id
      UNION ALL
      SELECT account_id, nsu, is_credit, amount_cents, type_name FROM statement_line
      WHERE account_id = other.id AND movement_id = d.movement_id AND other.id <> ${accountId}
    ) t
    WHERE t.is_credit AND t.amount_cents = d.amount_cents
      AND (other.id <> ${accountId} OR t.type_name = ANY (${receipts}) AND EXISTS ${paysTransfer(accountId)})
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

export interface ExplainedWaiting {
  nsu: bigint;
  deferredAt: Date;
  /** A rule of the account's own explains it, and an account of ours sent it: while its window is open, that goes first. */
  isTaken: boolean;
}

/** Lines that wait though they are explained: they were judged before they were asked to be again. */
export async function listExplainedWaiting(tx: Tx, accountId: number): Promise<ExplainedWaiting[]> {
  return tx.$queryRaw<ExplainedWaiting[]>`
    SELECT t.nsu, waits.deferred_at AS "deferredAt",
           declared.found AND t.is_credit AND ${isProvisional} AND ${isSentByUs(accountId)} AS "isTaken"
    FROM deferred_line waits
    JOIN statement_line t ON t.account_id = waits.account_id AND t.nsu = waits.nsu
    CROSS JOIN LATERAL (
      SELECT bool_or(said.rule = 'declared') AS found FROM (
        SELECT rule FROM match WHERE account_id = t.account_id AND nsu = t.nsu AND unlinked_at IS NULL
        UNION ALL
        SELECT rule FROM classification WHERE account_id = t.account_id AND nsu = t.nsu
      ) said
    ) declared
    WHERE waits.account_id = ${ofAccount(accountId)} AND declared.found IS NOT NULL`;
}

/** They wait no longer, unless they were asked for again since they were listed. */
export async function deleteExplained(
  tx: Tx,
  accountId: number,
  explained: ExplainedWaiting[],
): Promise<void> {
  if (explained.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM deferred_line waits
    USING unnest(${explained.map(({ nsu }) => nsu)}::bigint[],
                 ${explained.map(({ deferredAt }) => deferredAt.toISOString())}::timestamptz[]) AS seen(nsu, at)
    WHERE waits.account_id = ${ofAccount(accountId)} AND waits.nsu = seen.nsu AND waits.deferred_at = seen.at`;
}
