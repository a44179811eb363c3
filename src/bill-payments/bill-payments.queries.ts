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
          AND m.role = 'return' AND m.unlinked_at IS NULL)`;
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
}

/** Writes what was told of a payment that is locked; what was known and is not told again stays. */
export async function recordTold(
  tx: Tx,
  { accountId, id }: PaymentKey,
  { state, bankId, bankStatus, scheduledFor }: Told,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE bill_payment
    SET state = ${state}, bank_id = COALESCE(${bankId}, bank_id),
        bank_status = COALESCE(${bankStatus}, bank_status),
        scheduled_for = COALESCE(${scheduledFor}, scheduled_for),
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

/** Accounts with a scheduled payment to look at. */
export async function listDueAccounts(db: Db, boundMs: number): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    WHERE EXISTS (
      SELECT 1 FROM bill_payment p LEFT JOIN statement_state s ON s.account_id = p.account_id
      WHERE p.account_id = a.id AND p.next_check_at IS NOT NULL
        AND (${isMatched} OR (p.next_check_at <= clock_timestamp() AND ${isOver(boundMs)})))`;
}

/**
 * Scheduled payments whose money must be on the statement by now, by the bank's clock, or is. The longest unchecked
 * first.
 */
export async function listDue(
  db: Db,
  accountId: number,
  boundMs: number,
  limit: number,
): Promise<DuePayment[]> {
  return db.$queryRaw<DuePayment[]>`
    SELECT p.id, p.bar_code AS "barCode", p.checks, ${isMatched} AS "isMatched"
    FROM bill_payment p LEFT JOIN statement_state s ON s.account_id = p.account_id
    WHERE p.account_id = ${accountId} AND p.next_check_at IS NOT NULL
      AND (${isMatched} OR (p.next_check_at <= clock_timestamp() AND ${isOver(boundMs)}))
    ORDER BY p.next_check_at LIMIT ${limit}`;
}

// Conditions on a scheduled payment (p) and its account's statement (s).
const isMatched = Prisma.sql`EXISTS (
  SELECT 1 FROM match m WHERE m.account_id = p.account_id AND m.expected_payment_id = p.expected_payment_id
    AND m.role = 'payment' AND m.unlinked_at IS NULL)`;
const isOver = (boundMs: number) => Prisma.sql`
  p.scheduled_for + ${boundMs} * interval '1 millisecond'
    <= clock_timestamp() + COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond'`;

/** Its money is on the statement, or the bank says so and nothing else can. */
export async function markPaid(
  db: Db,
  { accountId, id }: PaymentKey,
  bankStatus: string | null,
): Promise<void> {
  await db.$executeRaw`
    UPDATE bill_payment
    SET state = 'paid', bank_status = COALESCE(${bankStatus}, bank_status), checked_at = now(),
        next_check_at = NULL, updated_at = now()
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'scheduled'`;
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
 * `closedForMs` after it, without a line that was matched to it, and without a debit of its amount that nothing
 * else explains and that could be it.
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
    WHERE p.account_id = ${accountId} AND p.id = ${id}::uuid AND p.state = 'scheduled'
      AND s.account_id = p.account_id
      AND s.closed_from <= p.scheduled_for - interval '1 minute'
      AND s.closed_until >= p.scheduled_for + ${closedForMs} * interval '1 millisecond'
      AND NOT EXISTS (
        SELECT 1 FROM match m WHERE m.account_id = p.account_id
          AND m.expected_payment_id = p.expected_payment_id AND m.unlinked_at IS NULL)
      AND NOT EXISTS (
        SELECT 1 FROM "transaction" t
        WHERE t.account_id = p.account_id AND NOT t.is_credit AND t.amount_cents = p.amount_cents
          AND t.occurred_at >= p.scheduled_for - interval '1 minute'
          AND (t.bill_code IS NULL OR t.bill_code = p.bar_code)
          AND NOT EXISTS (SELECT 1 FROM match m WHERE m.account_id = t.account_id AND m.nsu = t.nsu
            AND m.unlinked_at IS NULL))
    RETURNING p.bank_id AS "bankId", p.amount_cents AS "amountCents", p.scheduled_for AS "scheduledFor"`;
  return failed ?? null;
}

export interface PaymentRow {
  id: string;
  operationState: string;
  barCode: string;
  amountCents: bigint;
  bankId: string | null;
  bankStatus: string | null;
  state: PaymentState;
  scheduledFor: Date | null;
  createdAt: Date;
  /** The bank's answer; null while there is none. */
  answer: string | null;
  isWithdrawn: boolean;
  expectedPaymentId: string;
}

export interface PaymentFilters {
  id?: string | undefined;
  bankId?: string | undefined;
  barCode?: string | undefined;
  state?: PaymentState | undefined;
  /** Payments asked for before this one: the list's cursor. */
  before: string | null;
  limit: number;
}

export async function listPayments(
  db: Db,
  accountId: number,
  { id, bankId, barCode, state, before, limit }: PaymentFilters,
): Promise<PaymentRow[]> {
  return db.$queryRaw<PaymentRow[]>`
    SELECT p.id, o.state AS "operationState", p.bar_code AS "barCode", p.amount_cents AS "amountCents",
           p.bank_id AS "bankId", p.bank_status AS "bankStatus", p.state, p.scheduled_for AS "scheduledFor",
           p.created_at AS "createdAt", CASE WHEN o.state = 'succeeded' THEN o.response_body END AS answer,
           e.withdrawn_at IS NOT NULL AS "isWithdrawn", p.expected_payment_id AS "expectedPaymentId"
    FROM bill_payment p
    JOIN operation o ON o.account_id = p.account_id AND o.id = p.id
    JOIN expected_payment e ON e.account_id = p.account_id AND e.id = p.expected_payment_id
    WHERE p.account_id = ${accountId}
      AND (${id ?? null}::uuid IS NULL OR p.id = ${id ?? null}::uuid)
      AND (${bankId ?? null}::text IS NULL OR p.bank_id = ${bankId ?? null})
      AND (${barCode ?? null}::text IS NULL OR p.bar_code = ${barCode ?? null})
      AND (${state ?? null}::text IS NULL OR p.state = ${state ?? null})
      AND (${before}::uuid IS NULL OR p.id < ${before}::uuid)
    ORDER BY p.id DESC LIMIT ${limit}`;
}

export interface MatchedLine {
  expectedPaymentId: string;
  role: 'payment' | 'return';
  nsu: bigint;
  amountCents: bigint;
  occurredAt: Date;
}

/** The lines that were matched to payments, in the order in which they came about. */
export async function listMatched(
  db: Db,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<MatchedLine[]> {
  return db.$queryRaw<MatchedLine[]>`
    SELECT m.expected_payment_id AS "expectedPaymentId", m.role, m.nsu, m.amount_cents AS "amountCents",
           t.occurred_at AS "occurredAt"
    FROM match m JOIN "transaction" t ON t.account_id = m.account_id AND t.nsu = m.nsu
    WHERE m.account_id = ${accountId} AND m.expected_payment_id = ANY (${expectedPaymentIds}::uuid[])
      AND m.unlinked_at IS NULL
    ORDER BY t.occurred_at, t.nsu`;
}
