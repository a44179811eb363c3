// SQL of manual matches. All matches of a line are made and undone together, since they sum to
// it.
import { v7 as uuidv7 } from 'uuid';
import { opaqueAccountId, type Tx } from '../../database.service.js';
import { subjectOfLine } from '../line-outcome.js';
import type { EventLine } from '../line-events.js';
import { debitsRefundingLine } from '../original-credits.queries.js';

export interface ManualMatchLine extends EventLine {
  arrival: bigint;
  /** Whether a live match of the line is manual. */
  hasManualMatch: boolean;
  /** The refunded part of the line, by requested and unrequested refunds. */
  refundedPartCents: bigint;
}

export async function findManualMatchLine(
  tx: Tx,
  accountId: number,
  nsu: bigint,
): Promise<ManualMatchLine | null> {
  const [line] = await tx.$queryRaw<ManualMatchLine[]>`
    SELECT t.nsu, t.arrival, t.is_credit AS "isCredit", t.amount_cents AS "amountCents",
           t.type_name AS "typeName", t.correlation_id AS "correlationId",
           t.end_to_end_id AS "endToEndId", t.occurred_at AS "occurredAt",
           EXISTS (SELECT 1 FROM match m WHERE m.account_id = t.account_id AND m.nsu = t.nsu
             AND m.unlinked_at IS NULL AND m.rule = 'manual') AS "hasManualMatch",
           (SELECT COALESCE(sum(refund.amount_cents), 0)::bigint FROM (
             SELECT t.account_id, t.nsu, t.is_credit, t.end_to_end_id) line
            CROSS JOIN LATERAL (${debitsRefundingLine}) refund) AS "refundedPartCents"
    FROM statement_line t WHERE t.account_id = ${opaqueAccountId(accountId)} AND t.nsu = ${nsu}`;
  return line ?? null;
}

export interface ManualMatchExpected {
  expectedPaymentId: string;
  operationId: string;
  kind: string;
  operationState: string | null;
  isCredit: boolean;
  amountCents: bigint | null;
  isMultiUse: boolean;
  dueDate: string | null;
  terms: string | null;
  isWithdrawn: boolean;
  /** The cents that other lines have paid. */
  paidCents: bigint;
  reversedCents: bigint;
}

/** The account's expected payments with these ids. */
export async function listManualMatchExpected(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  ids: string[],
): Promise<ManualMatchExpected[]> {
  return tx.$queryRaw<ManualMatchExpected[]>`
    SELECT e.id AS "expectedPaymentId", e.operation_id AS "operationId", e.kind,
           o.state AS "operationState", e.is_credit AS "isCredit", e.amount_cents AS "amountCents",
           e.is_multi_use AS "isMultiUse", e.due_date AS "dueDate", e.terms,
           e.withdrawn_at IS NOT NULL AS "isWithdrawn", paid.cents AS "paidCents",
           paid.reversed AS "reversedCents"
    FROM expected_payment e
    LEFT JOIN operation o ON o.account_id = e.account_id AND o.id = e.operation_id
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'payment'), 0)::bigint AS cents,
             COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'reversal'), 0)::bigint AS reversed
      FROM match m
      WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL
        AND m.nsu <> ${nsu}
    ) paid
    WHERE e.account_id = ${opaqueAccountId(accountId)} AND e.id = ANY (${ids}::uuid[])`;
}

/** `actor`: an API key's id, or `policy`. */
export interface DecidedBy {
  actor: string;
  reason: string;
}

/**
 * Unlinks the live matches of a line and returns them. With an `actor`, no reference and no rule
 * links the same pairs again. With null, another match displaces them, and they may return when
 * that match is undone.
 */
export async function unlinkMatchesOfLine(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  { actor, reason }: { actor: string | null; reason: string },
): Promise<{ id: string; expectedPaymentId: string; role: string; amountCents: bigint }[]> {
  return tx.$queryRaw`
    UPDATE match SET unlinked_at = now(), unlinked_by = ${actor}, unlink_reason = ${reason}
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ${nsu} AND unlinked_at IS NULL
    RETURNING id, expected_payment_id AS "expectedPaymentId", role, amount_cents AS "amountCents"`;
}

export interface ManualMatch {
  expectedPaymentId: string;
  amountCents: bigint;
  owedCents: bigint | null;
  role: 'payment' | 'reversal';
}

export async function insertManualMatches(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  matches: ManualMatch[],
  { actor, reason }: DecidedBy,
): Promise<string[]> {
  const ids = matches.map(() => uuidv7());
  await tx.$executeRaw`
    INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, owed_cents, role,
      rule, made_by, reason, evidence)
    SELECT ${accountId}, m.id, ${nsu}, m.expected, m.cents, m.owed, m.role, 'manual', ${actor},
      ${reason}, '{}'
    FROM unnest(
      ${ids}::uuid[], ${matches.map(({ expectedPaymentId }) => expectedPaymentId)}::uuid[],
      ${matches.map(({ amountCents }) => amountCents)}::bigint[],
      ${matches.map(({ owedCents }) => owedCents)}::bigint[],
      ${matches.map(({ role }) => role)}::text[]) AS m(id, expected, cents, owed, role)`;
  return ids;
}

/** Deletes the line's classification and its row in `deferred_line`. */
export async function deleteOtherOutcomes(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM classification WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ${nsu}`;
  await tx.$executeRaw`
    DELETE FROM deferred_line WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ${nsu}`;
}

/**
 * Marks breaks as resolved automatically after the link that resolved them is undone, so that
 * reconciliation can reopen them. This includes accepted breaks of the line, and accepted breaks
 * about the amount that the line left unpaid. Returns the ids of the breaks.
 */
export async function resetLinkedBreaks(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  subjects: string[],
): Promise<string[]> {
  const reset = await tx.$queryRaw<{ id: string }[]>`
    UPDATE break SET resolution = 'automatic'
    WHERE account_id = ${opaqueAccountId(accountId)} AND subject = ANY (${subjects}::text[])
      AND state = 'resolved'
      AND (resolution = 'link' OR resolution = 'accept'
        AND (subject = ${subjectOfLine(nsu)} OR kind = 'underpaid'))
    RETURNING id`;
  return reset.map(({ id }) => id);
}
