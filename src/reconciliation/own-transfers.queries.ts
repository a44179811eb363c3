// Transfers between our own accounts, or to a key of the same account: the debit is found in the
// synced lines of the sending account, by index.
import { opaqueAccountId, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { incomingTypes } from './reversals.js';
import { isProvisional } from './rules/rule-candidates.queries.js';

/** The debit (d) in another of our accounts whose money arrives with a credit (t). */
const debitElsewhere = (accountId: number) => Prisma.sql`
  FROM bank_account other
  CROSS JOIN LATERAL (
    SELECT amount_cents, is_credit FROM statement_line
    WHERE account_id = other.id AND end_to_end_id = t.end_to_end_id
    UNION ALL
    SELECT amount_cents, is_credit FROM statement_line
    WHERE account_id = other.id AND movement_id = t.movement_id
  ) d
  WHERE other.id <> ${accountId} AND NOT d.is_credit AND d.amount_cents = t.amount_cents`;

/**
 * The debits (d) in the same account whose money may arrive with a credit (t) that is no reversal.
 */
const debitHere = (accountId: number) => Prisma.sql`
  (SELECT nsu, amount_cents, is_credit FROM statement_line
   WHERE account_id = ${opaqueAccountId(accountId)} AND end_to_end_id = t.end_to_end_id
     AND t.type_name = ANY (${incomingTypes})
   OFFSET 0) d`;
const isSameTransfer = Prisma.sql`NOT d.is_credit AND d.amount_cents = t.amount_cents
  AND d.nsu <> t.nsu`;

/**
 * Whether a debit (d) pays a requested transfer. The bank's id alone does not prove an own-account
 * transfer.
 */
const paysTransfer = (accountId: number) => Prisma.sql`(
  SELECT FROM (
    SELECT expected_payment_id, role FROM match
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = d.nsu
      AND unlinked_at IS NULL OFFSET 0
  ) m
  JOIN transfer requested ON requested.account_id = ${opaqueAccountId(accountId)}
    AND requested.expected_payment_id = m.expected_payment_id
  WHERE m.role = 'payment')`;

/** Whether one of our own accounts sent a credit (t). */
const isFromOwnAccount = (
  accountId: number,
) => Prisma.sql`(EXISTS (SELECT ${debitElsewhere(accountId)}) OR EXISTS (
  SELECT FROM ${debitHere(accountId)} WHERE ${isSameTransfer}
    AND EXISTS ${paysTransfer(accountId)}))`;

/** Payments of the current batch: their matches are not written yet. */
export interface DecidedPayments {
  nsus: bigint[];
  expectedPaymentIds: string[];
}

/** The credits among the lines that one of our own accounts sent. */
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
    JOIN statement_line t ON t.account_id = ${opaqueAccountId(accountId)} AND t.nsu = wanted.nsu
      AND t.is_credit
    WHERE ${isFromOwnAccount(accountId)} OR EXISTS (
      SELECT FROM ${debitHere(accountId)}
      JOIN unnest(${payments.nsus}::bigint[], ${payments.expectedPaymentIds}::uuid[])
        AS paid(nsu, id) ON paid.nsu = d.nsu
      JOIN transfer requested ON requested.account_id = ${opaqueAccountId(accountId)}
        AND requested.expected_payment_id = paid.id
      WHERE ${isSameTransfer})`;
}

/**
 * Makes the credits of these debits pending again: in other accounts and, for a requested transfer,
 * in the same account. Credits explained by a reference or a person are left out. Credits in a
 * break, or matched by a rule of their account, are included, whatever their age. Returns the
 * accounts of the credits.
 */
export async function deferOwnTransferCredits(
  tx: Tx,
  accountId: number,
  debits: bigint[],
): Promise<number[]> {
  if (debits.length === 0) return [];
  const rows = await tx.$queryRaw<{ accountId: number }[]>`
    INSERT INTO deferred_line (account_id, nsu, deferred_at)
    SELECT DISTINCT t.account_id, t.nsu, clock_timestamp()
    FROM unnest(${debits}::bigint[]) AS decided(nsu)
    JOIN statement_line d ON d.account_id = ${opaqueAccountId(accountId)} AND d.nsu = decided.nsu
      AND NOT d.is_credit
    CROSS JOIN bank_account other
    CROSS JOIN LATERAL (
      SELECT account_id, nsu, is_credit, amount_cents, type_name FROM statement_line
      WHERE account_id = other.id AND end_to_end_id = d.end_to_end_id
      UNION ALL
      SELECT account_id, nsu, is_credit, amount_cents, type_name FROM statement_line
      WHERE account_id = other.id AND movement_id = d.movement_id AND other.id <> ${accountId}
    ) t
    WHERE t.is_credit AND t.amount_cents = d.amount_cents
      AND (other.id <> ${accountId} OR t.type_name = ANY (${incomingTypes})
        AND EXISTS ${paysTransfer(accountId)})
      AND NOT EXISTS (
        SELECT FROM match m
        WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL
          AND m.rule <> 'declared')
      AND NOT EXISTS (
        SELECT FROM classification c
        WHERE c.account_id = t.account_id AND c.nsu = t.nsu AND c.rule <> 'declared')
    ORDER BY 1, 2
    ON CONFLICT (account_id, nsu) DO UPDATE SET deferred_at = clock_timestamp()
    RETURNING account_id AS "accountId"`;
  return [...new Set(rows.map((row) => row.accountId))];
}

export interface ExplainedPendingLine {
  nsu: bigint;
  deferredAt: Date;
  /**
   * The account's own rule explains the credit in an open period, but one of our accounts sent it.
   * The own-account transfer takes precedence.
   */
  isProvisionalOwnTransfer: boolean;
}

/** Pending lines that are explained: they were decided before a debit made them pending again. */
export async function listExplainedPendingLines(
  tx: Tx,
  accountId: number,
): Promise<ExplainedPendingLine[]> {
  return tx.$queryRaw<ExplainedPendingLine[]>`
    SELECT t.nsu, pending.deferred_at AS "deferredAt",
           declared.found AND t.is_credit AND ${isProvisional}
             AND ${isFromOwnAccount(accountId)} AS "isProvisionalOwnTransfer"
    FROM deferred_line pending
    JOIN statement_line t ON t.account_id = pending.account_id AND t.nsu = pending.nsu
    CROSS JOIN LATERAL (
      SELECT bool_or(explained.rule = 'declared') AS found FROM (
        SELECT rule FROM match WHERE account_id = t.account_id AND nsu = t.nsu
          AND unlinked_at IS NULL
        UNION ALL
        SELECT rule FROM classification WHERE account_id = t.account_id AND nsu = t.nsu
      ) explained
    ) declared
    WHERE pending.account_id = ${opaqueAccountId(accountId)} AND declared.found IS NOT NULL`;
}

/**
 * Deletes pending lines that are explained, unless they became pending again since they were
 * listed.
 */
export async function deleteExplainedPendingLines(
  tx: Tx,
  accountId: number,
  explained: ExplainedPendingLine[],
): Promise<void> {
  if (explained.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM deferred_line pending
    USING unnest(${explained.map(({ nsu }) => nsu)}::bigint[],
                 ${explained.map(({ deferredAt }) => deferredAt.toISOString())}::timestamptz[])
                   AS listed(nsu, at)
    WHERE pending.account_id = ${opaqueAccountId(accountId)} AND pending.nsu = listed.nsu
      AND pending.deferred_at = listed.at`;
}
