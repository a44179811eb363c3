// SQL of refunds of breaks: the requests, and what the statement shows of them.
import { statesWithoutEffect } from '../../outbound/operation-states.js';
import { opaqueAccountId, type Db, type Tx } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import type { LockedBreak } from './break-actions.queries.js';

/** The refund (o) that a break history entry (e) requested, with its matched cents as `seen`. */
const refundOfHistoryEntry = Prisma.sql`
  operation_identity i
  JOIN operation o ON o.account_id = i.account_id AND o.id = i.operation_id
  LEFT JOIN refund r ON r.account_id = o.account_id AND r.id = o.id
  LEFT JOIN expected_payment_total total
    ON total.account_id = r.account_id AND total.expected_payment_id = r.expected_payment_id
  CROSS JOIN LATERAL (
    SELECT COALESCE(total.paid_cents, 0) AS paid, COALESCE(total.reversed_cents, 0) AS reversed,
           EXISTS (SELECT FROM expected_payment x WHERE x.account_id = r.account_id
             AND x.id = r.expected_payment_id AND x.withdrawn_at IS NOT NULL) AS is_withdrawn
  ) seen`;
/** Whether an operation identity (i) belongs to a break history entry (e). */
const isOfHistoryEntry = Prisma.sql`i.account_id = e.account_id AND i.kind = 'refund_pix'
  AND i.identity = 'key ' || (e.detail ->> 'key')`;
/** The refund is on the statement and was not reversed. */
const refundStands = Prisma.sql`seen.paid > 0 AND seen.reversed = 0`;
/**
 * The refund has failed or was reversed: it may be requested again. Only a person can withdraw a
 * refund that the bank accepted and never debited.
 */
const refundIsOver = Prisma.sql`(seen.reversed > 0
  OR seen.paid = 0 AND (seen.is_withdrawn
    OR o.state = ANY (${statesWithoutEffect}::operation_state[])))`;

/**
 * The expected payment of a `missing` break, if its refund was accepted by the bank and is not on
 * the statement.
 */
export async function listUnseenRefunds(
  tx: Tx,
  accountId: number,
  { kind, expectedPaymentId }: LockedBreak,
): Promise<string[]> {
  if (kind !== 'missing' || expectedPaymentId === null) return [];
  const unseen = await tx.refund.findUnique({
    where: {
      accountId_expectedPaymentId: { accountId, expectedPaymentId },
      operation: { state: 'succeeded' },
      expectedPayment: { matches: { none: { unlinkedAt: null } } },
    },
  });
  return unseen ? [expectedPaymentId] : [];
}

/**
 * Whether a refund of this break, or of any break of a line, is in progress. The transaction that
 * creates a refund holds the account's lock, so a caller that holds it sees every refund.
 */
export async function isRefundInProgress(
  db: Db,
  accountId: number,
  of: { breakId: string } | { nsu: bigint },
): Promise<boolean> {
  const isTheirs =
    'nsu' in of ? Prisma.sql`b.nsu = ${of.nsu}` : Prisma.sql`b.id = ${of.breakId}::uuid`;
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM break b
    JOIN break_history_entry e ON e.account_id = b.account_id AND e.break_id = b.id
      AND e.action = 'refund'
    WHERE b.account_id = ${opaqueAccountId(accountId)} AND ${isTheirs} AND EXISTS (
      SELECT FROM ${refundOfHistoryEntry}
      WHERE ${isOfHistoryEntry} AND seen.paid = 0 AND NOT ${refundIsOver})
    LIMIT 1`;
  return found.length > 0;
}

/** Locks the breaks of a line, so that no refund of them begins meanwhile. */
export async function lockBreaksOfLine(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.$queryRaw`
    SELECT id FROM break WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ${nsu}
      ORDER BY id FOR NO KEY UPDATE`;
}

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
