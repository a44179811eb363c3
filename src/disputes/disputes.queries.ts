// Stores disputes, and finds those whose amount the bank has returned.
import { opaqueAccountId, type Db, type Tx } from '../database.service.js';
import type { Dispute, DisputeStatus } from '../generated/service/client.js';
import type { Reader } from '../shared-reads.queries.js';

export type ReportedDispute = Pick<
  Dispute,
  'id' | 'kind' | 'status' | 'endToEndId' | 'amountCents' | 'deadlineAt'
> & {
  /** Null for a new dispute. */
  before: DisputeStatus | null;
};

/**
 * Inserts a dispute, or records a later status of it. A status that reports an end stays: webhooks
 * come in any order.
 */
export async function storeDispute(
  tx: Tx,
  dispute: Omit<Dispute, 'returnedNsu' | 'createdAt'>,
): Promise<ReportedDispute> {
  const { accountId, id, kind, reference, endToEndId, amountCents, status } = dispute;
  const [before] = await tx.$queryRaw<Pick<Dispute, 'status'>[]>`
    SELECT status FROM dispute
    WHERE account_id = ${accountId} AND kind = ${kind}::dispute_kind AND reference = ${reference}
    FOR NO KEY UPDATE`;
  const [stored] = await tx.$queryRaw<Omit<ReportedDispute, 'before'>[]>`
    INSERT INTO dispute AS d (account_id, id, kind, reference, end_to_end_id, amount_cents, status,
                              reported_at, deadline_at)
    VALUES (${accountId}, ${id}::uuid, ${kind}::dispute_kind, ${reference}, ${endToEndId},
            ${amountCents}, ${status}::dispute_status, ${dispute.reportedAt},
            ${dispute.deadlineAt})
    ON CONFLICT (account_id, kind, reference) DO UPDATE
    SET status = CASE d.status WHEN 'reported' THEN EXCLUDED.status ELSE d.status END,
        amount_cents = COALESCE(d.amount_cents, EXCLUDED.amount_cents)
    RETURNING d.id, d.kind, d.status, d.end_to_end_id, d.amount_cents, d.deadline_at`;
  return { ...stored!, before: before?.status ?? null };
}

/**
 * Records the lines by which the bank returned disputed amounts: debits that refund the Pix, and
 * that are not our own refunds. Several may return one amount. Returns how many disputes ended.
 */
export async function recordReturns(tx: Tx, accountId: number): Promise<number> {
  return tx.$executeRaw`
    UPDATE dispute d SET returned_nsu = returned.nsu
    FROM dispute open
    CROSS JOIN LATERAL (
      SELECT max(l.nsu) AS nsu, sum(l.amount_cents) AS cents FROM statement_line l
      WHERE l.account_id = ${opaqueAccountId(accountId)} AND NOT l.is_credit
        AND l.original_end_to_end_id = open.end_to_end_id
        AND NOT EXISTS (SELECT FROM refund r WHERE r.account_id = l.account_id
          AND (r.nsu = l.nsu OR r.end_to_end_id = l.end_to_end_id
            OR r.id::text = l.idempotency_key))
    ) returned
    LEFT JOIN LATERAL (
      SELECT l.amount_cents AS cents FROM statement_line l
      WHERE l.account_id = ${opaqueAccountId(accountId)} AND l.is_credit
        AND l.end_to_end_id = open.end_to_end_id
      ORDER BY l.nsu LIMIT 1
    ) original ON true
    WHERE open.account_id = ${accountId} AND open.returned_nsu IS NULL
      AND open.end_to_end_id IS NOT NULL
      AND returned.cents >= COALESCE(open.amount_cents, original.cents)
      AND d.account_id = open.account_id AND d.id = open.id`;
}

/** Accounts with disputes whose amount the bank has not returned. */
export async function listAccountsWithDisputes(db: Reader): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a WHERE EXISTS (
      SELECT FROM dispute d WHERE d.account_id = a.id
        AND d.returned_nsu IS NULL AND d.end_to_end_id IS NOT NULL)`;
}

/** Newest first. */
export async function listDisputes(
  db: Db,
  accountId: number,
  { beforeId, take }: { beforeId: string | null; take: number },
): Promise<Dispute[]> {
  return db.dispute.findMany({
    where: { accountId, ...(beforeId ? { id: { lt: beforeId } } : {}) },
    orderBy: { id: 'desc' },
    take,
  });
}
