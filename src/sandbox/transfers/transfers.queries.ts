import { stringifyJson } from '../../platform/exact-json.js';
import { isUuid } from '../../platform/listing.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';
import type { Transfer } from './transfer.js';

const columns = `id, account_id AS "accountId", type, status, amount_cents AS "amountCents",
  description, external_id AS "externalId", end_to_end_id AS "endToEndId",
  idempotency_key AS "idempotencyKey", payer, beneficiary,
  beneficiary_account_id AS "beneficiaryAccountId", transaction_nsu AS "transactionNsu",
  is_blocked AS "isBlocked", error, created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Inserts transfers in one SQL statement, because a batch may have a thousand. */
export async function insertTransfers(
  tx: SandboxTx,
  transfers: readonly Transfer[],
): Promise<void> {
  await tx.query(
    `INSERT INTO transfer (id, account_id, type, status, amount_cents, description, external_id,
                           end_to_end_id, idempotency_key, payer, beneficiary,
                           beneficiary_account_id, transaction_nsu, is_blocked, error, created_at,
                           updated_at)
     SELECT * FROM json_to_recordset($1::json) AS transfer (
       "id" uuid, "accountId" integer, "type" text, "status" text, "amountCents" bigint,
       "description" text, "externalId" text, "endToEndId" text, "idempotencyKey" text,
       "payer" json, "beneficiary" json, "beneficiaryAccountId" integer, "transactionNsu" bigint,
       "isBlocked" boolean, "error" json, "createdAt" timestamptz, "updatedAt" timestamptz)`,
    [stringifyJson(transfers)],
  );
}

/** Updates the state of a transfer; its other columns never change. */
export async function updateTransfer(tx: SandboxTx, transfer: Transfer): Promise<void> {
  await tx.query(
    `UPDATE transfer
     SET status = $2, transaction_nsu = $3, is_blocked = $4, error = $5, updated_at = $6
     WHERE id = $1`,
    [
      transfer.id,
      transfer.status,
      transfer.transactionNsu,
      transfer.isBlocked,
      transfer.error,
      transfer.updatedAt,
    ],
  );
}

export async function lockTransfer(tx: SandboxTx, id: string): Promise<Transfer | null> {
  const [row] = await tx.query<Transfer>(
    `SELECT ${columns} FROM transfer WHERE id = $1 FOR UPDATE`,
    [id],
  );
  return row ?? null;
}

/** A Pix that the account sent, locked until the database transaction ends. */
export async function lockSentPix(
  tx: SandboxTx,
  accountId: number,
  endToEndId: string,
): Promise<Transfer | null> {
  const [row] = await tx.query<Transfer>(
    `SELECT ${columns} FROM transfer WHERE end_to_end_id = $2 AND account_id = $1 FOR UPDATE`,
    [accountId, endToEndId],
  );
  return row ?? null;
}

export async function isEndToEndIdUsed(tx: SandboxTx, endToEndId: string): Promise<boolean> {
  return (await tx.query('SELECT FROM transfer WHERE end_to_end_id = $1', [endToEndId])).length > 0;
}

/**
 * A transfer that the account sent, or received from another account of the bank, by its id,
 * endToEndId or externalId. Several may have one externalId: a sent transfer precedes a received
 * one, and a newer transfer precedes an older one.
 */
export async function findTransfer(
  database: Queryable,
  accountId: number,
  identifier: string,
): Promise<Transfer | null> {
  const [row] = await database.query<Transfer>(
    `SELECT ${columns} FROM transfer
     WHERE (id = $2 OR end_to_end_id = $3 OR external_id = $3)
       AND (account_id = $1 OR (type = 'INTERNAL' AND beneficiary_account_id = $1))
     ORDER BY (id = $2) DESC NULLS LAST, (end_to_end_id = $3) DESC NULLS LAST,
              (account_id = $1) DESC, created_at DESC, transaction_nsu DESC
     LIMIT 1`,
    [accountId, isUuid(identifier) ? identifier : null, identifier],
  );
  return row ?? null;
}

/** The nsu of the credit line of a transfer between accounts, on the beneficiary's statement. */
export async function findCreditNsu(
  database: Queryable,
  { accountId, transactionNsu }: Pick<Transfer, 'accountId' | 'transactionNsu'>,
  creditedId: number,
): Promise<bigint | null> {
  const [row] = await database.query<{ nsu: bigint }>(
    `SELECT credit.nsu FROM statement_line AS debit
     JOIN statement_line AS credit
       ON credit.movement_id = debit.movement_id AND credit.account_id = $3
     WHERE debit.account_id = $1 AND debit.nsu = $2`,
    [accountId, transactionNsu, creditedId],
  );
  return row?.nsu ?? null;
}

/**
 * The returned total of a Pix, in cents: the larger of two sums. One is the sum of the payer's
 * credits, the other of the beneficiary's debits less their reversals. Payer and beneficiary may be
 * at this bank or not, and both may be one account.
 */
export async function sumReturnedCents(
  tx: SandboxTx,
  endToEndId: string,
  accounts: number[],
): Promise<bigint> {
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
