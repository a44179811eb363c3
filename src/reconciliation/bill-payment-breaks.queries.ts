// Breaks about payments of bills: one that nobody knows the end of, and a bill that was paid twice.
import { ofAccount, type Db, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { reportedColumns, type NewBreak, type ReportedBreak } from './breaks.queries.js';

/** How long after the last moment at which a payment may have gone its end is a person's to find out. */
const overdueFor = '1 day';

// Conditions on a payment (p).
/** By the bank's clock. */
const isOverdue = Prisma.sql`p.state = 'scheduled' AND p.next_check_at IS NOT NULL
  AND p.may_go_until + ${overdueFor}::interval <= clock_timestamp() + COALESCE(
    (SELECT s.clock_offset_ms FROM statement_state s WHERE s.account_id = p.account_id), 0) * interval '1 millisecond'`;
/** Its money is gone, and another payment of its bill lives. */
const isSecond = Prisma.sql`p.freed_at IS NOT NULL AND p.state = 'paid'
  AND EXISTS (
    SELECT 1 FROM bill_payment other
    WHERE other.account_id = p.account_id AND other.bar_code = p.bar_code AND other.id <> p.id
      AND other.state NOT IN ('failed', 'rejected') AND other.freed_at IS NULL)
  AND 0 < (
    SELECT sum(CASE m.role WHEN 'payment' THEN m.amount_cents ELSE -m.amount_cents END) FROM match m
    WHERE m.account_id = p.account_id AND m.expected_payment_id = p.expected_payment_id AND m.unlinked_at IS NULL)`;
/** A second payment is so again once what had come back of it turns out to be another's; an end is known for good. */
const isReported = (kind: string) => Prisma.sql`EXISTS (
  SELECT 1 FROM break b
  WHERE b.account_id = p.account_id AND b.kind = ${kind} AND b.subject = 'bill_payment:' || p.id
    AND (b.kind <> 'duplicate_payment' OR b.resolution IS DISTINCT FROM 'automatic'))`;
/** Of a break (b). */
const isOver = Prisma.sql`b.state = 'open' AND b.subject LIKE 'bill_payment:%'
  AND b.kind IN ('unknown_outcome', 'duplicate_payment')
  AND NOT EXISTS (
    SELECT 1 FROM bill_payment p
    WHERE p.account_id = b.account_id AND 'bill_payment:' || p.id = b.subject
      AND p.id = CASE WHEN b.subject LIKE 'bill_payment:%' THEN substring(b.subject from 14)::uuid END
      AND ((b.kind = 'unknown_outcome' AND p.state = 'scheduled') OR (b.kind = 'duplicate_payment' AND ${isSecond})))`;

export async function listUnreportedOfBills(db: Db, accountId: number): Promise<NewBreak[]> {
  return db.$queryRaw<NewBreak[]>`
    SELECT told.kind, 'bill_payment:' || p.id AS subject, p.amount_cents AS "amountCents", NULL::bigint AS nsu,
           p.expected_payment_id AS "expectedPaymentId",
           jsonb_build_object('operationId', p.id, 'bankId', p.bank_id, 'bankStatus', p.bank_status,
                              'scheduledFor', p.scheduled_for, 'mayGoUntil', p.may_go_until) AS evidence
    FROM bill_payment p
    CROSS JOIN LATERAL (
      SELECT 'unknown_outcome' AS kind WHERE ${isOverdue} AND NOT ${isReported('unknown_outcome')}
      UNION ALL
      SELECT 'duplicate_payment' WHERE ${isSecond} AND NOT ${isReported('duplicate_payment')}
    ) told
    WHERE p.account_id = ${ofAccount(accountId)} AND (p.next_check_at IS NOT NULL OR p.freed_at IS NOT NULL)
    LIMIT 1000`;
}

/** The payment has ended, or the money of one of the two has come back. */
export async function resolveEndedOfBills(tx: Tx, accountId: number): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now()
    FROM break b
    WHERE b.account_id = ${ofAccount(accountId)} AND ${isOver}
      AND break.account_id = b.account_id AND break.id = b.id AND break.state = 'open'
    RETURNING ${reportedColumns}`;
}

/** Accounts with a payment of which somebody is to be told, or a break that is over. */
export async function listAccountsOfBills(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    WHERE EXISTS (
      SELECT 1 FROM bill_payment p
      WHERE p.account_id = a.id AND p.next_check_at IS NOT NULL AND ${isOverdue}
        AND NOT ${isReported('unknown_outcome')}
    ) OR EXISTS (
      SELECT 1 FROM bill_payment p
      WHERE p.account_id = a.id AND p.freed_at IS NOT NULL AND ${isSecond} AND NOT ${isReported('duplicate_payment')}
    ) OR EXISTS (
      SELECT 1 FROM break b WHERE b.account_id = a.id AND ${isOver}
    )`;
}
