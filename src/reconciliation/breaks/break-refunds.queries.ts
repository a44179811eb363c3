// SQL of refunds of breaks: the requests and their outcomes.
import type { Db, Tx } from '../../database.service.js';
import { refundIsOver, refundOfHistoryEntry, refundStands } from '../refunded-breaks.queries.js';

export interface RequestedRefund {
  operationId: string;
  state: string;
  amountCents: bigint | null;
  /** The refund was refused, proven not executed, or reversed. */
  isOver: boolean;
  /** The statement shows the refund. A later request is then a new refund. */
  isShown: boolean;
}

/** The refund requested under an idempotency key. */
export async function findRequestedRefund(
  db: Db,
  accountId: number,
  key: string,
): Promise<RequestedRefund | null> {
  const [request] = await db.$queryRaw<RequestedRefund[]>`
    SELECT o.id AS "operationId", o.state, o.amount_cents,
           ${refundIsOver} AS "isOver", ${refundStands} AS "isShown"
    FROM ${refundOfHistoryEntry}
    WHERE i.account_id = ${accountId} AND i.kind = 'refund_pix' AND i.identity = ${`key ${key}`}`;
  return request ?? null;
}

/** Whether this actor has requested this refund since the break was last opened. */
export async function hasRequestedRefund(
  tx: Tx,
  accountId: number,
  breakId: string,
  key: string,
  actor: string,
): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM break_history_entry e
    WHERE e.account_id = ${accountId} AND e.break_id = ${breakId}::uuid AND e.action = 'refund'
      AND e.actor = ${actor} AND e.detail ->> 'key' = ${key}
      AND NOT EXISTS (SELECT 1 FROM break_history_entry reopening
        WHERE reopening.account_id = e.account_id AND reopening.break_id = e.break_id
          AND reopening.action = 'reopened' AND reopening.sequence > e.sequence)`;
  return found.length > 0;
}
