// What connects lines and expected payments: references, manual links, refunds and amounts. Each
// query searches by keys, so its cost follows what is connected and not the history. A multi-use QR
// code and a reference that names more than 50 expected payments connect nothing.
import { visibilityBoundOrDefaultMs, type BankProfile } from '../../bank/profiles.js';
import {
  accountColumn,
  opaqueAccountId,
  opaqueArray,
  type Reader,
} from '../../platform/postgres/database.service.js';
import type { CreditDays } from '../../statement/expected-payments/credit-days.js';
import { unattributedDebits } from '../../statement/expected-payments/refunds-by-payer.queries.js';
import {
  lineReferenceKinds,
  type Reference,
} from '../../statement/expected-payments/references.js';
import { Prisma } from '../../generated/service/client.js';
import { attemptEnd, attemptStart } from '../../outbound/operations/attempt-times.queries.js';
import { clockToleranceMs } from '../../outbound/operations/effect-period.js';
import { debitMissingAfterMs } from '../decide/missing.js';
import { openOperationDays } from '../decide/unrequested-debits.js';

/** A reference that names more expected payments than this connects nothing. */
export const maxNamed = 50;
/** More lines with one id than this cannot be distinguished by it. */
const maxSharing = 1_000;

export interface ComponentIds {
  nsus: Set<bigint>;
  expectedPaymentIds: Set<string>;
  /** Operations that are due themselves. */
  operationIds: Set<string>;
}

/** Which rows to read: those of a component, or all of the account. */
export type Selection = ComponentIds | 'all';

export interface ComponentSeeds {
  nsus: readonly bigint[];
  expectedPaymentIds: readonly string[];
  operationIds?: readonly string[];
}

/** How late something may show on the statement. */
export interface LoadOptions {
  /** A debit after the last attempt of its operation. */
  effectMs: number;
  /** A line that another line refunds or reverses, and the reversal of a failed transfer. */
  freshMs: number;
  /** Money that we sent, before it is missing. */
  debitMissingMs: number;
  /** For ways of payment for which the account has set none. */
  creditDays: CreditDays;
}

/** For banks without a known visibility bound: their analysis of a Pix takes up to an hour. */
const defaultEffectMs = 3_600_000;

export function loadOptionsOf(profile: BankProfile): LoadOptions {
  return {
    effectMs: profile.visibilityBoundMs ?? defaultEffectMs,
    freshMs: visibilityBoundOrDefaultMs(profile),
    debitMissingMs: debitMissingAfterMs(profile.visibilityBoundMs),
    creditDays: profile.creditDays,
  };
}

/**
 * The bank has not refused the operation, and its response never came. Must equal the condition of
 * the index operation_without_response, so that PostgreSQL uses it.
 */
export const isWithoutResponse = Prisma.sql`(o.state <> 'rejected'
  AND o.state <> 'awaiting_approval' AND o.state <> 'declined' AND o.state <> 'expired'
  AND (o.state <> 'succeeded' OR o.response_status IS NULL))`;

/**
 * The span of bank time in which the money of an operation (o) can have moved. It follows from the
 * clock offsets at the attempts, and not from today's.
 */
const effectOfOperation = (accountId: number, boundMs: number) => Prisma.sql`
  SELECT COALESCE(
           min(${attemptStart}), o.created_at + s.clock_offset_ms * interval '1 millisecond'
         ) - ${clockToleranceMs} * interval '1 millisecond' AS "from",
         GREATEST(
           COALESCE(
             max(${attemptEnd}), o.created_at + s.clock_offset_max_ms * interval '1 millisecond'),
           o.effective_from
         ) + ${boundMs} * interval '1 millisecond' AS "until"
  FROM (
    SELECT COALESCE(max(clock_offset_ms), 0) AS clock_offset_ms,
           COALESCE(max(clock_offset_max_ms), 0) AS clock_offset_max_ms
    FROM statement_state WHERE account_id = ${opaqueAccountId(accountId)}
  ) s
  LEFT JOIN LATERAL (
    SELECT * FROM operation_attempt
    WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = o.id OFFSET 0
  ) a ON true
  GROUP BY s.clock_offset_ms, s.clock_offset_max_ms`;

/** The operations (o) with these ids. */
const operationsOf = (accountId: number, ids: readonly string[]) => Prisma.sql`
  unnest(${opaqueArray(ids, 'uuid')}) AS given(id)
  CROSS JOIN LATERAL (
    SELECT * FROM operation
    WHERE account_id = ${opaqueAccountId(accountId)} AND id = given.id OFFSET 0
  ) o`;

/** When the money of these operations can have moved. */
export async function effectsOfOperations(
  db: Reader,
  accountId: number,
  ids: readonly string[],
  boundMs: number,
): Promise<Map<string, { from: Date; until: Date }>> {
  if (ids.length === 0) return new Map();
  const rows = await db.$queryRaw<{ id: string; from: Date; until: Date }[]>`
    SELECT o.id, effect."from", effect."until" FROM ${operationsOf(accountId, ids)}
    CROSS JOIN LATERAL (${effectOfOperation(accountId, boundMs)}) effect`;
  return new Map(rows.map(({ id, from, until }) => [id, { from, until }]));
}

/** What the keys of lines lead to. */
export interface LinkOfLine {
  /** Null where the line itself led there, and not one of its ids. */
  kind: string | null;
  value: string | null;
  expectedPaymentId: string | null;
  nsu: bigint | null;
}

/** The columns kind and value. */
function referenceColumns(references: readonly Reference[]): Prisma.Sql {
  const kinds = references.map(({ kind }) => kind);
  const values = references.map(({ value }) => value);
  return Prisma.sql`${opaqueArray(kinds, 'text')}, ${opaqueArray(values, 'text')}`;
}

interface KeysOfLines {
  /** The ids that the lines carry. A credit may name the sent Pix that it returns. */
  references: readonly Reference[];
  /** Lines that share an endToEndId with these, or that these refund or reverse. */
  endToEndIds: readonly string[];
  /** Lines that refund or reverse these. */
  originals: readonly string[];
  nsus: readonly bigint[];
  /** Of these lines, the credits. */
  credits: readonly bigint[];
}

/**
 * The payments that the ids of lines name, of each id 51 at most, and those of the refunds of these
 * lines. And the lines that these refund or reverse, or that refund or reverse these, also where a
 * person once linked them as refunds, or only the payer says that they may be.
 */
export async function listLinksOfLines(
  db: Reader,
  accountId: number,
  { references, endToEndIds, originals, nsus, credits }: KeysOfLines,
): Promise<LinkOfLine[]> {
  const linesBy = (column: string, values: readonly string[]) => Prisma.sql`
    SELECT NULL, NULL, NULL, line.nsu FROM ${accountColumn(accountId)}
    CROSS JOIN unnest(${opaqueArray(values, 'text')}) AS key(value)
    CROSS JOIN LATERAL (
      SELECT nsu FROM statement_line
      WHERE account_id = account.id AND ${Prisma.raw(column)} = key.value
      ORDER BY nsu LIMIT ${maxSharing}
    ) line`;
  return db.$queryRaw`
    SELECT key.kind, key.value, r.expected_payment_id, NULL::bigint AS nsu
    FROM ${accountColumn(accountId)}
    CROSS JOIN unnest(${referenceColumns(references)}) AS key(kind, value)
    CROSS JOIN LATERAL (
      SELECT expected_payment_id FROM expected_payment_reference
      WHERE account_id = account.id AND kind = key.kind AND value = key.value
      LIMIT ${maxNamed + 1}
    ) r
    UNION ALL
    SELECT NULL, NULL, r.expected_payment_id, NULL FROM ${accountColumn(accountId)}
    CROSS JOIN unnest(${opaqueArray(nsus, 'bigint')}) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT expected_payment_id FROM refund
      WHERE account_id = account.id AND original_nsu = wanted.nsu OFFSET 0
    ) r
    UNION ALL
    SELECT NULL, NULL, NULL, part.nsu FROM ${accountColumn(accountId)}
    CROSS JOIN unnest(${opaqueArray(nsus, 'bigint')}) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT nsu FROM linked_original
      WHERE account_id = account.id AND original_nsu = wanted.nsu OFFSET 0
    ) part
    UNION ALL
    SELECT NULL, NULL, NULL, debit.nsu FROM ${accountColumn(accountId)}
    CROSS JOIN unnest(${opaqueArray(credits, 'bigint')}) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line
      WHERE account_id = account.id AND nsu = wanted.nsu AND end_to_end_id LIKE 'E%' OFFSET 0
    ) pix
    CROSS JOIN LATERAL (${unattributedDebits(accountId, Prisma.sql`pix`)}) debit
    UNION ALL ${linesBy('end_to_end_id', endToEndIds)}
    UNION ALL ${linesBy('original_end_to_end_id', originals)}
    UNION ALL
    SELECT NULL, NULL, NULL, line.nsu FROM ${accountColumn(accountId)}
    CROSS JOIN unnest(${opaqueArray(originals, 'text')}) AS key(value)
    CROSS JOIN LATERAL (
      SELECT nsu FROM reported_reference
      WHERE account_id = account.id AND kind = 'original_end_to_end_id' AND value = key.value
      ORDER BY nsu LIMIT ${maxSharing}
    ) line`;
}

/** The payments of live matches of these lines. */
export async function listMatchedPayments(
  db: Reader,
  accountId: number,
  nsus: readonly bigint[],
): Promise<string[]> {
  if (nsus.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT m.expected_payment_id AS id FROM ${accountColumn(accountId)}
    CROSS JOIN unnest(${opaqueArray(nsus, 'bigint')}) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT expected_payment_id FROM match
      WHERE account_id = account.id AND nsu = wanted.nsu AND unlinked_at IS NULL OFFSET 0
    ) m`;
  return rows.map(({ id }) => id);
}

/** Debits of these amounts whose operation has no response: a debit without ids may be theirs. */
export async function listUnconfirmedPayments(
  db: Reader,
  accountId: number,
  amounts: readonly bigint[],
): Promise<string[]> {
  if (amounts.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT e.id FROM (
      SELECT id FROM operation o
      WHERE o.account_id = ${opaqueAccountId(accountId)} AND ${isWithoutResponse} OFFSET 0
    ) o
    CROSS JOIN LATERAL (
      SELECT id, is_credit, amount_cents FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = o.id OFFSET 0
    ) e
    WHERE NOT e.is_credit AND e.amount_cents = ANY (${[...amounts]}::bigint[])`;
  return rows.map(({ id }) => id);
}

/**
 * Unpaid debits of operations that a line of the same amount may pay, although it names none of
 * them: those that were stored before it.
 */
export async function listOpenDebits(
  db: Reader,
  accountId: number,
  nsus: readonly bigint[],
): Promise<string[]> {
  if (nsus.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT e.id FROM ${accountColumn(accountId)}
    CROSS JOIN unnest(${opaqueArray(nsus, 'bigint')}) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT amount_cents, recorded_at FROM statement_line
      WHERE account_id = account.id AND nsu = wanted.nsu OFFSET 0
    ) line
    CROSS JOIN LATERAL (
      SELECT id, operation_id, withdrawn_at FROM expected_payment
      WHERE account_id = account.id AND NOT is_credit AND amount_cents = line.amount_cents
        AND created_at BETWEEN line.recorded_at - ${openOperationDays} * interval '1 day'
          AND line.recorded_at OFFSET 0
    ) e
    LEFT JOIN LATERAL (
      SELECT paid_cents FROM expected_payment_total
      WHERE account_id = account.id AND expected_payment_id = e.id OFFSET 0
    ) total ON true
    WHERE e.operation_id IS NOT NULL AND e.withdrawn_at IS NULL
      AND COALESCE(total.paid_cents, 0) = 0`;
  return rows.map(({ id }) => id);
}

/** The withdrawn payments of these operations. */
export async function listWithdrawnPayments(
  db: Reader,
  accountId: number,
  operationIds: readonly string[],
): Promise<string[]> {
  if (operationIds.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT sibling.id FROM ${accountColumn(accountId)}
    CROSS JOIN unnest(${opaqueArray(operationIds, 'uuid')}) AS given(id)
    CROSS JOIN LATERAL (
      SELECT id FROM expected_payment
      WHERE account_id = account.id AND operation_id = given.id OFFSET 0
    ) sibling
    WHERE EXISTS (
      SELECT FROM expected_payment_fact f
      WHERE f.account_id = account.id AND f.expected_payment_id = sibling.id)`;
  return rows.map(({ id }) => id);
}

/** A reference of payments, with the number of payments that it names, where that is known. */
export interface CountedReference extends Reference {
  named: number | null;
  /** Whether it connects its payments with the lines that carry it. */
  isFollowed: boolean;
}

interface KeysOfPayments {
  references: readonly CountedReference[];
  expectedPaymentIds: readonly string[];
  /** Unexplained debits of these amounts may wait for an operation, whose end frees them. */
  openAmounts: readonly bigint[];
}

/** What payments lead to. */
export interface LinkOfPayment {
  /** The reference, and how many payments it names, up to 51. Null for a line of a match. */
  kind: string | null;
  value: string | null;
  named: number | null;
  /** Null where no line carries the reference. */
  nsu: bigint | null;
}

/**
 * The lines that carry references of payments, that match these payments, or that a person once
 * matched, and debits that are pending or in a break of their own. A reference that names too many
 * payments connects nothing new. A
 * line that it matched before is found, so that the match ends.
 */
export async function listLinksOfPayments(
  db: Reader,
  accountId: number,
  { references, expectedPaymentIds, openAmounts }: KeysOfPayments,
): Promise<LinkOfPayment[]> {
  const kinds = new Set(references.map(({ kind }) => kind));
  const namedCounts = references.map(({ named }) => named);
  const areFollowed = references.map(({ isFollowed }) => isFollowed);
  const lookUps = [...lineReferenceKinds, linesReturning]
    .filter(({ kind }) => kinds.has(kind))
    .map(
      ({ kind, column }) => Prisma.sql`
        SELECT nsu FROM statement_line
        WHERE account_id = account.id AND key.kind = ${kind} AND key.is_followed
          AND ${Prisma.raw(column)} = ${column === 'nsu' ? keyAsNsu : Prisma.sql`key.value`}`,
    );
  const lines = Prisma.join([linesReported, ...lookUps], ' UNION ALL ');
  return db.$queryRaw`
    SELECT key.kind, key.value, named.count AS named, line.nsu FROM ${accountColumn(accountId)}
    CROSS JOIN unnest(${referenceColumns(references)}, ${opaqueArray(namedCounts, 'int')},
      ${opaqueArray(areFollowed, 'boolean')}) AS key(kind, value, named, is_followed)
    CROSS JOIN LATERAL (
      SELECT COALESCE(key.named, (
        SELECT count(*)::int FROM (
          SELECT FROM expected_payment_reference other
          WHERE other.account_id = account.id AND other.kind = key.kind
            AND other.value = key.value
          LIMIT ${maxNamed + 1}
        ) few
      )) AS count OFFSET 0
    ) named
    LEFT JOIN LATERAL (${lines}) line ON named.count <= ${maxNamed} OR EXISTS (
      SELECT FROM match m
      WHERE m.account_id = account.id AND m.nsu = line.nsu AND m.unlinked_at IS NULL)
    UNION ALL
    SELECT NULL, NULL, NULL, m.nsu FROM ${accountColumn(accountId)}
    CROSS JOIN unnest(${opaqueArray(expectedPaymentIds, 'uuid')}) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT nsu, rule, unlinked_at FROM match
      WHERE account_id = account.id AND expected_payment_id = wanted.id OFFSET 0
    ) m
    WHERE m.unlinked_at IS NULL OR m.rule = 'manual'
    ${openAmounts.length === 0 ? Prisma.empty : openDebitLines(accountId, openAmounts)}`;
}

const openDebitLines = (accountId: number, amounts: readonly bigint[]) => Prisma.sql`
  UNION ALL
  SELECT NULL, NULL, NULL, b.nsu FROM unnest(${opaqueArray(amounts, 'bigint')}) AS open(cents)
  CROSS JOIN LATERAL (
    SELECT nsu, kind FROM break
    WHERE account_id = ${opaqueAccountId(accountId)} AND amount_cents = open.cents
      AND state = 'open' AND nsu IS NOT NULL OFFSET 0
  ) b
  CROSS JOIN LATERAL (
    SELECT is_credit FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = b.nsu OFFSET 0
  ) line
  WHERE NOT line.is_credit AND b.kind IN ('unrequested_debit', 'ambiguous')
  UNION ALL
  SELECT NULL, NULL, NULL, t.nsu FROM line_outcome t
  CROSS JOIN LATERAL (
    SELECT is_credit, amount_cents FROM statement_line
    WHERE account_id = t.account_id AND nsu = t.nsu OFFSET 0
  ) line
  WHERE t.account_id = ${opaqueAccountId(accountId)} AND t.state = 'pending'
    AND NOT line.is_credit
    AND line.amount_cents IN (SELECT unnest(${opaqueArray(amounts, 'bigint')}))
    AND ${isUnexplained(accountId)}`;

/** Whether no id and no person explains a line (t). */
const isUnexplained = (accountId: number) => Prisma.sql`NOT EXISTS (
  SELECT FROM match m
  WHERE m.account_id = ${opaqueAccountId(accountId)} AND m.nsu = t.nsu
    AND m.unlinked_at IS NULL AND m.rule IN ('reference', 'manual'))`;

const linesReported = Prisma.sql`
  SELECT nsu FROM reported_reference
  WHERE account_id = account.id AND kind = key.kind AND value = key.value AND key.is_followed`;

/** A credit may name the sent Pix that it returns. */
const linesReturning = { kind: 'end_to_end_id', column: 'original_end_to_end_id' } as const;
const keyAsNsu = Prisma.sql`
  CASE WHEN key.value ~ '^[0-9]{1,18}$' THEN key.value::bigint END`;

export interface SentAmount {
  operationId: string;
  amountCents: bigint;
}

/**
 * Debits of the amount that no id explains and that happened in the effect period of an operation
 * whose outcome is or was unknown: they compete for its payment.
 */
export async function listCompetingDebits(
  db: Reader,
  accountId: number,
  sent: readonly SentAmount[],
  boundMs: number,
): Promise<bigint[]> {
  if (sent.length === 0) return [];
  const rows = await db.$queryRaw<{ nsu: bigint }[]>`
    SELECT t.nsu FROM unnest(${sent.map(({ operationId }) => operationId)}::uuid[],
      ${sent.map(({ amountCents }) => amountCents)}::bigint[]) AS payment(operation_id, cents)
    CROSS JOIN LATERAL (
      SELECT * FROM operation
      WHERE account_id = ${opaqueAccountId(accountId)} AND id = payment.operation_id OFFSET 0
    ) o
    CROSS JOIN LATERAL (${effectOfOperation(accountId, boundMs)}) effect
    CROSS JOIN LATERAL (
      SELECT nsu FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND NOT is_credit
        AND amount_cents = payment.cents
        AND occurred_at BETWEEN effect."from" AND effect."until"
    ) t
    WHERE ${isUnexplained(accountId)}`;
  return rows.map(({ nsu }) => nsu);
}
