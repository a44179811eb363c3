import type { RefundFilter } from '../../contract/refunds.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';

export interface ReferencedLine {
  nsu: bigint;
  changeCents: bigint;
  typeName: string;
  endToEndId: string | null;
  /** A JSON text. */
  proof: string | null;
  createdAt: Date;
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
export async function listReferencedLines(
  database: Queryable,
  accountId: number,
  { filterBy, id }: { filterBy: RefundFilter; id: string },
): Promise<ReferencedLine[]> {
  return database.query<ReferencedLine>(
    `SELECT nsu, change_cents AS "changeCents", type_name AS "typeName",
            end_to_end_id AS "endToEndId", proof::text, created_at AS "createdAt"
     FROM statement_line WHERE account_id = $1 AND ${referenceColumns[filterBy]} = $2
     ORDER BY type_name = 'CREDIT_PIX' DESC, nsu LIMIT 2`,
    [accountId, id],
  );
}

/**
 * The refunded total of a Pix, in cents: refunds less the reversals of failed ones. The credit of a
 * payer has the same original and may be on the same account; it is not counted.
 */
export async function sumRefundedCents(
  tx: SandboxTx,
  accountId: number,
  endToEndId: string,
): Promise<bigint> {
  const [row] = await tx.query<{ total: bigint }>(
    `SELECT coalesce(-sum(change_cents), 0)::bigint AS total FROM statement_line
     WHERE account_id = $1 AND original_end_to_end_id = $2
       AND type_name IN ('DEBIT_PIX_REFUND', 'CREDIT_PIX_REFUND_REVERSAL')`,
    [accountId, endToEndId],
  );
  return row!.total;
}

export interface SentRefund {
  changeCents: bigint;
  endToEndId: string;
  originalEndToEndId: string;
  /** A JSON text. */
  proof: string;
  idempotencyKey: string | null;
}

export async function findSentRefund(
  tx: SandboxTx,
  accountId: number,
  nsu: bigint,
): Promise<SentRefund | null> {
  const [row] = await tx.query<SentRefund>(
    `SELECT line.change_cents AS "changeCents", line.end_to_end_id AS "endToEndId",
            line.original_end_to_end_id AS "originalEndToEndId", line.proof::text,
            movement.idempotency_key AS "idempotencyKey"
     FROM statement_line AS line JOIN movement ON movement.id = line.movement_id
     WHERE line.account_id = $1 AND line.nsu = $2`,
    [accountId, nsu],
  );
  return row ?? null;
}
