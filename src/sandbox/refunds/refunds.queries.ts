import type { RefundFilter } from '../../bank-contract/refunds.js';
import type { StatementLine } from '../../generated/sandbox/client.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';
import type { RefundProof } from './refund-bodies.js';

export interface ReferencedLine extends Pick<
  StatementLine,
  'nsu' | 'changeCents' | 'typeName' | 'endToEndId' | 'createdAt'
> {
  proof: object | null;
}

const referenceColumns: Record<RefundFilter, string> = {
  CORRELATION_ID: 'correlation_id',
  END_TO_END_ID: 'end_to_end_id',
  NSU: 'nsu',
};

/**
 * At most two of the account's lines that a reference identifies, received Pix first. Two lines are
 * enough to show that the reference is ambiguous. With NSU the id must be a number.
 */
export function listReferencedLines(
  database: Queryable,
  accountId: number,
  { filterBy, id }: { filterBy: RefundFilter; id: string },
): Promise<ReferencedLine[]> {
  return database.query(
    `SELECT nsu, change_cents, type_name, end_to_end_id, proof, created_at
     FROM statement_line WHERE account_id = $1 AND ${referenceColumns[filterBy]} = $2
     ORDER BY type_name = 'CREDIT_PIX' DESC, nsu LIMIT 2`,
    [accountId, id],
  );
}

/**
 * The refunded total of a Pix, in cents: refunds less the reversals of failed ones. The credit of a
 * payer has the same original and may be on the same account; it is not counted.
 */
export async function sumRefundedCents(tx: SandboxTx, accountId: number, endToEndId: string) {
  const [row] = await tx.query<{ total: bigint }>(
    `SELECT coalesce(-sum(change_cents), 0)::bigint AS total FROM statement_line
     WHERE account_id = $1 AND original_end_to_end_id = $2
       AND type_name IN ('DEBIT_PIX_REFUND', 'CREDIT_PIX_REFUND_REVERSAL')`,
    [accountId, endToEndId],
  );
  return row!.total;
}

export interface SentRefund extends Pick<StatementLine, 'changeCents' | 'endToEndId'> {
  originalEndToEndId: string;
  proof: RefundProof;
  idempotencyKey: string | null;
}

export function findSentRefund(tx: SandboxTx, accountId: number, nsu: bigint) {
  return tx.find<SentRefund>(
    `SELECT line.change_cents, line.end_to_end_id, line.original_end_to_end_id, line.proof,
            movement.idempotency_key
     FROM statement_line AS line JOIN movement ON movement.id = line.movement_id
     WHERE line.account_id = $1 AND line.nsu = $2`,
    [accountId, nsu],
  );
}

/** Returns what was blocked, or null. */
export function deleteMedBlock(tx: SandboxTx, accountId: number, endToEndId: string) {
  return tx.find<{ cents: bigint }>(
    'DELETE FROM med_block WHERE account_id = $1 AND end_to_end_id = $2 RETURNING cents',
    [accountId, endToEndId],
  );
}
