// SQL that reads transfers with their operation and expected payment.
import type { Db } from '../database.service.js';
import type { TransferState } from './transfer-status.js';

export interface TransferRow {
  id: string;
  operationId: string;
  operationState: string;
  shape: 'key' | 'manual' | 'internal' | 'batch';
  state: TransferState;
  bankStatus: string | null;
  errorCode: string | null;
  amountCents: bigint;
  endToEndId: string | null;
  externalId: string | null;
  bankId: string | null;
  createdAt: Date;
  updatedAt: Date;
  expectedPaymentId: string;
  isWithdrawn: boolean;
  /**
   * The bank's response to a single transfer; null while there is none, and for the items of a
   * batch.
   */
  responseBody: string | null;
}

export interface TransferFilters {
  ids?: string[] | undefined;
  state?: string | undefined;
  shape?: string | undefined;
  externalId?: string | undefined;
  endToEndId?: string | undefined;
  operationId?: string | undefined;
  /** The list's cursor: only transfers older than this transfer are listed. */
  before: string | null;
  limit: number;
}

export async function listTransferRows(
  db: Db,
  accountId: number,
  { ids, state, shape, externalId, endToEndId, operationId, before, limit }: TransferFilters,
): Promise<TransferRow[]> {
  return db.$queryRaw<TransferRow[]>`
    SELECT t.id, t.operation_id, o.state AS "operationState", t.shape, t.state, t.bank_status,
           t.error_code, t.amount_cents, t.end_to_end_id, t.external_id, t.bank_id, t.created_at,
           t.updated_at, t.expected_payment_id,
           e.withdrawn_at IS NOT NULL AS "isWithdrawn",
           CASE WHEN o.state = 'succeeded' AND t.shape <> 'batch' THEN o.response_body END
             AS "responseBody"
    FROM transfer t
    JOIN operation o ON o.account_id = t.account_id AND o.id = t.operation_id
    JOIN expected_payment e ON e.account_id = t.account_id AND e.id = t.expected_payment_id
    WHERE t.account_id = ${accountId}
      AND (${ids ?? null}::uuid[] IS NULL OR t.id = ANY (${ids ?? null}::uuid[]))
      AND (${state ?? null}::text IS NULL OR t.state = ${state ?? null})
      AND (${shape ?? null}::text IS NULL OR t.shape = ${shape ?? null})
      AND (${externalId ?? null}::text IS NULL OR t.external_id = ${externalId ?? null})
      AND (${endToEndId ?? null}::text IS NULL OR t.end_to_end_id = ${endToEndId ?? null})
      AND (${operationId ?? null}::uuid IS NULL OR t.operation_id = ${operationId ?? null}::uuid)
      AND (${before}::uuid IS NULL OR t.id < ${before}::uuid)
    ORDER BY t.id DESC LIMIT ${limit}`;
}

/**
 * The transfer with this id, tried as each kind of id, the most specific first. Of several
 * transfers with the same externalId, the newest. An externalId may have the form of any other id.
 */
export async function findTransferId(
  db: Db,
  accountId: number,
  { id, uuid }: { id: string; uuid: string | null },
): Promise<string | null> {
  const [row] = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM (
      SELECT id, 1 AS rank FROM transfer WHERE account_id = ${accountId} AND id = ${uuid}::uuid
      UNION ALL
      SELECT id, 2 FROM transfer WHERE account_id = ${accountId} AND bank_id = ${id}
      UNION ALL
      SELECT id, 3 FROM transfer WHERE account_id = ${accountId} AND end_to_end_id = ${id}
      UNION ALL
      SELECT id, 4 FROM transfer WHERE account_id = ${accountId} AND external_id = ${id}
    ) candidate
    ORDER BY rank, id DESC LIMIT 1`;
  return row?.id ?? null;
}
