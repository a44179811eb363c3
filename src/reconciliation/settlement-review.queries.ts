// Loads the payments of charges and QR codes for their review, with their open and settled breaks.
import { opaqueAccountId, type Db, type Tx } from '../database.service.js';
import {
  refundedCentsOfMatch,
  joinRefundTotals,
} from '../expected-payments/refunded-amounts.queries.js';
import { Prisma } from '../generated/service/client.js';
import { subjectOfExpected, settlementBreakKinds } from './line-outcome.js';
import { reportedColumns, type ReportedBreak } from './breaks.queries.js';

export interface ReviewedPaymentRow {
  expectedPaymentId: string;
  amountCents: bigint | null;
  isMultiUse: boolean;
  dueDate: string | null;
  terms: string | null;
  cancelledAt: Date | null;
  expiredAt: Date | null;
  nsu: bigint;
  occurredAt: Date;
  rule: string;
  paidCents: bigint;
  refundedCents: bigint;
  toleratedCents: bigint | null;
  /** False when its match was unlinked. */
  isLive: boolean;
}

/**
 * The payments of these credits, and of the credits that share a line with them. For a refund, the
 * refunded credit is used. Exact payments of a multi-use QR code are left out, because there are
 * thousands.
 */
export async function listReviewedPayments(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<ReviewedPaymentRow[]> {
  return tx.$queryRaw<ReviewedPaymentRow[]>`
    WITH RECURSIVE touched(id, is_multi_use) AS (
      SELECT e.id, e.is_multi_use FROM (
        SELECT id FROM unnest(${expectedPaymentIds}::uuid[]) AS wanted(id)
        UNION
        SELECT m.expected_payment_id FROM unnest(${expectedPaymentIds}::uuid[]) AS wanted(id)
        JOIN refund r ON r.account_id = ${opaqueAccountId(accountId)}
          AND r.expected_payment_id = wanted.id
        CROSS JOIN LATERAL (
          SELECT expected_payment_id FROM match
          WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = r.original_nsu
            AND unlinked_at IS NULL OFFSET 0
        ) m
      ) wanted
      CROSS JOIN LATERAL (
        SELECT id, is_credit, is_multi_use FROM expected_payment
          WHERE account_id = ${opaqueAccountId(accountId)} AND id = wanted.id OFFSET 0
      ) e
      WHERE e.is_credit
      UNION
      SELECT e.id, e.is_multi_use FROM touched
      CROSS JOIN LATERAL (
        SELECT nsu, role FROM match WHERE account_id = ${opaqueAccountId(accountId)}
          AND expected_payment_id = touched.id OFFSET 0
      ) m
      CROSS JOIN LATERAL (
        SELECT expected_payment_id FROM match
        WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = m.nsu
          AND unlinked_at IS NULL OFFSET 0
      ) same_line
      CROSS JOIN LATERAL (
        SELECT id, is_credit, is_multi_use FROM expected_payment
        WHERE account_id = ${opaqueAccountId(accountId)}
          AND id = same_line.expected_payment_id OFFSET 0
      ) e
      WHERE NOT touched.is_multi_use AND m.role = 'payment' AND e.is_credit AND e.id <> touched.id
    )
    SELECT e.id AS "expectedPaymentId", e.amount_cents AS "amountCents",
      e.is_multi_use AS "isMultiUse",
           e.due_date AS "dueDate", e.terms, c.cancelled_at AS "cancelledAt",
             c.expired_at AS "expiredAt",
           line.nsu, line.occurred_at AS "occurredAt", m.rule, m.amount_cents AS "paidCents",
           ${refundedCentsOfMatch} AS "refundedCents",
           CASE WHEN m.rule = 'declared' AND m.evidence ? 'differenceCents'
             THEN m.owed_cents END AS "toleratedCents",
           m.unlinked_at IS NULL AS "isLive"
    FROM touched
    -- OFFSET 0 makes each step use its index, with or without statistics.
    CROSS JOIN LATERAL (
      SELECT * FROM expected_payment WHERE account_id = ${opaqueAccountId(accountId)}
        AND id = touched.id OFFSET 0
    ) e
    CROSS JOIN LATERAL (
      SELECT nsu, role, amount_cents, owed_cents, rule, evidence, unlinked_at FROM match
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = e.id OFFSET 0
    ) m
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line WHERE account_id = ${opaqueAccountId(accountId)}
        AND nsu = m.nsu OFFSET 0
    ) line
    LEFT JOIN charge c ON c.account_id = ${opaqueAccountId(accountId)}
      AND c.expected_payment_id = e.id
    ${joinRefundTotals(Prisma.sql`e.id`)}
    WHERE m.role = 'payment' AND (NOT e.is_multi_use OR m.amount_cents <> e.amount_cents)`;
}

export interface OpenFinding {
  kind: string;
  subject: string;
}

/** The open settlement breaks about these lines and expected payments. */
export async function listOpenFindings(
  tx: Tx,
  accountId: number,
  { nsus, expectedPaymentIds }: { nsus: bigint[]; expectedPaymentIds: string[] },
): Promise<OpenFinding[]> {
  return tx.$queryRaw<OpenFinding[]>`
    SELECT kind, subject FROM break
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[])
      AND state = 'open'
      AND kind = ANY (${[...settlementBreakKinds]}::text[]) AND subject LIKE 'nsu:%'
    UNION
    SELECT kind, subject FROM break
    WHERE account_id = ${opaqueAccountId(accountId)} AND kind = 'underpaid' AND state = 'open'
      AND subject = ANY (${expectedPaymentIds.map(subjectOfExpected)}::text[])`;
}

/**
 * Accepts open breaks again that were reopened for a larger amount and are now within the accepted
 * amount. Breaks on which a person acted since are left out. `amountCents` is the current amount of
 * each.
 */
export async function restoreAcceptances(
  tx: Tx,
  accountId: number,
  open: (OpenFinding & { amountCents: bigint })[],
): Promise<ReportedBreak[]> {
  if (open.length === 0) return [];
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now(), resolution = 'accept',
      resolved_by = again.actor,
                     resolution_reason = again.reason, amount_cents = again.cents
    FROM (
      SELECT b.account_id, b.id, accepted.actor, accepted.reason, accepted.cents
      FROM unnest(
        ${open.map(({ kind }) => kind)}::text[], ${open.map(({ subject }) => subject)}::text[],
        ${open.map(({ amountCents }) => amountCents)}::bigint[]
      ) AS found(kind, subject, cents)
      JOIN break b ON b.account_id = ${opaqueAccountId(accountId)} AND b.kind = found.kind
        AND b.subject = found.subject
        AND b.state = 'open'
      CROSS JOIN LATERAL (
        SELECT e.sequence, e.actor, e.reason, (
          SELECT (more.detail ->> 'fromCents')::bigint FROM break_history_entry more
          WHERE more.account_id = b.account_id AND more.break_id = b.id AND more.action = 'reopened'
            AND more.sequence > e.sequence
          ORDER BY more.sequence LIMIT 1) AS cents
        FROM break_history_entry e
        WHERE e.account_id = b.account_id AND e.break_id = b.id AND e.action = 'resolved'
          AND e.detail ->> 'resolution' = 'accept'
        ORDER BY e.sequence DESC LIMIT 1
      ) accepted
      WHERE found.cents <= accepted.cents AND NOT EXISTS (
        SELECT 1 FROM break_history_entry since WHERE since.account_id = b.account_id
          AND since.break_id = b.id
          AND since.sequence > accepted.sequence
            AND since.action IN ('reopen', 'unlink', 'link', 'refund'))
    ) again
    WHERE break.account_id = again.account_id AND break.id = again.id
    RETURNING ${reportedColumns}`;
}

export interface SettledFinding {
  kind: string;
  subject: string;
  expectedPaymentId: string | null;
  resolution: string;
  /** Findings up to this amount are covered by the resolution. */
  coveredCents: bigint | null;
}

/**
 * The settlement breaks of these lines that a person resolved. Refunded money is no longer part of
 * a finding, so a refund covers no further amount. There are two exceptions. A refund of a line
 * that pays several expected payments cannot be attributed to one of them. An underpaid amount was
 * never received.
 */
export async function listSettledFindings(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<SettledFinding[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw<SettledFinding[]>`
    SELECT b.kind, b.subject, b.expected_payment_id AS "expectedPaymentId", b.resolution,
           CASE WHEN b.resolution = 'accept' OR b.kind = 'underpaid' OR EXISTS (
             SELECT FROM statement_line line
             JOIN match m ON m.account_id = line.account_id AND m.nsu = line.nsu
               AND m.unlinked_at IS NULL
             WHERE line.account_id = b.account_id AND line.nsu = b.nsu
               AND m.amount_cents <> line.amount_cents
           ) THEN b.amount_cents ELSE 0 END AS "coveredCents"
    FROM break b
    WHERE b.account_id = ${opaqueAccountId(accountId)} AND b.nsu = ANY (${nsus}::bigint[])
      AND b.state = 'resolved'
      AND b.resolution IN ('accept', 'refund')
        AND b.kind = ANY (${[...settlementBreakKinds]}::text[])
      AND b.subject LIKE 'nsu:%'`;
}

/**
 * Charges (c) that ended at the bank and have a later payment without a break. Manual matches and
 * fully refunded payments are left out: they get no such break.
 */
const isEndedButPaid = (after: Prisma.Sql) => Prisma.sql`
  (c.cancelled_at IS NOT NULL OR c.expired_at IS NOT NULL)
    AND c.checked_at > COALESCE(${after}, '-infinity')
  AND EXISTS (
    SELECT FROM (
      SELECT nsu, role, rule, amount_cents, unlinked_at FROM match
      WHERE account_id = c.account_id AND expected_payment_id = c.expected_payment_id OFFSET 0
    ) m
    JOIN statement_line line ON line.account_id = c.account_id AND line.nsu = m.nsu
    ${joinRefundTotals(Prisma.sql`c.expected_payment_id`)}
    WHERE m.unlinked_at IS NULL AND m.role = 'payment' AND m.rule <> 'manual'
      AND m.amount_cents > own_refunds.cents + bank_reversal_total.cents
      AND ((c.cancelled_at IS NOT NULL AND m.rule <> 'declared')
        OR line.occurred_at > c.cancelled_at
        OR line.occurred_at > c.expired_at)
      AND NOT EXISTS (
        SELECT FROM break b WHERE b.account_id = c.account_id AND b.nsu = line.nsu
          AND (b.kind IN ('paid_after_cancellation', 'paid_after_expiry')
            OR (b.resolution = 'accept' OR b.resolution = 'refund'
              AND m.amount_cents <> line.amount_cents)
            AND b.amount_cents >= m.amount_cents - own_refunds.cents
              - bank_reversal_total.cents)))`;

export interface EndedCharge {
  checkedAt: Date;
  correlationId: string;
  expectedPaymentId: string;
}

/**
 * A page of ended but paid charges after `after`, in the order in which they were checked at the
 * bank.
 */
export async function listEndedButPaidCharges(
  tx: Tx,
  accountId: number,
  { after, limit }: { after: EndedCharge | null; limit: number },
): Promise<EndedCharge[]> {
  const { checkedAt = null, correlationId = null } = after ?? {};
  const reviewedAt = Prisma.sql`(SELECT charges_reviewed_at FROM reconciliation_state
    WHERE account_id = ${opaqueAccountId(accountId)})`;
  return tx.$queryRaw<EndedCharge[]>`
    SELECT c.checked_at AS "checkedAt", c.correlation_id AS "correlationId",
           c.expected_payment_id AS "expectedPaymentId"
    FROM charge c
    WHERE c.account_id = ${opaqueAccountId(accountId)} AND ${isEndedButPaid(reviewedAt)}
      AND (${after === null}
        OR (c.checked_at, c.correlation_id) > (${checkedAt}::timestamptz, ${correlationId}::text))
    ORDER BY c.checked_at, c.correlation_id LIMIT ${limit}`;
}

/** How long a check of a charge at the bank may take from its start to its commit. */
export const chargeChecksTakeAtMost = '10 minutes';

/** Records that charges checked before this time have been reviewed. */
export async function recordChargesReviewed(tx: Tx, accountId: number): Promise<void> {
  await tx.$executeRaw`
    UPDATE reconciliation_state SET charges_reviewed_at = now()
      - ${chargeChecksTakeAtMost}::interval
    WHERE account_id = ${opaqueAccountId(accountId)}
      AND (charges_reviewed_at IS NULL
        OR charges_reviewed_at < now() - 2 * ${chargeChecksTakeAtMost}::interval)`;
}

/** Accounts with a charge that ended and was paid afterwards. */
export async function listAccountsWithEndedCharges(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    LEFT JOIN reconciliation_state s ON s.account_id = a.id
    WHERE EXISTS (
      SELECT FROM charge c WHERE c.account_id = a.id
        AND ${isEndedButPaid(Prisma.sql`s.charges_reviewed_at`)})`;
}
