// The SQL of bill payments. A payment's state is changed under its row's lock, or from the state that may precede it.
import type { Db, Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import type { PaymentState } from './payment-life.js';

export interface PaymentKey {
  accountId: number;
  id: string;
}

export interface NewPayment extends PaymentKey {
  barCode: string;
  amountCents: bigint;
  expectedPaymentId: string;
}

/** False where another payment of the bill lives. Waits for one that is just being asked for. */
export async function insertPayment(tx: Tx, payment: NewPayment): Promise<boolean> {
  const { accountId, id, barCode, amountCents, expectedPaymentId } = payment;
  const inserted = await tx.$executeRaw`
    INSERT INTO bill_payment (account_id, id, bar_code, amount_cents, state, expected_payment_id)
    VALUES (${accountId}, ${id}::uuid, ${barCode}, ${amountCents}, 'requested', ${expectedPaymentId}::uuid)
    ON CONFLICT (account_id, bar_code) WHERE state NOT IN ('failed', 'rejected') AND freed_at IS NULL DO NOTHING`;
  return inserted === 1;
}

/** Lets the bill be paid again whose money has all come back; false where none has. */
export async function freeReturned(tx: Tx, accountId: number, barCode: string): Promise<boolean> {
  const freed = await tx.$executeRaw`
    UPDATE bill_payment p SET freed_at = now(), updated_at = now()
    WHERE p.account_id = ${accountId} AND p.bar_code = ${barCode} AND p.state = 'paid' AND p.freed_at IS NULL
      AND p.amount_cents <= (
        SELECT sum(m.amount_cents) FROM match m
        WHERE m.account_id = p.account_id AND m.expected_payment_id = p.expected_payment_id
          AND m.role = 'reversal' AND m.unlinked_at IS NULL)`;
  return freed === 1;
}

/** The payment that holds a bill. */
export async function findLive(
  tx: Tx,
  accountId: number,
  barCode: string,
): Promise<{ id: string; state: PaymentState } | null> {
  const [live] = await tx.$queryRaw<{ id: string; state: PaymentState }[]>`
    SELECT id, state FROM bill_payment
    WHERE account_id = ${accountId} AND bar_code = ${barCode}
      AND state NOT IN ('failed', 'rejected') AND freed_at IS NULL`;
  return live ?? null;
}

export interface LockedPayment {
  state: PaymentState;
  barCode: string;
  amountCents: bigint;
  bankId: string | null;
  scheduledFor: Date | null;
  expectedPaymentId: string;
  /** The payment that holds the bill, where that is another one. */
  otherLiveId: string | null;
}

export async function lockPayment(
  tx: Tx,
  { accountId, id }: PaymentKey,
): Promise<LockedPayment | null> {
  const [payment] = await tx.$queryRaw<LockedPayment[]>`
    SELECT p.state, p.bar_code AS "barCode", p.amount_cents AS "amountCents", p.bank_id AS "bankId",
           p.scheduled_for AS "scheduledFor", p.expected_payment_id AS "expectedPaymentId",
           (SELECT other.id FROM bill_payment other
            WHERE other.account_id = p.account_id AND other.bar_code = p.bar_code AND other.id <> p.id
              AND other.state NOT IN ('failed', 'rejected') AND other.freed_at IS NULL) AS "otherLiveId"
    FROM bill_payment p WHERE p.account_id = ${accountId} AND p.id = ${id}::uuid FOR UPDATE OF p`;
  return payment ?? null;
}

export interface Told {
  state: PaymentState;
  bankId: string | null;
  bankStatus: string | null;
  scheduledFor: Date | null;
  /** Null with it. */
  mayGoUntil: Date | null;
  /** Whether its bill is another's by now. */
  isLetGo: boolean;
}

/** Writes what was told of a payment that is locked; what was known and is not told again stays. */
export async function recordReported(
  tx: Tx,
  { accountId, id }: PaymentKey,
  { state, bankId, bankStatus, scheduledFor, mayGoUntil, isLetGo }: Told,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE bill_payment
    SET state = ${state}, bank_id = COALESCE(${bankId}, bank_id),
        bank_status = COALESCE(${bankStatus}, bank_status),
        scheduled_for = COALESCE(${scheduledFor}, scheduled_for),
        may_go_until = COALESCE(${mayGoUntil}, may_go_until),
        freed_at = CASE WHEN ${isLetGo} THEN COALESCE(freed_at, now()) ELSE freed_at END,
        next_check_at = CASE WHEN ${state} = 'scheduled' THEN clock_timestamp() END, updated_at = now()
    WHERE account_id = ${accountId} AND id = ${id}::uuid`;
}

/** The bank took back its word, or never gave it: nothing was paid. */
export async function markRejected(tx: Tx, { accountId, id }: PaymentKey): Promise<void> {
  await tx.$executeRaw`
    UPDATE bill_payment SET state = 'rejected', next_check_at = NULL, updated_at = now()
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'requested'`;
}

export interface DuePayment {
  id: string;
  barCode: string;
  checks: number;
  isMatched: boolean;
}

/** Accounts with a payment to look at. */
export async function listDueAccounts(db: Db, boundMs: number): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    WHERE EXISTS (
      SELECT 1 FROM bill_payment p LEFT JOIN statement_state s ON s.account_id = p.account_id
      WHERE p.account_id = a.id AND p.next_check_at IS NOT NULL
        AND (${isMatched} OR (p.next_check_at <= clock_timestamp() AND ${isOver(boundMs)}))
    ) OR EXISTS (
      SELECT 1 FROM bill_payment p WHERE p.account_id = a.id AND p.state = 'failed' AND ${isMatched}
    )`;
}

/**
 * Scheduled payments whose money must be on the statement by now, by the bank's clock, or is, the longest unchecked
 * first; and those that had failed and whose money is.
 */
export async function listDue(
  db: Db,
  accountId: number,
  boundMs: number,
  limit: number,
): Promise<DuePayment[]> {
  return db.$queryRaw<DuePayment[]>`
    (SELECT p.id, p.bar_code AS "barCode", p.checks, true AS "isMatched"
     FROM bill_payment p
     WHERE p.account_id = ${accountId} AND p.state = 'failed' AND ${isMatched} LIMIT ${limit})
    UNION ALL
    (SELECT p.id, p.bar_code, p.checks, ${isMatched}
     FROM bill_payment p LEFT JOIN statement_state s ON s.account_id = p.account_id
     WHERE p.account_id = ${accountId} AND p.next_check_at IS NOT NULL
       AND (${isMatched} OR (p.next_check_at <= clock_timestamp() AND ${isOver(boundMs)}))
     ORDER BY p.next_check_at LIMIT ${limit})`;
}

// Conditions on a payment (p) and its account's statement (s).
const isMatched = Prisma.sql`EXISTS (
  SELECT 1 FROM match m WHERE m.account_id = p.account_id AND m.expected_payment_id = p.expected_payment_id
    AND m.role = 'payment' AND m.unlinked_at IS NULL)`;
const isOver = (boundMs: number) => Prisma.sql`
  p.scheduled_for + ${boundMs} * interval '1 millisecond'
    <= clock_timestamp() + COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond'`;

/**
 * Its money is on the statement, or the bank says so and nothing else can. It may have been taken for failed, and
 * another may have been given its bill since: then it is paid and holds no bill.
 */
export async function markPaid(
  tx: Tx,
  { accountId, id }: PaymentKey,
  bankStatus: string | null,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE bill_payment p
    SET state = 'paid', bank_status = COALESCE(${bankStatus}, p.bank_status), checked_at = now(),
        freed_at = CASE WHEN p.freed_at IS NULL AND EXISTS (
          SELECT 1 FROM bill_payment other
          WHERE other.account_id = p.account_id AND other.bar_code = p.bar_code AND other.id <> p.id
            AND other.state NOT IN ('failed', 'rejected') AND other.freed_at IS NULL
        ) THEN now() ELSE p.freed_at END,
        next_check_at = NULL, updated_at = now()
    WHERE p.account_id = ${accountId} AND p.id = ${id}::uuid AND p.state IN ('scheduled', 'failed')`;
}

/** It is looked at again after this long; `bankStatus` is null when the bank did not say. */
export async function postpone(
  db: Db,
  { accountId, id }: PaymentKey,
  { bankStatus, pauseMs }: { bankStatus: string | null; pauseMs: number },
): Promise<void> {
  await db.$executeRaw`
    UPDATE bill_payment
    SET checks = checks + 1, checked_at = now(), updated_at = now(),
        bank_status = COALESCE(${bankStatus}, bank_status),
        next_check_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'scheduled'`;
}

export interface FailedPayment {
  bankId: string | null;
  amountCents: bigint;
  scheduledFor: Date | null;
}

/**
 * Ends a scheduled payment as failed; null unless the statement proves it: closed from before its time until
 * `closedForMs` after the last moment at which it may have gone, all lines of that span judged, none of them matched
 * to it, no debit of its amount among them that could be it and that nothing else explains, and none unreadable.
 */
export async function failUnpaid(
  tx: Tx,
  { accountId, id }: PaymentKey,
  { bankStatus, closedForMs }: { bankStatus: string; closedForMs: number },
): Promise<FailedPayment | null> {
  const [failed] = await tx.$queryRaw<FailedPayment[]>`
    UPDATE bill_payment p
    SET state = 'failed', bank_status = ${bankStatus}, checked_at = now(), next_check_at = NULL, updated_at = now()
    FROM statement_state s
    CROSS JOIN LATERAL (SELECT ${closedForMs} * interval '1 millisecond' AS late) closed
    WHERE p.account_id = ${accountId} AND p.id = ${id}::uuid AND p.state = 'scheduled'
      AND s.account_id = p.account_id
      AND s.closed_from <= p.scheduled_for - interval '1 minute'
      AND s.closed_until >= p.may_go_until + closed.late
      AND NOT ${isMatched}
      AND NOT EXISTS (
        SELECT 1 FROM statement_line t
        WHERE t.account_id = p.account_id AND NOT t.is_credit
          AND t.occurred_at >= p.scheduled_for - interval '1 minute'
          AND t.occurred_at < p.may_go_until + closed.late
          AND (${isUndecided} OR (t.amount_cents = p.amount_cents
            AND (t.bill_code IS NULL OR t.bill_code = p.bar_code) AND NOT ${isExplained})))
      AND NOT ${hasUnreadable}
    RETURNING p.bank_id AS "bankId", p.amount_cents AS "amountCents", p.scheduled_for AS "scheduledFor"`;
  return failed ?? null;
}

/** Since the payment (p) was asked for a line came that nobody could read, nor has settled. */
const hasUnreadable = Prisma.sql`EXISTS (
  SELECT 1 FROM unreadable_line u
  WHERE u.account_id = p.account_id AND u.recorded_at >= p.created_at AND NOT EXISTS (
    SELECT 1 FROM break b WHERE b.account_id = u.account_id AND b.kind = 'unreadable_line'
      AND b.subject = 'line:' || u.content_hash AND b.state = 'resolved'))`;
// Conditions on a line (t).
const isUndecided = Prisma.sql`(
  t.arrival > COALESCE(
    (SELECT r.decided_arrival FROM reconciliation_state r WHERE r.account_id = t.account_id), 0)
  OR EXISTS (SELECT 1 FROM deferred_line d WHERE d.account_id = t.account_id AND d.nsu = t.nsu))`;
/** What it is has been found, or a person has settled it. */
const isExplained = Prisma.sql`(
  EXISTS (SELECT 1 FROM match m WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL)
  OR EXISTS (SELECT 1 FROM classification c WHERE c.account_id = t.account_id AND c.nsu = t.nsu)
  OR EXISTS (SELECT 1 FROM break b WHERE b.account_id = t.account_id AND b.nsu = t.nsu
    AND b.kind IN ('unexpected', 'ambiguous') AND b.state = 'resolved'))`;
