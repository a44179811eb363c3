// Breaks about bill payments: an unknown outcome, and a bill that was paid twice.
import { opaqueAccountId, type Db, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { reportedColumns, type NewBreak, type ReportedBreak } from './breaks.queries.js';

/** How long after its last possible debit a payment of unknown outcome gets a break. */
const overdueFor = '1 day';

// Conditions on a bill payment (p).
/** Compared by the bank's clock. */
const isOverdue = Prisma.sql`p.state = 'scheduled' AND p.next_check_at IS NOT NULL
  AND p.may_go_until + ${overdueFor}::interval <= clock_timestamp() + COALESCE(
    (SELECT s.clock_offset_ms FROM statement_state s WHERE s.account_id = p.account_id),
      0) * interval '1 millisecond'`;
/** It was debited and not reversed, and the same bill has another live payment. */
const isSecond = Prisma.sql`p.freed_at IS NOT NULL AND p.state = 'paid'
  AND EXISTS (
    SELECT 1 FROM bill_payment other
    WHERE other.account_id = p.account_id AND other.bar_code = p.bar_code AND other.id <> p.id
      AND other.state NOT IN ('failed', 'rejected') AND other.freed_at IS NULL)
  AND 0 < (
    SELECT sum(CASE m.role WHEN 'payment' THEN m.amount_cents ELSE -m.amount_cents END) FROM match m
    WHERE m.account_id = p.account_id AND m.expected_payment_id = p.expected_payment_id
      AND m.unlinked_at IS NULL)`;
/**
 * Whether the payment has a break. A `duplicate_payment` break resolved automatically is reported
 * again when the reversal belongs to another payment after all.
 */
const isReported = (kind: string) => Prisma.sql`EXISTS (
  SELECT 1 FROM break b
  WHERE b.account_id = p.account_id AND b.kind = ${kind} AND b.subject = 'bill_payment:' || p.id
    AND (b.kind <> 'duplicate_payment' OR b.resolution IS DISTINCT FROM 'automatic'))`;
/** Whether the cause of an open break (b) is gone. */
const isEnded = Prisma.sql`b.state = 'open' AND b.subject LIKE 'bill_payment:%'
  AND b.kind IN ('unknown_outcome', 'duplicate_payment')
  AND NOT EXISTS (
    SELECT 1 FROM bill_payment p
    WHERE p.account_id = b.account_id AND 'bill_payment:' || p.id = b.subject
      AND p.id = CASE WHEN b.subject LIKE 'bill_payment:%'
        THEN substring(b.subject from 14)::uuid END
      AND ((b.kind = 'unknown_outcome' AND p.state = 'scheduled')
        OR (b.kind = 'duplicate_payment' AND ${isSecond})))`;

export async function listUnreportedBillBreaks(db: Db, accountId: number): Promise<NewBreak[]> {
  return db.$queryRaw<NewBreak[]>`
    SELECT unreported.kind, 'bill_payment:' || p.id AS subject, p.amount_cents AS "amountCents",
      NULL::bigint AS nsu,
           p.expected_payment_id AS "expectedPaymentId",
           jsonb_build_object('operationId', p.id, 'bankId', p.bank_id, 'bankStatus', p.bank_status,
                              'scheduledFor', p.scheduled_for, 'mayGoUntil', p.may_go_until)
                                AS evidence
    FROM bill_payment p
    CROSS JOIN LATERAL (
      SELECT 'unknown_outcome' AS kind WHERE ${isOverdue} AND NOT ${isReported('unknown_outcome')}
      UNION ALL
      SELECT 'duplicate_payment' WHERE ${isSecond} AND NOT ${isReported('duplicate_payment')}
    ) unreported
    WHERE p.account_id = ${opaqueAccountId(accountId)}
      AND (p.next_check_at IS NOT NULL OR p.freed_at IS NOT NULL)
    LIMIT 1000`;
}

/** Resolves breaks whose payment has a known outcome, or whose duplicate was reversed. */
export async function resolveEndedBillBreaks(tx: Tx, accountId: number): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now()
    FROM break b
    WHERE b.account_id = ${opaqueAccountId(accountId)} AND ${isEnded}
      AND break.account_id = b.account_id AND break.id = b.id AND break.state = 'open'
    RETURNING ${reportedColumns}`;
}

/** Accounts with a bill payment to report, or a break whose cause is gone. */
export async function listAccountsWithBillBreaks(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    WHERE EXISTS (
      SELECT 1 FROM bill_payment p
      WHERE p.account_id = a.id AND p.next_check_at IS NOT NULL AND ${isOverdue}
        AND NOT ${isReported('unknown_outcome')}
    ) OR EXISTS (
      SELECT 1 FROM bill_payment p
      WHERE p.account_id = a.id AND p.freed_at IS NOT NULL AND ${isSecond}
        AND NOT ${isReported('duplicate_payment')}
    ) OR EXISTS (
      SELECT 1 FROM break b WHERE b.account_id = a.id AND ${isEnded}
    )`;
}
