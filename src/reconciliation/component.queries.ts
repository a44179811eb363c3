// Finds the components of the due subjects: the lines and expected payments that references,
// manual links, refunds and amounts connect. It searches by keys, so the cost follows what is
// connected and not the history. A multi-use QR code and a reference that names more than 50
// expected payments connect nothing.
import { visibilityBoundOrDefaultMs, type BankProfile } from '../bank/profiles.js';
import { opaqueAccountId, type Db } from '../database.service.js';
import { lineReferenceKinds } from '../expected-payments/references.js';
import { Prisma } from '../generated/service/client.js';
import { attemptEnd, attemptStart } from '../operations/attempt-times.queries.js';
import { clockToleranceMs } from '../operations/effect-period.js';
import { debitMissingAfterMs } from './decide/missing.js';

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
}

/** For banks without a known visibility bound: their analysis of a Pix takes up to an hour. */
const defaultEffectMs = 3_600_000;

export function loadOptionsOf(profile: BankProfile): LoadOptions {
  return {
    effectMs: profile.visibilityBoundMs ?? defaultEffectMs,
    freshMs: visibilityBoundOrDefaultMs(profile),
    debitMissingMs: debitMissingAfterMs(profile.visibilityBoundMs),
  };
}

/** Adds everything connected with the seeds, directly or indirectly. */
export async function extendComponent(
  db: Db,
  accountId: number,
  found: ComponentIds,
  seeds: ComponentSeeds,
  boundMs: number,
): Promise<void> {
  let nsus = addAll(found.nsus, seeds.nsus);
  addAll(found.operationIds, seeds.operationIds ?? []);
  let ids = addAll(found.expectedPaymentIds, seeds.expectedPaymentIds);
  while (nsus.length > 0 || ids.length > 0) {
    const payments = await listPaymentsOfLines(db, accountId, nsus);
    const siblings = await listWithdrawnSiblings(db, accountId, ids);
    const lines = [
      ...(await listLinesOfLines(db, accountId, nsus)),
      ...(await listLinesOfPayments(db, accountId, ids, boundMs)),
    ];
    ids = addAll(found.expectedPaymentIds, [...payments, ...siblings]);
    nsus = addAll(found.nsus, lines);
  }
}

/** Adds the values and returns those that were new. */
function addAll<Value>(known: Set<Value>, values: readonly Value[]): Value[] {
  const fresh = [...new Set(values)].filter((value) => !known.has(value));
  for (const value of fresh) known.add(value);
  return fresh;
}

/** Must equal the condition of the index operation_without_response, so that PostgreSQL uses it. */
export const isWithoutResponse = Prisma.sql`(o.state <> 'rejected'
  AND (o.state <> 'succeeded' OR o.response_status IS NULL))`;

/**
 * The span of bank time in which the money of an operation (o) can have moved. It follows from the
 * clock offsets at the attempts, and not from today's.
 */
export const effectOfOperation = (accountId: number, boundMs: number) => Prisma.sql`
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

const idsOfLine = lineReferenceKinds.map(
  ({ kind, column }) => Prisma.sql`(${kind}, t.${Prisma.raw(column)}::text)`,
);
/** The references of a line (t). A credit may name the sent Pix that it returns. */
const lineIds = Prisma.sql`(VALUES ${Prisma.join(idsOfLine)},
  ('end_to_end_id', CASE WHEN t.is_credit THEN t.original_end_to_end_id END)
) AS id(kind, value)`;

/** The statement lines (t) with these nsus. */
const linesOf = (accountId: number, nsus: readonly bigint[]) => Prisma.sql`
  unnest(${[...nsus]}::bigint[]) AS wanted(nsu)
  CROSS JOIN LATERAL (
    SELECT * FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu OFFSET 0
  ) t`;

/** The ids (id) of a line (t), and the payments (named.ids) that each names: few, or too many. */
const namedByIds = (accountId: number) => Prisma.sql`
  ${lineIds} CROSS JOIN LATERAL (
    SELECT array_agg(expected_payment_id) AS ids FROM (
      SELECT expected_payment_id FROM expected_payment_reference
      WHERE account_id = ${opaqueAccountId(accountId)} AND kind = id.kind AND value = id.value
      LIMIT ${maxNamed + 1}
    ) reference
  ) named`;

/**
 * Whether the ids of a debit (t) decide it, whatever else is known: they name a debit that it may
 * pay. What the bank rejected, it may not pay; nor what a person may have separated it from.
 */
const isDecidedByIds = (accountId: number) => Prisma.sql`(
  EXISTS (
    SELECT FROM ${namedByIds(accountId)}
    CROSS JOIN LATERAL unnest(named.ids) AS of_id(payment_id)
    CROSS JOIN LATERAL (
      SELECT is_credit FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND id = of_id.payment_id OFFSET 0
    ) e
    WHERE cardinality(named.ids) <= ${maxNamed} AND NOT e.is_credit AND NOT EXISTS (
      SELECT FROM (
        SELECT kind FROM expected_payment_fact
        WHERE account_id = ${opaqueAccountId(accountId)}
          AND expected_payment_id = of_id.payment_id OFFSET 0
      ) fact WHERE kind = 'rejected')
  ) AND NOT EXISTS (
    SELECT FROM (
      SELECT action FROM line_decision
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = t.nsu OFFSET 0
    ) decision WHERE action = 'unlink'))`;

async function listPaymentsOfLines(
  db: Db,
  accountId: number,
  nsus: readonly bigint[],
): Promise<string[]> {
  if (nsus.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    WITH unexplained AS MATERIALIZED (
      SELECT DISTINCT t.amount_cents FROM ${linesOf(accountId, nsus)}
      WHERE NOT t.is_credit AND NOT ${isDecidedByIds(accountId)}
    )
    SELECT unnest(named.ids)::text AS id FROM ${linesOf(accountId, nsus)}
    CROSS JOIN LATERAL ${namedByIds(accountId)}
    WHERE cardinality(named.ids) <= ${maxNamed}
    UNION
    SELECT m.expected_payment_id::text FROM unnest(${[...nsus]}::bigint[]) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT expected_payment_id FROM match
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu
        AND unlinked_at IS NULL OFFSET 0
    ) m
    UNION
    SELECT linked ->> 'expectedPaymentId' FROM unnest(${[...nsus]}::bigint[]) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT action, allocations FROM (
        SELECT * FROM line_decision
        WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu OFFSET 0
      ) decision ORDER BY sequence DESC LIMIT 1
    ) decided
    CROSS JOIN LATERAL jsonb_array_elements(decided.allocations) linked
    WHERE decided.action = 'link'
    UNION
    SELECT r.expected_payment_id::text FROM unnest(${[...nsus]}::bigint[]) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT expected_payment_id FROM refund
      WHERE account_id = ${opaqueAccountId(accountId)} AND original_nsu = wanted.nsu OFFSET 0
    ) r
    UNION
    -- A debit may be a payment of an operation without a response, by its amount alone. One that
    -- pays what its ids name is no other: else each would load all that was sent of its amount.
    SELECT e.id::text FROM (
      SELECT id FROM operation o
      WHERE o.account_id = ${opaqueAccountId(accountId)} AND ${isWithoutResponse} OFFSET 0
    ) o
    CROSS JOIN LATERAL (
      SELECT id, is_credit, amount_cents FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = o.id OFFSET 0
    ) e
    WHERE NOT e.is_credit AND e.amount_cents IN (SELECT amount_cents FROM unexplained)`;
  return rows.map(({ id }) => id);
}

/** Lines that share an endToEndId with these, or refund or reverse them. */
async function listLinesOfLines(
  db: Db,
  accountId: number,
  nsus: readonly bigint[],
): Promise<bigint[]> {
  if (nsus.length === 0) return [];
  const rows = await db.$queryRaw<{ nsu: bigint }[]>`
    SELECT DISTINCT other.nsu FROM ${linesOf(accountId, nsus)}
    CROSS JOIN LATERAL (
      (SELECT nsu FROM statement_line
       WHERE account_id = ${opaqueAccountId(accountId)} AND end_to_end_id = t.end_to_end_id
       ORDER BY nsu LIMIT ${maxSharing})
      UNION ALL
      (SELECT nsu FROM statement_line
       WHERE account_id = ${opaqueAccountId(accountId)}
         AND end_to_end_id = t.original_end_to_end_id ORDER BY nsu LIMIT ${maxSharing})
      UNION ALL
      (SELECT nsu FROM statement_line
       WHERE account_id = ${opaqueAccountId(accountId)}
         AND original_end_to_end_id = t.end_to_end_id ORDER BY nsu LIMIT ${maxSharing})
    ) other
    WHERE other.nsu <> t.nsu`;
  return rows.map(({ nsu }) => nsu);
}

/**
 * Of payments that were withdrawn: the other withdrawn payments of their operations. One break
 * reports all late lines of an operation.
 */
async function listWithdrawnSiblings(
  db: Db,
  accountId: number,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT sibling.id FROM unnest(${[...ids]}::uuid[]) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT expected_payment_id FROM expected_payment_fact
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = wanted.id
      OFFSET 0
    ) fact
    CROSS JOIN LATERAL (
      SELECT operation_id FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND id = fact.expected_payment_id OFFSET 0
    ) e
    CROSS JOIN LATERAL (
      SELECT id FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = e.operation_id OFFSET 0
    ) sibling
    WHERE EXISTS (
      SELECT FROM expected_payment_fact f
      WHERE f.account_id = ${opaqueAccountId(accountId)} AND f.expected_payment_id = sibling.id)`;
  return rows.map(({ id }) => id);
}

/** The lines that carry a reference (r), each kind by its own index. */
const linesWithReference = (accountId: number) =>
  Prisma.join(
    [...lineReferenceKinds, { kind: 'end_to_end_id', column: 'original_end_to_end_id' }].map(
      ({ kind, column }) => Prisma.sql`
        SELECT nsu FROM statement_line
        WHERE account_id = ${opaqueAccountId(accountId)} AND r.kind = ${kind}
          AND ${Prisma.raw(column)} = ${column === 'nsu' ? valueAsNsu : Prisma.sql`r.value`}`,
    ),
    ' UNION ALL ',
  );
const valueAsNsu = Prisma.sql`
  CASE WHEN r.value ~ '^[0-9]{1,18}$' THEN r.value::bigint END`;

/**
 * Debits of the amount that no id explains. They compete for a payment whose outcome is or was
 * unknown, and they may wait for one that is being sent: its end frees them.
 */
const competingDebits = (accountId: number, boundMs: number) => Prisma.sql`
  SELECT t.nsu FROM (
    -- A batch has a thousand payments of one amount, with which the same lines compete.
    SELECT DISTINCT operation_id, amount_cents FROM payment WHERE NOT is_credit
  ) payment
  JOIN operation o ON o.account_id = ${opaqueAccountId(accountId)}
    AND o.id = payment.operation_id
  CROSS JOIN LATERAL (${effectOfOperation(accountId, boundMs)}) effect
  CROSS JOIN LATERAL (
    SELECT nsu FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND NOT is_credit
      AND amount_cents = payment.amount_cents AND (${isWithoutResponse} OR o.is_detached)
      AND occurred_at BETWEEN effect."from" AND effect."until"
    UNION
    SELECT pending.nsu FROM line_outcome pending
    JOIN statement_line line ON line.account_id = pending.account_id AND line.nsu = pending.nsu
    WHERE pending.account_id = ${opaqueAccountId(accountId)} AND pending.state = 'pending'
      AND NOT line.is_credit AND line.amount_cents = payment.amount_cents
  ) t
  WHERE NOT EXISTS (
    SELECT FROM match m
    WHERE m.account_id = ${opaqueAccountId(accountId)} AND m.nsu = t.nsu
      AND m.unlinked_at IS NULL AND m.rule IN ('reference', 'manual'))`;

async function listLinesOfPayments(
  db: Db,
  accountId: number,
  ids: readonly string[],
  boundMs: number,
): Promise<bigint[]> {
  if (ids.length === 0) return [];
  const rows = await db.$queryRaw<{ nsu: bigint }[]>`
    WITH payment AS MATERIALIZED (
      SELECT e.id, e.is_credit, e.amount_cents, e.operation_id
      FROM unnest(${[...ids]}::uuid[]) AS wanted(id)
      CROSS JOIN LATERAL (
        SELECT * FROM expected_payment
        WHERE account_id = ${opaqueAccountId(accountId)} AND id = wanted.id OFFSET 0
      ) e
      WHERE NOT (e.is_credit AND e.is_multi_use)
    )
    SELECT line.nsu FROM payment
    CROSS JOIN LATERAL (
      SELECT kind, value FROM expected_payment_reference
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = payment.id OFFSET 0
    ) r
    CROSS JOIN LATERAL (
      ${linesWithReference(accountId)}
    ) line
    -- A reference that names too many payments connects nothing new. A line that it matched before
    -- is found, so that the match ends.
    WHERE (
      SELECT count(*) FROM (
        SELECT FROM expected_payment_reference other
        WHERE other.account_id = ${opaqueAccountId(accountId)} AND other.kind = r.kind
          AND other.value = r.value LIMIT ${maxNamed + 1}
      ) named
    ) <= ${maxNamed} OR EXISTS (
      SELECT FROM match m
      WHERE m.account_id = ${opaqueAccountId(accountId)} AND m.nsu = line.nsu
        AND m.unlinked_at IS NULL)
    UNION
    SELECT m.nsu FROM payment
    CROSS JOIN LATERAL (
      SELECT nsu, rule, unlinked_at FROM match
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = payment.id OFFSET 0
    ) m
    WHERE m.unlinked_at IS NULL OR m.rule = 'manual'
    UNION
    SELECT r.original_nsu FROM payment
    CROSS JOIN LATERAL (
      SELECT original_nsu FROM refund
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = payment.id OFFSET 0
    ) r
    JOIN statement_line line ON line.account_id = ${opaqueAccountId(accountId)}
      AND line.nsu = r.original_nsu
    UNION ${competingDebits(accountId, boundMs)}`;
  return rows.map(({ nsu }) => nsu);
}
