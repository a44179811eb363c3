// The SQL of refunds that settle breaks: what was asked for, and what the statement shows of it. Only the statement
// settles: the bank's word that it took a refund says that it is under way.
import { ofAccount, type Db, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { reportedColumns, type ReportedBreak } from './breaks.queries.js';
import { lineBreakKinds } from './line-outcome.js';

/** The refund (o) that an entry (e) asked for, with what the statement shows of it as `seen`. */
export const refundOfEntry = Prisma.sql`
  operation_identity i
  JOIN operation o ON o.account_id = i.account_id AND o.id = i.operation_id
  LEFT JOIN refund r ON r.account_id = o.account_id AND r.id = o.id
  CROSS JOIN LATERAL (
    SELECT COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'payment'), 0)::bigint AS paid,
           COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'reversal'), 0)::bigint AS returned,
           EXISTS (SELECT FROM expected_payment gone WHERE gone.account_id = r.account_id
             AND gone.id = r.expected_payment_id AND gone.withdrawn_at IS NOT NULL) AS is_withdrawn
    FROM match m WHERE m.account_id = r.account_id AND m.expected_payment_id = r.expected_payment_id
      AND m.unlinked_at IS NULL
  ) seen`;
/** Of an identity (i) and an entry (e). */
export const isOfEntry = Prisma.sql`i.account_id = e.account_id AND i.kind = 'refund_pix'
  AND i.identity = 'key ' || (e.detail ->> 'key')`;
/** The money has gone back, and stays there. */
export const refundStands = Prisma.sql`seen.paid > 0 AND seen.returned = 0`;
/** Nothing comes of it any more: it may be asked for again. What the bank took and never debited, only a person gives up. */
export const refundIsOver = Prisma.sql`(seen.returned > 0
  OR seen.paid = 0 AND (seen.is_withdrawn OR o.state IN ('rejected', 'not_executed')))`;
/** What was opened again since an entry (e) is a person's to settle. */
export const isReopenedSince = Prisma.sql`EXISTS (
  SELECT 1 FROM break_history_entry again WHERE again.account_id = e.account_id AND again.break_id = e.break_id
    AND again.action = 'reopened' AND again.sequence > e.sequence)`;

/** The received lines that the refunds among these expected payments give back. */
export async function listRefundedCredits(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<bigint[]> {
  const rows = await tx.$queryRaw<{ nsu: bigint }[]>`
    SELECT DISTINCT original_nsu AS nsu FROM refund
    WHERE account_id = ${ofAccount(accountId)} AND expected_payment_id = ANY (${expectedPaymentIds}::uuid[])`;
  return rows.map(({ nsu }) => nsu);
}

const isAmong = (nsus: bigint[] | null) =>
  nsus === null ? Prisma.sql`true` : Prisma.sql`b.nsu = ANY (${nsus}::bigint[])`;

/**
 * Of a break (b), an entry (e) and what the statement shows of its refund (seen): all that was in question when it was asked
 * for went back with it, or nothing is left of the Pix. The rest of what was paid too much is told by the review of the
 * charge.
 */
const coversItsBreak = Prisma.sql`(seen.paid >= COALESCE((e.detail ->> 'ofCents')::bigint, seen.paid)
  OR (SELECT t.amount_cents FROM statement_line t WHERE t.account_id = b.account_id AND t.nsu = b.nsu) <= (
    SELECT sum(CASE m.role WHEN 'payment' THEN m.amount_cents ELSE -m.amount_cents END) FROM refund given
    JOIN match m ON m.account_id = given.account_id AND m.expected_payment_id = given.expected_payment_id
      AND m.unlinked_at IS NULL
    WHERE given.account_id = b.account_id AND given.original_nsu = b.nsu))`;

const refundSettles = Prisma.sql`${refundStands} AND NOT ${isReopenedSince} AND ${coversItsBreak}`;

/** Open breaks, of these lines or of all, whose refund the statement shows. */
export async function resolveRefunded(
  tx: Tx,
  accountId: number,
  nsus: bigint[] | null,
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now(), resolution = 'refund', resolved_by = asked.actor,
                     resolution_reason = asked.reason
    FROM (
      SELECT DISTINCT ON (b.id) b.account_id, b.id, e.actor, e.reason
      FROM break b
      JOIN break_history_entry e ON e.account_id = b.account_id AND e.break_id = b.id AND e.action = 'refund'
      JOIN LATERAL (SELECT seen.* FROM ${refundOfEntry} WHERE ${isOfEntry}) seen ON true
      WHERE b.account_id = ${ofAccount(accountId)} AND b.state = 'open' AND ${isAmong(nsus)} AND ${refundSettles}
      ORDER BY b.id, e.sequence
    ) asked
    WHERE break.account_id = asked.account_id AND break.id = asked.id AND break.state = 'open'
    RETURNING ${reportedColumns}`;
}

/** Breaks of these lines that a refund settled, and that none settles by what the statement shows now: money came back. */
export async function reopenUnrefunded(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'open'
    FROM break b
    WHERE b.account_id = ${ofAccount(accountId)} AND ${isAmong(nsus)} AND b.state = 'resolved' AND b.resolution = 'refund'
      AND NOT EXISTS (
        SELECT 1 FROM break_history_entry e
        JOIN LATERAL (SELECT seen.* FROM ${refundOfEntry} WHERE ${isOfEntry}) seen ON true
        WHERE e.account_id = b.account_id AND e.break_id = b.id AND e.action = 'refund' AND ${refundSettles})
      AND break.account_id = b.account_id AND break.id = b.id AND break.state = 'resolved'
    RETURNING ${reportedColumns}`;
}

/**
 * Lines that no match explains and whose break a person or a policy has settled: they are what that made of them, also
 * where they are judged again since.
 */
export async function classifySettled(tx: Tx, accountId: number, nsus: bigint[]): Promise<void> {
  if (nsus.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO classification (account_id, nsu, rule, category, reason, evidence)
    SELECT DISTINCT ON (b.nsu) b.account_id, b.nsu,
           CASE b.resolution WHEN 'refund' THEN 'refund' ELSE 'manual' END,
           CASE b.resolution WHEN 'refund' THEN 'refunded' ELSE 'accepted' END, b.resolution_reason,
           CASE b.resolution WHEN 'refund' THEN jsonb_build_object('breakId', b.id)
                             ELSE jsonb_build_object('actor', b.resolved_by) END
    FROM break b
    WHERE b.account_id = ${ofAccount(accountId)} AND b.nsu = ANY (${nsus}::bigint[]) AND b.subject = 'nsu:' || b.nsu
      AND b.kind = ANY (${[...lineBreakKinds]}::text[]) AND b.state = 'resolved'
      AND b.resolution IN ('accept', 'refund')
      AND NOT EXISTS (SELECT 1 FROM match m
        WHERE m.account_id = b.account_id AND m.nsu = b.nsu AND m.unlinked_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM break held
        WHERE held.account_id = b.account_id AND held.nsu = b.nsu AND held.state = 'open'
          AND held.kind = ANY (${[...lineBreakKinds]}::text[]))
    ORDER BY b.nsu, b.resolved_at DESC, b.id
    ON CONFLICT (account_id, nsu) DO NOTHING`;
}

/** The breaks are open again: their lines are no more what the refund had made of them. */
export async function deleteRefunded(tx: Tx, accountId: number, breakIds: string[]): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM classification c USING break b
    WHERE b.account_id = ${ofAccount(accountId)} AND b.id = ANY (${breakIds}::uuid[]) AND c.account_id = b.account_id
      AND c.nsu = b.nsu AND c.category = 'refunded' AND c.evidence ->> 'breakId' = b.id::text`;
}

/** The expected payment, where it is of a refund that the bank took and the statement does not show. */
export async function listUnseenRefunds(
  tx: Tx,
  accountId: number,
  expectedPaymentId: string | null,
): Promise<string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT r.expected_payment_id AS id FROM refund r
    JOIN operation o ON o.account_id = r.account_id AND o.id = r.id AND o.state = 'succeeded'
    WHERE r.account_id = ${ofAccount(accountId)} AND r.expected_payment_id = ${expectedPaymentId}::uuid
      AND NOT EXISTS (SELECT 1 FROM match m WHERE m.account_id = r.account_id
        AND m.expected_payment_id = r.expected_payment_id AND m.unlinked_at IS NULL)`;
  return rows.map(({ id }) => id);
}

/** How long it may take from the entry of a refund to its operation. */
const askedWithin = '2 minutes';

/** Whether money of these breaks, or of any of a line, may be on its way back. */
export async function isRefundUnderWay(
  db: Db,
  accountId: number,
  of: { breakId: string } | { nsu: bigint },
): Promise<boolean> {
  const isTheirs =
    'nsu' in of ? Prisma.sql`b.nsu = ${of.nsu}` : Prisma.sql`b.id = ${of.breakId}::uuid`;
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM break b
    JOIN break_history_entry e ON e.account_id = b.account_id AND e.break_id = b.id AND e.action = 'refund'
    LEFT JOIN LATERAL (
      SELECT seen.paid = 0 AND NOT ${refundIsOver} AS is_under_way FROM ${refundOfEntry} WHERE ${isOfEntry}
    ) made ON true
    WHERE b.account_id = ${ofAccount(accountId)} AND ${isTheirs} AND COALESCE(made.is_under_way,
      e.created_at > clock_timestamp() - ${askedWithin}::interval AND NOT EXISTS (
        SELECT 1 FROM break_history_entry refused WHERE refused.account_id = e.account_id AND refused.break_id = e.break_id
          AND refused.action = 'refund_refused' AND refused.sequence > e.sequence))
    LIMIT 1`;
  return found.length > 0;
}

/** Holds the breaks of a line: no refund of them begins meanwhile. */
export async function lockBreaksOf(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.$queryRaw`
    SELECT id FROM break WHERE account_id = ${ofAccount(accountId)} AND nsu = ${nsu} ORDER BY id FOR UPDATE`;
}
