// Which lines are received Pix, and which credits undo a debit of the account instead, by ids
// alone: a bank may give such a credit the type of any received Pix. Matching, refunds and refund
// policies all read these conditions, so that a credit that settles a reversal is refundable
// nowhere.
// The index on endToEndId finds the debit, so that the cost of a line does not follow the history
// of the account.
import { undoingPattern } from '../../bank-contract/line-types.js';
import { Prisma } from '../../generated/service/client.js';

/**
 * Whether a credit (line) has the endToEndId of an earlier debit of its account. It then undoes the
 * debit, and nobody is owed its refund. The two legs of a Pix of the account to itself share their
 * id, too: both parties are then this account, so that both lines show one counterparty.
 */
export const undoesDebit = (line: Prisma.Sql): Prisma.Sql => Prisma.sql`(
  ${line}.is_credit AND EXISTS (
    SELECT FROM statement_line debit
    WHERE debit.account_id = ${line}.account_id AND debit.end_to_end_id = ${line}.end_to_end_id
      AND NOT debit.is_credit
      AND (debit.occurred_at, debit.nsu) < (${line}.occurred_at, ${line}.nsu)
      AND NOT (debit.has_one_holder AND ${line}.has_one_holder
        AND debit.counterparty IS NOT DISTINCT FROM ${line}.counterparty)))`;

/** Whether a line is a received Pix by its own columns: it may still undo a debit. */
export const mayBeReceivedPix = (line: Prisma.Sql): Prisma.Sql => Prisma.sql`((
  ${line}.is_credit AND ${line}.end_to_end_id LIKE 'E%' AND ${line}.original_end_to_end_id IS NULL
  AND ${line}.type_name !~* ${Prisma.raw(`'${undoingPattern}'`)}) IS TRUE)`;

/** Whether a line is a received Pix. Only such a line is refundable. */
export const isReceivedPix = (line: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`(${mayBeReceivedPix(line)} AND NOT ${undoesDebit(line)})`;
