// The SQL of matches by hand. All matches of a line are made, and undone, together: they add up to it.
import { v7 as uuidv7 } from 'uuid';
import { opaqueAccountId, type Tx } from '../../database.service.js';
import { subjectOfLine } from '../line-outcome.js';
import type { EventLine } from '../line-events.js';
import { debitsRefundingLine } from '../original-credits.queries.js';

export interface ManualMatchLine extends EventLine {
  arrival: bigint;
  /** Whether a person made one of its live matches. */
  hasManualMatch: boolean;
  /** What of it has gone back, whoever ordered that. */
  gonePartCents: bigint;
}

export async function findManualMatchLine(
  tx: Tx,
  accountId: number,
  nsu: bigint,
): Promise<ManualMatchLine | null> {
  const [line] = await tx.$queryRaw<ManualMatchLine[]>`
    SELECT t.nsu, t.arrival, t.is_credit AS "isCredit", t.amount_cents AS "amountCents", t.type_name AS "typeName",
           t.correlation_id AS "correlationId", t.end_to_end_id AS "endToEndId", t.occurred_at AS "occurredAt",
           EXISTS (SELECT 1 FROM match m WHERE m.account_id = t.account_id AND m.nsu = t.nsu
             AND m.unlinked_at IS NULL AND m.rule = 'manual') AS "hasManualMatch",
           (SELECT COALESCE(sum(gone.amount_cents), 0)::bigint FROM (
             SELECT t.account_id, t.nsu, t.is_credit, t.end_to_end_id) line
            CROSS JOIN LATERAL (${debitsRefundingLine}) gone) AS "gonePartCents"
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
  /** By other lines than this one. */
  paidCents: bigint;
  reversedCents: bigint;
}

/** What these ids name, as far as it is the account's. */
export async function listManualMatchExpected(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  ids: string[],
): Promise<ManualMatchExpected[]> {
  return tx.$queryRaw<ManualMatchExpected[]>`
    SELECT e.id AS "expectedPaymentId", e.operation_id AS "operationId", e.kind, o.state AS "operationState",
           e.is_credit AS "isCredit", e.amount_cents AS "amountCents", e.is_multi_use AS "isMultiUse",
           e.due_date AS "dueDate", e.terms, e.withdrawn_at IS NOT NULL AS "isWithdrawn", paid.cents AS "paidCents",
           paid.returned AS "reversedCents"
    FROM expected_payment e
    LEFT JOIN operation o ON o.account_id = e.account_id AND o.id = e.operation_id
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'payment'), 0)::bigint AS cents,
             COALESCE(sum(m.amount_cents) FILTER (WHERE m.role = 'reversal'), 0)::bigint AS returned
      FROM match m
      WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL
        AND m.nsu <> ${nsu}
    ) paid
    WHERE e.account_id = ${opaqueAccountId(accountId)} AND e.id = ANY (${ids}::uuid[])`;
}

export interface Hand {
  actor: string;
  reason: string;
}

/**
 * The live matches of a line end; the payments that they were of. `actor`: who took them apart, which no id and no rule
 * joins again; null where they give way to another match, and may come again when that one is undone.
 */
export async function unlinkLine(
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
  { actor, reason }: Hand,
): Promise<string[]> {
  const ids = matches.map(() => uuidv7());
  await tx.$executeRaw`
    INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, owed_cents, role, rule, made_by, reason,
      evidence)
    SELECT ${accountId}, m.id, ${nsu}, m.expected, m.cents, m.owed, m.role, 'manual', ${actor}, ${reason}, '{}'
    FROM unnest(
      ${ids}::uuid[], ${matches.map(({ expectedPaymentId }) => expectedPaymentId)}::uuid[],
      ${matches.map(({ amountCents }) => amountCents)}::bigint[],
      ${matches.map(({ owedCents }) => owedCents)}::bigint[],
      ${matches.map(({ role }) => role)}::text[]) AS m(id, expected, cents, owed, role)`;
  return ids;
}

/** What a line was said to be without a match, and that it waits, is over. */
export async function deleteOtherOutcomes(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.$executeRaw`DELETE FROM classification WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ${nsu}`;
  await tx.$executeRaw`DELETE FROM deferred_line WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ${nsu}`;
}

/**
 * The link that settled these breaks is gone, and with it what a person accepted of the line, or of what it left owed: they
 * stand as those that
 * settled themselves, which the judge opens again where it says the same of the line. The ids of them.
 */
export async function freeLinkedBreaks(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  subjects: string[],
): Promise<string[]> {
  const freed = await tx.$queryRaw<{ id: string }[]>`
    UPDATE break SET resolution = 'automatic'
    WHERE account_id = ${opaqueAccountId(accountId)} AND subject = ANY (${subjects}::text[]) AND state = 'resolved'
      AND (resolution = 'link' OR resolution = 'accept' AND (subject = ${subjectOfLine(nsu)} OR kind = 'underpaid'))
    RETURNING id`;
  return freed.map(({ id }) => id);
}
