// The SQL of refunds that settle breaks: what became of those that were asked for.
import type { Db, Tx } from '../../database.service.js';
import { toldColumns, type ToldBreak } from '../breaks.queries.js';

export interface AskedRefund {
  operationId: string;
  state: string;
  amountCents: bigint | null;
}

/** The refund that was asked for under a key. */
export async function findAsked(
  db: Db,
  accountId: number,
  key: string,
): Promise<AskedRefund | null> {
  const [asked] = await db.$queryRaw<AskedRefund[]>`
    SELECT o.id AS "operationId", o.state, o.amount_cents AS "amountCents"
    FROM operation_identity i JOIN operation o ON o.account_id = i.account_id AND o.id = i.operation_id
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
    SELECT 1 FROM break_entry e
    WHERE e.account_id = ${accountId} AND e.break_id = ${breakId}::uuid AND e.action = 'refund'
      AND e.actor = ${actor} AND e.detail ->> 'key' = ${key}
      AND NOT EXISTS (SELECT 1 FROM break_entry again
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
    FROM "transaction" WHERE account_id = ${accountId} AND nsu = ${nsu}`;
  return line ?? null;
}

/** Open breaks whose refund the bank has accepted, or the statement shows. */
export async function resolveRefunded(tx: Tx, accountId: number): Promise<ToldBreak[]> {
  return tx.$queryRaw<ToldBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now(), resolution = 'refund', resolved_by = asked.actor,
                     resolution_reason = asked.reason
    FROM (
      SELECT DISTINCT ON (b.id) b.account_id, b.id, e.actor, e.reason
      FROM break_entry e
      JOIN break b ON b.account_id = e.account_id AND b.id = e.break_id AND b.state = 'open'
      JOIN operation_identity i ON i.account_id = e.account_id AND i.kind = 'refund_pix'
        AND i.identity = 'key ' || (e.detail ->> 'key')
      JOIN operation o ON o.account_id = i.account_id AND o.id = i.operation_id AND o.state = 'succeeded'
      WHERE e.account_id = ${accountId} AND e.action = 'refund'
        -- What was opened again since is a person's to settle.
        AND NOT EXISTS (SELECT 1 FROM break_entry again
          WHERE again.account_id = e.account_id AND again.break_id = e.break_id AND again.action = 'reopened'
            AND again.sequence > e.sequence)
      ORDER BY b.id, e.sequence
    ) asked
    WHERE break.account_id = asked.account_id AND break.id = asked.id
    RETURNING ${toldColumns}`;
}
