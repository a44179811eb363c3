// The SQL of giving back the money of a break: what was asked for, and what became of it.
import type { Db, Tx } from '../../database.service.js';
import { refundIsOver, refundOfHistoryEntry, refundStands } from '../refunded-breaks.queries.js';

export interface AskedRefund {
  operationId: string;
  state: string;
  amountCents: bigint | null;
  /** It was refused, not made, or its money came back: nothing comes of it any more. */
  isOver: boolean;
  /** The statement shows it: what is asked for after that is another. */
  isShown: boolean;
}

/** The refund that was asked for under a key. */
export async function findAsked(
  db: Db,
  accountId: number,
  key: string,
): Promise<AskedRefund | null> {
  const [asked] = await db.$queryRaw<AskedRefund[]>`
    SELECT o.id AS "operationId", o.state, o.amount_cents AS "amountCents", ${refundIsOver} AS "isOver",
           ${refundStands} AS "isShown"
    FROM ${refundOfHistoryEntry}
    WHERE i.account_id = ${accountId} AND i.kind = 'refund_pix' AND i.identity = ${`key ${key}`}`;
  return asked ?? null;
}

/** Whether this actor has asked for it before, since the break was opened last. */
export async function hasAsked(
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
      AND NOT EXISTS (SELECT 1 FROM break_history_entry again
        WHERE again.account_id = e.account_id AND again.break_id = e.break_id AND again.action = 'reopened'
          AND again.sequence > e.sequence)`;
  return found.length > 0;
}

export interface RefundableLine {
  isCredit: boolean;
  amountCents: bigint;
  endToEndId: string | null;
}

export async function findLineOf(
  db: Db,
  accountId: number,
  nsu: bigint,
): Promise<RefundableLine | null> {
  const [line] = await db.$queryRaw<RefundableLine[]>`
    SELECT is_credit AS "isCredit", amount_cents AS "amountCents", end_to_end_id AS "endToEndId"
    FROM statement_line WHERE account_id = ${accountId} AND nsu = ${nsu}`;
  return line ?? null;
}

/** Whether the trail tells already that this refund is under way. */
export async function isReportedInProgress(
  tx: Tx,
  accountId: number,
  breakId: string,
  operationId: string,
): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM break_history_entry
    WHERE account_id = ${accountId} AND break_id = ${breakId}::uuid AND action = 'refund_under_way'
      AND detail ->> 'operationId' = ${operationId}`;
  return found.length > 0;
}
