// Refunds that resolve breaks: the requests, and what the statement shows of them. Only the
// statement resolves a break: the bank's acceptance of a refund means that it is in progress.
import { opaqueAccountId, type Db, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { reportedColumns, type ReportedBreak } from './breaks.queries.js';
import { lineBreakKinds } from './line-outcome.js';

/** The refund (o) that a break history entry (e) requested, with its matched cents as `seen`. */
export const refundOfHistoryEntry = Prisma.sql`
  operation_identity i
  JOIN operation o ON o.account_id = i.account_id AND o.id = i.operation_id
  LEFT JOIN refund r ON r.account_id = o.account_id AND r.id = o.id
  CROSS JOIN LATERAL (
    SELECT COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'payment'), 0)::bigint AS paid,
           COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'reversal'), 0)::bigint AS reversed,
           EXISTS (SELECT FROM expected_payment x WHERE x.account_id = r.account_id
             AND x.id = r.expected_payment_id AND x.withdrawn_at IS NOT NULL) AS is_withdrawn
    FROM match m WHERE m.account_id = r.account_id AND m.expected_payment_id = r.expected_payment_id
      AND m.unlinked_at IS NULL
  ) seen`;
/** Whether an operation identity (i) belongs to a break history entry (e). */
export const isOfHistoryEntry = Prisma.sql`i.account_id = e.account_id AND i.kind = 'refund_pix'
  AND i.identity = 'key ' || (e.detail ->> 'key')`;
/** The refund is on the statement and was not reversed. */
export const refundStands = Prisma.sql`seen.paid > 0 AND seen.reversed = 0`;
/**
 * The refund has failed or was reversed: it may be requested again. Only a person can withdraw a
 * refund that the bank accepted and never debited.
 */
export const refundIsOver = Prisma.sql`(seen.reversed > 0
  OR seen.paid = 0 AND (seen.is_withdrawn OR o.state IN ('rejected', 'not_executed')))`;
/** Whether the break was reopened since an entry (e). If so, only a person can resolve it. */
export const isReopenedSince = Prisma.sql`EXISTS (
  SELECT 1 FROM break_history_entry again WHERE again.account_id = e.account_id
    AND again.break_id = e.break_id
    AND again.action = 'reopened' AND again.sequence > e.sequence)`;

/** The credits that are refunded by the refunds among these expected payments. */
export async function listRefundedCredits(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<bigint[]> {
  const rows = await tx.$queryRaw<{ nsu: bigint }[]>`
    SELECT DISTINCT original_nsu AS nsu FROM refund
    WHERE account_id = ${opaqueAccountId(accountId)}
      AND expected_payment_id = ANY (${expectedPaymentIds}::uuid[])`;
  return rows.map(({ nsu }) => nsu);
}

const isAmong = (nsus: bigint[] | null) =>
  nsus === null ? Prisma.sql`true` : Prisma.sql`b.nsu = ANY (${nsus}::bigint[])`;

/**
 * Whether the refund (seen) of an entry (e) covers its break (b). It does if it refunds the whole
 * amount that the break had at the request, or if the Pix is fully refunded. The settlement review
 * reports a remaining excess.
 */
const coversItsBreak = Prisma.sql`(
  seen.paid >= COALESCE((e.detail ->> 'ofCents')::bigint, seen.paid)
  OR (SELECT t.amount_cents FROM statement_line t WHERE t.account_id = b.account_id
    AND t.nsu = b.nsu) <= (
    SELECT sum(CASE m.role WHEN 'payment' THEN m.amount_cents ELSE -m.amount_cents END)
      FROM refund other
    JOIN match m ON m.account_id = other.account_id
      AND m.expected_payment_id = other.expected_payment_id
      AND m.unlinked_at IS NULL
    WHERE other.account_id = b.account_id AND other.original_nsu = b.nsu))`;

const refundSettles = Prisma.sql`${refundStands} AND NOT ${isReopenedSince} AND ${coversItsBreak}`;

/** Open breaks, of these lines or of all, whose refund the statement shows. */
export async function resolveRefunded(
  tx: Tx,
  accountId: number,
  nsus: bigint[] | null,
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now(), resolution = 'refund',
      resolved_by = requested.actor,
                     resolution_reason = requested.reason
    FROM (
      SELECT DISTINCT ON (b.id) b.account_id, b.id, e.actor, e.reason
      FROM break b
      JOIN break_history_entry e ON e.account_id = b.account_id AND e.break_id = b.id
        AND e.action = 'refund'
      JOIN LATERAL (SELECT seen.* FROM ${refundOfHistoryEntry} WHERE ${isOfHistoryEntry}) seen
        ON true
      WHERE b.account_id = ${opaqueAccountId(accountId)} AND b.state = 'open' AND ${isAmong(nsus)}
        AND ${refundSettles}
      ORDER BY b.id, e.sequence
    ) requested
    WHERE break.account_id = requested.account_id AND break.id = requested.id
      AND break.state = 'open'
    RETURNING ${reportedColumns}`;
}

/** Reopens breaks of these lines whose refund was reversed and that no other refund resolves. */
export async function reopenReversedRefunds(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'open'
    FROM break b
    WHERE b.account_id = ${opaqueAccountId(accountId)} AND ${isAmong(nsus)} AND b.state = 'resolved'
      AND b.resolution = 'refund'
      AND NOT EXISTS (
        SELECT 1 FROM break_history_entry e
        JOIN LATERAL (SELECT seen.* FROM ${refundOfHistoryEntry} WHERE ${isOfHistoryEntry}) seen
          ON true
        WHERE e.account_id = b.account_id AND e.break_id = b.id AND e.action = 'refund'
          AND ${refundSettles})
      AND break.account_id = b.account_id AND break.id = b.id AND break.state = 'resolved'
    RETURNING ${reportedColumns}`;
}

/**
 * Classifies unmatched lines whose break a person or a policy resolved, also when they are decided
 * again afterwards.
 */
export async function classifyLinesOfSettledBreaks(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<void> {
  if (nsus.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO classification (account_id, nsu, rule, category, reason, evidence)
    SELECT DISTINCT ON (b.nsu) b.account_id, b.nsu,
           CASE b.resolution WHEN 'refund' THEN 'refund' ELSE 'manual' END,
           CASE b.resolution WHEN 'refund' THEN 'refunded' ELSE 'accepted' END, b.resolution_reason,
           CASE b.resolution WHEN 'refund' THEN jsonb_build_object('breakId', b.id)
                             ELSE jsonb_build_object('actor', b.resolved_by) END
    FROM break b
    WHERE b.account_id = ${opaqueAccountId(accountId)} AND b.nsu = ANY (${nsus}::bigint[])
      AND b.subject = 'nsu:' || b.nsu
      AND b.kind = ANY (${[...lineBreakKinds]}::text[]) AND b.state = 'resolved'
      AND b.resolution IN ('accept', 'refund')
      AND NOT EXISTS (SELECT 1 FROM match m
        WHERE m.account_id = b.account_id AND m.nsu = b.nsu AND m.unlinked_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM break other
        WHERE other.account_id = b.account_id AND other.nsu = b.nsu AND other.state = 'open'
          AND other.kind = ANY (${[...lineBreakKinds]}::text[]))
    ORDER BY b.nsu, b.resolved_at DESC, b.id
    ON CONFLICT (account_id, nsu) DO NOTHING`;
}

/** Deletes the classification as refunded from the lines of these breaks, which are open again. */
export async function deleteRefundClassifications(
  tx: Tx,
  accountId: number,
  breakIds: string[],
): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM classification c USING break b
    WHERE b.account_id = ${opaqueAccountId(accountId)} AND b.id = ANY (${breakIds}::uuid[])
      AND c.account_id = b.account_id
      AND c.nsu = b.nsu AND c.category = 'refunded' AND c.evidence ->> 'breakId' = b.id::text`;
}

/** The expected payment, if its refund was accepted by the bank and is not on the statement. */
export async function listUnseenRefunds(
  tx: Tx,
  accountId: number,
  expectedPaymentId: string | null,
): Promise<string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT r.expected_payment_id AS id FROM refund r
    JOIN operation o ON o.account_id = r.account_id AND o.id = r.id AND o.state = 'succeeded'
    WHERE r.account_id = ${opaqueAccountId(accountId)}
      AND r.expected_payment_id = ${expectedPaymentId}::uuid
      AND NOT EXISTS (SELECT 1 FROM match m WHERE m.account_id = r.account_id
        AND m.expected_payment_id = r.expected_payment_id AND m.unlinked_at IS NULL)`;
  return rows.map(({ id }) => id);
}

/** How long after its history entry a refund's operation may be created. */
const requestTimeout = '2 minutes';

/** Whether a refund of this break, or of any break of a line, is in progress. */
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
    LEFT JOIN LATERAL (
      SELECT seen.paid = 0 AND NOT ${refundIsOver} AS is_in_progress FROM ${refundOfHistoryEntry}
        WHERE ${isOfHistoryEntry}
    ) made ON true
    WHERE b.account_id = ${opaqueAccountId(accountId)} AND ${isTheirs}
      AND COALESCE(made.is_in_progress,
      e.created_at > clock_timestamp() - ${requestTimeout}::interval AND NOT EXISTS (
        SELECT 1 FROM break_history_entry refused WHERE refused.account_id = e.account_id
          AND refused.break_id = e.break_id
          AND refused.action = 'refund_refused' AND refused.sequence > e.sequence))
    LIMIT 1`;
  return found.length > 0;
}

/** Locks the breaks of a line, so that no refund of them begins meanwhile. */
export async function lockBreaksOfLine(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.$queryRaw`
    SELECT id FROM break WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ${nsu}
      ORDER BY id FOR UPDATE`;
}
