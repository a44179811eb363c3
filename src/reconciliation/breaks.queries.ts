// Breaks: opened once for what they are about, and resolved by themselves where the book says that it is settled.
import { v7 as uuidv7 } from 'uuid';
import { ofAccount, type Db, type Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { isUnanswered } from './candidates.queries.js';
import * as decided from './line-outcome.js';

const lineBreakKinds: string[] = [...decided.lineBreakKinds];
/** What has settled itself may come about again; what a person settled stays so until it has come to more. */
const reopenedKinds: string[] = [
  ...lineBreakKinds,
  ...decided.settlementBreakKinds,
  ...['missing', 'unreadable_line', 'broken_balance_chain', 'balance_mismatch', 'failed_but_debited'],
];

export interface NewBreak {
  kind: string;
  /** What it is about: one break a kind and subject. */
  subject: string;
  amountCents: bigint | null;
  /** The line that it holds up, or that shows it; null when there is none. */
  nsu: bigint | null;
  expectedPaymentId?: string | null;
  evidence: object;
  /** It is nothing that a person has settled of it, though it comes to no more. */
  isNotWhatWasSettled?: boolean;
}

/** A break whose state has changed, for whoever is to be told. */
export interface ReportedBreak {
  id: string;
  kind: string;
  amountCents: bigint | null;
  nsu: bigint | null;
  expectedPaymentId: string | null;
  /** Null for one that is open. */
  resolution: string | null;
}

export const reportedColumns = Prisma.sql`
  break.id, break.kind, break.amount_cents AS "amountCents", break.nsu,
  break.expected_payment_id AS "expectedPaymentId", break.resolution`;

/** Breaks of a kind that settled themselves. */
export async function resolveOf(
  tx: Tx,
  accountId: number,
  kind: string,
  subjects: string[],
): Promise<ReportedBreak[]> {
  if (subjects.length === 0) return [];
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now()
    WHERE account_id = ${ofAccount(accountId)} AND kind = ${kind} AND subject = ANY (${subjects}::text[]) AND state = 'open'
    RETURNING ${reportedColumns}`;
}

/** The bank's clock less ours. */
const clockOffsetOf = (accountId: number) => Prisma.sql`COALESCE(
  (SELECT clock_offset_ms FROM statement_state WHERE account_id = ${ofAccount(accountId)}), 0) * interval '1 millisecond'`;

/**
 * Opens breaks, each once. One that settled itself is opened again, and one that a person has accepted or refunded where it
 * has come to more than that; the trail tells from what amount to what.
 */
export async function insertBreaks(
  tx: Tx,
  accountId: number,
  breaks: NewBreak[],
): Promise<ReportedBreak[]> {
  if (breaks.length === 0) return [];
  const others = breaks.filter(({ isNotWhatWasSettled }) => isNotWhatWasSettled);
  return tx.$queryRaw<ReportedBreak[]>`
    INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu, expected_payment_id, evidence, opened_day)
    SELECT ${accountId}, b.id, b.kind, 'open', b.subject, b.amount_cents, b.nsu, b.expected_payment_id, b.evidence,
           to_char((now() + ${clockOffsetOf(accountId)}) AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD')
    FROM unnest(
      ${breaks.map(() => uuidv7())}::uuid[], ${breaks.map(({ kind }) => kind)}::text[],
      ${breaks.map(({ subject }) => subject)}::text[],
      ${breaks.map(({ amountCents }) => amountCents)}::bigint[], ${breaks.map(({ nsu }) => nsu)}::bigint[],
      ${breaks.map(({ expectedPaymentId = null }) => expectedPaymentId)}::uuid[],
      ${breaks.map(({ evidence }) => JSON.stringify(evidence))}::jsonb[]
    ) AS b(id, kind, subject, amount_cents, nsu, expected_payment_id, evidence)
    ON CONFLICT (account_id, kind, subject) DO UPDATE
    SET state = 'open', resolved_at = NULL, opened_at = now(), opened_day = EXCLUDED.opened_day,
        evidence = EXCLUDED.evidence, expected_payment_id = EXCLUDED.expected_payment_id,
        amount_cents = EXCLUDED.amount_cents, nsu = EXCLUDED.nsu
    WHERE break.state = 'resolved' AND break.kind = ANY (${reopenedKinds}) AND (break.resolution = 'automatic'
      OR break.resolution IN ('accept', 'refund') AND (EXCLUDED.amount_cents > break.amount_cents
        OR (break.kind, break.subject) IN (SELECT * FROM unnest(
          ${others.map(({ kind }) => kind)}::text[], ${others.map(({ subject }) => subject)}::text[]))))
    RETURNING ${reportedColumns}`;
}

/** What open breaks tell, where it has changed. */
export async function reviseBreaks(tx: Tx, accountId: number, breaks: NewBreak[]): Promise<void> {
  if (breaks.length === 0) return;
  await tx.$executeRaw`
    UPDATE break
    SET amount_cents = b.amount_cents, nsu = b.nsu, expected_payment_id = b.expected_payment_id, evidence = b.evidence
    FROM unnest(
      ${breaks.map(({ kind }) => kind)}::text[], ${breaks.map(({ subject }) => subject)}::text[],
      ${breaks.map(({ amountCents }) => amountCents)}::bigint[], ${breaks.map(({ nsu }) => nsu)}::bigint[],
      ${breaks.map(({ expectedPaymentId = null }) => expectedPaymentId)}::uuid[],
      ${breaks.map(({ evidence }) => JSON.stringify(evidence))}::jsonb[]
    ) AS b(kind, subject, amount_cents, nsu, expected_payment_id, evidence)
    WHERE break.account_id = ${ofAccount(accountId)} AND break.kind = b.kind AND break.subject = b.subject AND break.state = 'open'
      AND (break.amount_cents, break.nsu, break.expected_payment_id, break.evidence)
        IS DISTINCT FROM (b.amount_cents, b.nsu, b.expected_payment_id, b.evidence)`;
}

/**
 * Lines that had no explanation have one. Whether a credit that is matched is one too many, the review of what was paid
 * says: its break keeps its age.
 */
export async function resolveExplained(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<ReportedBreak[]> {
  if (nsus.length === 0) return [];
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now()
    WHERE account_id = ${ofAccount(accountId)} AND nsu = ANY (${nsus}::bigint[]) AND state = 'open'
      AND kind = ANY (${lineBreakKinds})
      AND (kind <> 'duplicate_payment' OR NOT EXISTS (
        SELECT FROM statement_line t JOIN match m ON m.account_id = t.account_id AND m.nsu = t.nsu
        WHERE t.account_id = break.account_id AND t.nsu = break.nsu AND t.is_credit AND m.unlinked_at IS NULL))
    RETURNING ${reportedColumns}`;
}

// Conditions on an operation (o), a failed transfer (f) and a break (b), for whoever lists them and whoever looks for any.
const outcomeIsUnreported = Prisma.sql`o.state = 'needs_operator' AND NOT EXISTS (
  SELECT 1 FROM break b WHERE b.account_id = o.account_id AND b.kind = 'unknown_outcome'
    AND b.subject = 'operation:' || o.id)`;
// One that a person has sent again is nobody's knowledge either, until its answer comes.
const outcomeIsKnown = Prisma.sql`b.state = 'open' AND b.kind = 'unknown_outcome' AND b.subject LIKE 'operation:%'
  AND NOT EXISTS (
    SELECT 1 FROM operation o
    WHERE o.account_id = b.account_id AND 'operation:' || o.id = b.subject
      AND o.id = CASE WHEN b.subject LIKE 'operation:%' THEN substring(b.subject from 11)::uuid END
      AND o.state IN ('needs_operator', 'unknown', 'sending'))`;

/** What nobody knows the end of, without a break yet. */
export async function listUnreported(db: Db, accountId: number): Promise<NewBreak[]> {
  return db.$queryRaw<NewBreak[]>`
    SELECT 'unknown_outcome' AS kind, 'operation:' || o.id AS subject, e.amount_cents AS "amountCents",
           NULL::bigint AS nsu,
           jsonb_build_object('operationId', o.id, 'operationKind', o.kind, 'reason', o.reason,
                              'attempts', o.attempts) AS evidence
    FROM operation o
    LEFT JOIN LATERAL (
      SELECT sum(amount_cents)::bigint AS amount_cents FROM expected_payment
      WHERE account_id = o.account_id AND operation_id = o.id
    ) e ON true
    WHERE o.account_id = ${ofAccount(accountId)} AND ${outcomeIsUnreported}
    LIMIT 1000`;
}

/** Nobody need say any more how operations ended that were the operator's. */
export async function resolveKnownOutcomes(tx: Tx, accountId: number): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now()
    FROM break b
    WHERE b.account_id = ${ofAccount(accountId)} AND ${outcomeIsKnown}
      AND break.account_id = b.account_id AND break.id = b.id AND break.state = 'open'
    RETURNING ${reportedColumns}`;
}

/** What a failed transfer took and did not give back: older ones were told long ago. */
const leftOfFailed = Prisma.sql`
  SELECT e.id AS expected_payment_id, debit.nsu, sums.paid - sums.returned AS kept
  FROM expected_payment e
  CROSS JOIN LATERAL (
    SELECT COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'payment' AND m.unlinked_at IS NULL), 0)::bigint AS paid,
           COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'reversal' AND m.unlinked_at IS NULL), 0)::bigint AS returned,
           min(m.nsu) FILTER (WHERE m.role = 'payment' AND m.unlinked_at IS NULL) AS nsu
    FROM match m WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id
  ) sums
  CROSS JOIN LATERAL (SELECT sums.nsu) debit
  WHERE e.account_id = f.account_id AND e.id = f.expected_payment_id`;
/** Once it has come back it is not: what came back may turn out to be another's. */
const failedIsReported = Prisma.sql`EXISTS (
  SELECT 1 FROM break b WHERE b.account_id = f.account_id AND b.kind = 'failed_but_debited'
    AND b.subject = 'transfer:' || f.id AND b.resolution IS DISTINCT FROM 'automatic')`;
const recentlyFailed = (boundMs: number) => Prisma.sql`f.state = 'failed'
  AND f.updated_at > now() - interval '30 days' AND f.updated_at <= now() - ${boundMs} * interval '1 millisecond'`;

/** Transfers that the bank calls failed, and whose money is gone though it had time to come back. */
export async function listFailedThoughDebited(
  db: Db,
  accountId: number,
  boundMs: number,
): Promise<NewBreak[]> {
  return db.$queryRaw<NewBreak[]>`
    SELECT 'failed_but_debited' AS kind, 'transfer:' || f.id AS subject, kept.kept AS "amountCents",
           NULL::bigint AS nsu, kept.expected_payment_id AS "expectedPaymentId",
           jsonb_build_object('transferId', f.id, 'operationId', f.operation_id, 'endToEndId', f.end_to_end_id,
                              'debitNsu', kept.nsu::text, 'errorCode', f.error_code) AS evidence
    FROM transfer f CROSS JOIN LATERAL (${leftOfFailed}) kept
    WHERE f.account_id = ${ofAccount(accountId)} AND ${recentlyFailed(boundMs)} AND kept.kept > 0 AND NOT ${failedIsReported}
    LIMIT 1000`;
}

/** The money of failed transfers has come back. */
export async function resolveReturned(
  tx: Tx,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<ReportedBreak[]> {
  if (expectedPaymentIds.length === 0) return [];
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'resolved', resolved_at = now()
    FROM transfer f CROSS JOIN LATERAL (${leftOfFailed}) kept
    WHERE break.account_id = ${ofAccount(accountId)} AND break.kind = 'failed_but_debited' AND break.state = 'open'
      AND break.expected_payment_id = ANY (${expectedPaymentIds}::uuid[])
      AND f.account_id = break.account_id AND f.expected_payment_id = break.expected_payment_id
      AND kept.kept <= 0
    RETURNING ${reportedColumns}`;
}

/** Accounts with something that nobody has judged. */
export async function listUndecidedAccounts(
  db: Db,
  pauseMs: number,
): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    LEFT JOIN reconciliation_state s ON s.account_id = a.id
    WHERE (SELECT max(t.arrival) FROM statement_line t WHERE t.account_id = a.id) > COALESCE(s.decided_arrival, 0)
    OR EXISTS (
      SELECT 1 FROM deferred_line d
      WHERE d.account_id = a.id AND d.deferred_at <= now() - ${pauseMs} * interval '1 millisecond'
    ) OR EXISTS (
      SELECT 1 FROM operation o WHERE o.account_id = a.id AND ${outcomeIsUnreported}
    ) OR EXISTS (
      SELECT 1 FROM break b WHERE b.account_id = a.id AND ${outcomeIsKnown}
    )`;
}

/** Accounts with a failed transfer whose money is gone and that nobody was told of. */
export async function listAccountsOfFailed(
  db: Db,
  boundMs: number,
): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT DISTINCT f.account_id AS "accountId" FROM transfer f CROSS JOIN LATERAL (${leftOfFailed}) kept
    WHERE ${recentlyFailed(boundMs)} AND kept.kept > 0 AND NOT ${failedIsReported}`;
}

export interface OperationKey {
  accountId: number;
  operationId: string;
}

/**
 * Operations that count as ended otherwise, or as nobody's knowledge, though the statement shows their effect: a page
 * of them after one, so that those that stay hold up no other.
 */
export async function listProvenWrong(
  db: Db,
  after: OperationKey | null,
  limit: number,
): Promise<OperationKey[]> {
  return db.$queryRaw`
    SELECT o.account_id AS "accountId", o.id AS "operationId" FROM operation o
    WHERE ${isUnanswered} AND o.state IN ('needs_operator', 'not_executed')
      AND (${after === null} OR (o.account_id, o.id) > (${after?.accountId ?? null}::int, ${after?.operationId ?? null}::uuid))
      AND EXISTS (
      SELECT 1 FROM expected_payment e
      JOIN match m ON m.account_id = e.account_id AND m.expected_payment_id = e.id
        AND m.role = 'payment' AND m.unlinked_at IS NULL
      WHERE e.account_id = o.account_id AND e.operation_id = o.id)
    ORDER BY o.account_id, o.id LIMIT ${limit}`;
}
