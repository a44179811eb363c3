import { isUuid } from '../../platform/http/listing.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';
import type { Transfer } from './transfer.js';

export async function deleteTransfer(tx: SandboxTx, id: string): Promise<void> {
  await tx.query('DELETE FROM transfer WHERE id = $1', [id]);
}

/**
 * A Pix that the account sent, or a transfer between accounts that it sent or received, by its id,
 * endToEndId or externalId. Several may have one externalId: a sent transfer precedes a received
 * one, and a newer transfer precedes an older one.
 */
export function findTransfer(
  database: Queryable,
  accountId: number,
  { identifier, isByExternalId }: { identifier: string; isByExternalId: boolean },
) {
  return database.find<Transfer>(
    `SELECT * FROM transfer
     WHERE (id = $2 OR end_to_end_id = $3 OR ($4 AND external_id = $3))
       AND (account_id = $1 OR (type = 'INTERNAL' AND beneficiary_account_id = $1))
       AND type <> 'EXTERNAL'
     ORDER BY (id = $2) DESC NULLS LAST, (end_to_end_id = $3) DESC NULLS LAST,
              (account_id = $1) DESC, created_at DESC, transaction_nsu DESC
     LIMIT 1`,
    [accountId, isUuid(identifier) ? identifier : null, identifier, isByExternalId],
  );
}

/** The nsu of the credit line of a transfer between accounts, on the beneficiary's statement. */
export async function findCreditNsu(
  database: Queryable,
  { accountId, transactionNsu }: Pick<Transfer, 'accountId' | 'transactionNsu'>,
  creditedId: number,
): Promise<bigint | null> {
  const credit = await database.find<{ nsu: bigint }>(
    `SELECT credit.nsu FROM statement_line AS debit
     JOIN statement_line AS credit
       ON credit.movement_id = debit.movement_id AND credit.account_id = $3
     WHERE debit.account_id = $1 AND debit.nsu = $2`,
    [accountId, transactionNsu, creditedId],
  );
  return credit?.nsu ?? null;
}

/**
 * The returned total of a Pix, in cents: the larger of two sums. One is the sum of the payer's
 * credits, the other of the beneficiary's debits less their reversals. Payer and beneficiary may be
 * at this bank or not, and both may be one account.
 */
export async function sumReturnedCents(tx: SandboxTx, endToEndId: string, accounts: number[]) {
  const [row] = await tx.query<{ returned: bigint }>(
    `SELECT greatest(
       coalesce(sum(change_cents) FILTER (WHERE type_name = 'CREDIT_PIX_REFUND'), 0),
       -coalesce(sum(change_cents) FILTER (
          WHERE type_name IN ('DEBIT_PIX_REFUND', 'CREDIT_PIX_REFUND_REVERSAL')), 0)
     )::bigint AS returned
     FROM statement_line WHERE account_id = ANY($2) AND original_end_to_end_id = $1`,
    [endToEndId, accounts],
  );
  return row!.returned;
}
