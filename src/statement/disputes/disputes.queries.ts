// Stores disputes, and finds those whose amount the bank has returned.
import { opaqueAccountId, type Reader, type Tx } from '../../platform/postgres/database.service.js';
import { unattributedDebits } from '../expected-payments/refunds-by-payer.queries.js';
import { Prisma, type Dispute, type DisputeStatus } from '../../generated/service/client.js';

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

/** A dispute whose Pix has a refund, by any of the ways in which a debit is tied to its Pix. */
export interface DisputedPix {
  id: string;
  amountCents: bigint | null;
  endToEndId: string;
  /** Of the Pix; null if it is not stored. */
  nsu: bigint | null;
}

/** Disputes without a recorded return, of which a debit may be one. */
export async function listDisputesWithRefunds(tx: Tx, accountId: number): Promise<DisputedPix[]> {
  return tx.$queryRaw<DisputedPix[]>`
    SELECT d.id, d.amount_cents, d.end_to_end_id, pix.nsu FROM dispute d
    LEFT JOIN LATERAL (
      SELECT * FROM statement_line l
      WHERE l.account_id = ${opaqueAccountId(accountId)} AND l.is_credit
        AND l.end_to_end_id = d.end_to_end_id
      ORDER BY l.nsu LIMIT 1
    ) pix ON true
    WHERE d.account_id = ${accountId} AND d.returned_nsu IS NULL AND d.end_to_end_id IS NOT NULL
      AND (EXISTS (
        SELECT FROM statement_line l
        WHERE l.account_id = ${opaqueAccountId(accountId)}
          AND (l.original_end_to_end_id = d.end_to_end_id OR l.end_to_end_id = d.end_to_end_id)
          AND NOT l.is_credit
      ) OR EXISTS (
        SELECT FROM linked_original part
        WHERE part.account_id = ${opaqueAccountId(accountId)} AND part.original_nsu = pix.nsu
      ) OR EXISTS (${unattributedDebits(accountId, Prisma.sql`pix`)}))`;
}

/** Accounts with disputes whose amount the bank has not returned. */
export async function listAccountsWithDisputes(db: Reader): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a WHERE EXISTS (
      SELECT FROM dispute d WHERE d.account_id = a.id
        AND d.returned_nsu IS NULL AND d.end_to_end_id IS NOT NULL)`;
}
